"""Addresses that leave the portal."""

from __future__ import annotations

from django.conf import settings
from django.urls import reverse


def link_of(secret: str) -> str:
    """The address that somebody who is invited opens."""
    return str(settings.PUBLIC_URL) + reverse("accounts:accept_invitation", args=[secret])
