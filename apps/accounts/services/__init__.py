"""Decisions about people, their roles, invitations and tokens; and limits of attempts."""

from apps.accounts.services.invitations import accept_invitation, invite, revoke_invitation
from apps.accounts.services.people import (
    change_password,
    create_first_admin,
    create_service_account,
    erase_name,
    leave,
    note_sign_in,
    save_preferences,
)
from apps.accounts.services.roles import grant_role, revoke_role
from apps.accounts.services.tokens import create_token, note_use, revoke_token

__all__ = [
    "accept_invitation",
    "change_password",
    "create_first_admin",
    "create_service_account",
    "create_token",
    "erase_name",
    "grant_role",
    "invite",
    "leave",
    "note_sign_in",
    "note_use",
    "revoke_invitation",
    "revoke_role",
    "revoke_token",
    "save_preferences",
]
