"""Middleware that knows people: the actor of a request, and the time zone of who looks."""

from __future__ import annotations

import zoneinfo
from collections.abc import Callable
from datetime import UTC, datetime

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils import timezone

from apps.accounts import queries, services
from apps.accounts.models import Person, Token
from apps.core import clock, error_pages
from apps.core.actor import Actor, Via
from apps.core.errors import NotSignedIn
from apps.core.problems import request_id

AUTHENTICATED_AT = "authenticated_at"  # session key: when the password was last given


class ActorMiddleware:
    """Puts `request.actor` on each request: by session for people, by bearer token under /api/; else None.

    A bearer token under /api/ wins over a session; a token that does not hold is refused at once.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        try:
            request.actor = _actor(request)  # type: ignore[attr-defined]
        except NotSignedIn as error:
            return error_pages.page_of(request, error)
        zone = getattr(request.user, "time_zone", "") or request.COOKIES.get("time_zone", "")
        with timezone.override(_zone(zone)):
            response = self.get_response(request)
        if request.actor is not None:  # type: ignore[attr-defined]
            response.setdefault("Cache-Control", "private, no-store")  # nor shown by "back" after signing out
        return response


def _actor(request: HttpRequest) -> Actor | None:
    scheme, _, credential = request.headers.get("Authorization", "").partition(" ")
    if scheme.lower() == "bearer" and request.path.startswith("/api/"):
        now = clock.now()
        token = queries.token_behind(credential, now=now)
        services.note_use(token, now=now)
        return _token_actor(request, token)
    if request.user.is_authenticated and isinstance(request.user, Person):
        return _session_actor(request, request.user)
    return None


def actor_in_session(request: HttpRequest) -> Actor:
    """The actor of a session that has just begun, or whose password was just given. Raises NotSignedIn."""
    if not isinstance(request.user, Person):
        raise NotSignedIn()
    return _session_actor(request, request.user)


def _session_actor(request: HttpRequest, person: Person) -> Actor:
    stamp = request.session.get(AUTHENTICATED_AT)
    return Actor(
        via=Via.SESSION,
        label=person.name,
        person_id=person.pk,
        rights=queries.rights_of(person),
        authenticated_at=datetime.fromtimestamp(stamp, UTC) if stamp else None,
        ip=client_ip(request),
        user_agent=request.headers.get("User-Agent", "")[:200],
        request_id=request_id(request),
    )


def _token_actor(request: HttpRequest, token: Token) -> Actor:
    return Actor(
        via=Via.TOKEN,
        label=f"{token.person.name} · {token.name}",
        person_id=token.person_id,
        rights=queries.rights_of_token(token),
        token_key=token.key,
        token_scopes=token.token_scopes,
        ip=client_ip(request),
        user_agent=request.headers.get("User-Agent", "")[:200],
        request_id=request_id(request),
    )


def client_ip(request: HttpRequest) -> str:
    """The address of the caller; behind a proxy the last entry of X-Forwarded-For, which the proxy wrote."""
    if settings.BEHIND_PROXY:
        forwarded = request.headers.get("X-Forwarded-For", "").rsplit(",", 1)[-1].strip()
        if forwarded:
            return forwarded[:64]
    return str(request.META.get("REMOTE_ADDR", ""))


def _zone(name: str) -> zoneinfo.ZoneInfo:
    try:
        return zoneinfo.ZoneInfo(name or "UTC")
    except (zoneinfo.ZoneInfoNotFoundError, ValueError):
        return zoneinfo.ZoneInfo("UTC")
