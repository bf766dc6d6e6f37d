"""Who may sign in with a password."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.backends import ModelBackend

from apps.accounts.models import PersonKind


class PeopleBackend(ModelBackend):
    """People who have not left; a service account acts by tokens only, whatever password it may have."""

    def user_can_authenticate(self, user: Any) -> bool:
        return super().user_can_authenticate(user) and user.kind == PersonKind.PERSON
