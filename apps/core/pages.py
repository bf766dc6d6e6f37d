"""What page views share: who is looking, and the versions that forms carry."""

from __future__ import annotations

from django.http import HttpRequest

from apps.core.actor import Actor
from apps.core.errors import Invalid, NotSignedIn
from apps.core.texts import say


def actor_of(request: HttpRequest) -> Actor:
    """The actor of a page. Raises NotSignedIn, which becomes a redirect to the sign-in page."""
    actor: Actor | None = getattr(request, "actor", None)
    if actor is None:
        raise NotSignedIn()
    return actor


def version_in(request: HttpRequest) -> int:
    """The version of the object that the form was filled in on. Raises Invalid where it is missing."""
    raw = request.POST.get("version", "")
    if not raw.isdecimal():
        raise Invalid(say("the form lacks the version of what it changes; reload the page"), code="version")
    return int(raw)
