"""DRF's view of the actor: the middleware found it; sessions need the CSRF token."""

from __future__ import annotations

from typing import Any

from rest_framework.authentication import BaseAuthentication, CSRFCheck
from rest_framework.request import Request

from apps.core.actor import Via
from apps.core.errors import NotAllowed


class ActorAuthentication(BaseAuthentication):
    """Takes `request.actor`; an unsafe request by session without CSRF token is refused."""

    def authenticate(self, request: Request) -> tuple[Any, Any] | None:
        plain = request._request
        actor = getattr(plain, "actor", None)
        if actor is None:
            return None
        if actor.via is Via.SESSION:
            check = CSRFCheck(lambda _request: None)
            check.process_request(plain)
            if reason := check.process_view(plain, None, (), {}):
                raise NotAllowed(f"CSRF: {reason}", code="csrf")
        return (plain.user, actor)

    def authenticate_header(self, request: Request) -> str:
        return 'Bearer realm="portal"'
