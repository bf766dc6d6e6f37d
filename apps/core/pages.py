"""What page views share: who is looking, the versions that forms carry, and the way back."""

from __future__ import annotations

from django.conf import settings
from django.http import HttpRequest
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme

from apps.core.actor import Actor
from apps.core.errors import Invalid, NotSignedIn
from apps.core.texts import say
from apps.core.whole_numbers import whole_number

STOP_POLLING = 286  # the status of a fragment that will not change any more: htmx and jobs.js ask no further


def actor_of(request: HttpRequest) -> Actor:
    """The actor of a page. Raises NotSignedIn, which becomes a redirect to the sign-in page."""
    actor: Actor | None = getattr(request, "actor", None)
    if actor is None:
        raise NotSignedIn()
    return actor


def version_in(request: HttpRequest) -> int:
    """The version of the object that the form was filled in on. Raises Invalid where it is missing."""
    version = whole_number(request.POST.get("version", ""))
    if version is None:
        raise Invalid(say("the form lacks the version of what it changes; reload the page"), code="version")
    return version


def safe_next(request: HttpRequest) -> str:
    """Where to go back to: the address of this portal that the request names as `next`, else the first page."""
    wanted = request.POST.get("next") or request.GET.get("next") or ""
    own = {request.get_host()}
    if url_has_allowed_host_and_scheme(wanted, allowed_hosts=own, require_https=request.is_secure()):
        return wanted
    return reverse(settings.LOGIN_REDIRECT_URL)
