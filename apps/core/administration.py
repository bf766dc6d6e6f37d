"""The tabs of administration: pages of several apps that belong together for the person who looks after the portal."""

from __future__ import annotations

from dataclasses import dataclass

from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from apps.core.actor import Actor
from apps.core.rights import Right


@dataclass(frozen=True, slots=True)
class Tab:
    name: str | Promise
    url: str


# Name, address, and whether the right to admin must hold everywhere.
_TABS: tuple[tuple[Promise, str, bool], ...] = (
    (_("People"), "accounts:people", False),
    (_("Webhooks"), "jobs:webhooks", False),
    (_("Schedules"), "jobs:schedules", True),
    (_("Jobs"), "jobs:jobs", False),
)


def tabs(actor: Actor) -> list[Tab]:
    """The tabs that the actor may open; none for who administrates nowhere."""
    if not actor.may_anywhere(Right.ADMIN):
        return []
    everywhere = actor.may(Right.ADMIN, None)
    return [Tab(name, reverse(view)) for name, view, needs_all in _TABS if everywhere or not needs_all]
