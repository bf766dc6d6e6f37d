"""Asking somebody to join, with the roles they will have; the link is shown once and works once."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from django.db.models import Q
from django.utils.translation import gettext as _

from apps.accounts import queries
from apps.accounts.models import Invitation, Person, Scope
from apps.accounts.services.people import create_person
from apps.accounts.services.roles import add_grant
from apps.audit.services import decision, record
from apps.core import clock, digest
from apps.core.actor import Actor, Via
from apps.core.errors import Conflict, Invalid, Missing
from apps.core.rights import Right, Role
from apps.core.texts import say

VALID_FOR = timedelta(days=7)
LONGEST = timedelta(days=30)


@dataclass(frozen=True, slots=True)
class RoleIn:
    """A role and where it holds; None is everywhere."""

    role: Role
    scope_id: int | None


@decision
def invite(
    *, email: str, name: str, roles: Sequence[RoleIn], actor: Actor, valid_for: timedelta = VALID_FOR
) -> tuple[Invitation, str]:
    """Ask somebody to join; gives the invitation and the secret of its link, which is kept nowhere.

    Raises NotAllowed (role) where the actor may not give one of the roles, Invalid (roles, valid_for), Missing
    for an unknown scope, Conflict (email_taken).
    """
    inviter = actor.require_person_present()
    if not roles:
        raise Invalid(_("choose at least one role"), code="roles")
    if not timedelta(0) < valid_for <= LONGEST:
        raise Invalid(
            say("an invitation is valid for %(days)s days at most", days=LONGEST.days), code="valid_for"
        )
    for item in roles:
        actor.require(Right.ADMIN, item.scope_id)
    _require_scopes(roles)
    if Person.objects.filter(email=email.strip().lower()).exists():
        raise Conflict(_("somebody has this address already; give them the role instead"), code="email_taken")
    secret = secrets.token_urlsafe(32)
    invitation = Invitation.objects.create(
        email=email.strip().lower(),
        name=name.strip(),
        roles=[{"role": item.role.value, "scope_id": item.scope_id} for item in roles],
        secret_hash=digest.of_text(secret),
        invited_by_id=inviter,
        expires_at=clock.now() + valid_for,
    )
    record(
        actor=actor,
        action="invitation.created",
        on=invitation,
        scope_id=roles[0].scope_id if len({item.scope_id for item in roles}) == 1 else None,
        after={"roles": invitation.roles, "expires_at": invitation.expires_at.isoformat()},
    )
    return invitation, secret


@decision
def accept_invitation(*, secret: str, name: str, password: str, ip: str = "", request_id: str = "") -> Person:
    """Somebody joins by their link. The roles are those that the inviter may still give today.

    Raises Missing (invitation) for a link that was never, is no longer, or was already used, Invalid (name,
    password) and Conflict (email_taken).
    """
    now = clock.now()
    open_ones = Invitation.objects.filter(queries.open_invitation(now), secret_hash=digest.of_text(secret))
    if not open_ones.update(accepted_at=now):
        raise Missing(_("this link is not valid, or no longer"), code="invitation")
    invitation = Invitation.objects.select_related("invited_by").get(secret_hash=digest.of_text(secret))
    person = create_person(email=invitation.email, name=name, password=password)
    Invitation.objects.filter(pk=invitation.pk).update(accepted_by=person)
    inviter = _as_actor(invitation.invited_by)
    for item in invitation.roles:
        if inviter.may(Right.ADMIN, item["scope_id"]):
            add_grant(person=person, role=Role(item["role"]), scope_id=item["scope_id"], actor=inviter)
    joined = Actor(via=Via.SESSION, label=person.name, person_id=person.pk, ip=ip, request_id=request_id)
    record(actor=joined, action="invitation.accepted", on=invitation, after={"person_id": person.pk})
    return person


@decision
def revoke_invitation(*, invitation_id: int, actor: Actor) -> Invitation:
    """Make a link worthless. Raises Missing, and Conflict (invitation_state) where it was used or is over."""
    invitation = queries.invitations_visible_to(actor).filter(pk=invitation_id).first()
    if invitation is None:
        raise Missing()
    still_open = Invitation.objects.filter(Q(pk=invitation_id) & queries.open_invitation(clock.now()))
    if not still_open.update(revoked_at=clock.now()):
        raise Conflict(_("the invitation was used, or is over"), code="invitation_state")
    invitation.refresh_from_db()
    record(actor=actor, action="invitation.revoked", on=invitation)
    return invitation


def _as_actor(person: Person) -> Actor:
    """The inviter, as they stand today; gone, they give nothing."""
    return Actor(
        via=Via.SYSTEM,
        label=f"invitation by person {person.pk}",
        person_id=person.pk,
        rights=queries.rights_of(person),
    )


def _require_scopes(roles: Sequence[RoleIn]) -> None:
    wanted = {item.scope_id for item in roles if item.scope_id is not None}
    if Scope.objects.filter(pk__in=wanted).count() != len(wanted):
        raise Missing()
