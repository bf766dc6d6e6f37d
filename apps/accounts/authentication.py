"""DRF's view of the actor: the middleware found it; sessions need the CSRF token."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from drf_spectacular.extensions import OpenApiAuthenticationExtension
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


class ActorScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    """How the API document names the two ways in: a bearer token, or the session of a browser."""

    target_class = "apps.accounts.authentication.ActorAuthentication"
    name = ["token", "session"]

    def get_security_requirement(self, auto_schema: Any) -> list[dict[str, list[Any]]]:
        return [{name: []} for name in self.name]  # either of them, not both

    def get_security_definition(self, auto_schema: Any) -> list[dict[str, str]]:
        return [
            {"type": "http", "scheme": "bearer", "bearerFormat": "snp_<key>.<secret>"},
            {"type": "apiKey", "in": "cookie", "name": settings.SESSION_COOKIE_NAME},
        ]
