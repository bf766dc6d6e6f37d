"""What API views share: who may call, and the version that a writer has seen (If-Match)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from drf_spectacular.utils import OpenApiParameter
from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import BaseSerializer

from apps.core.actor import Actor
from apps.core.errors import Invalid, NotAllowed, NotSignedIn, VersionRequired
from apps.core.rights import TokenScope
from apps.core.texts import say

if TYPE_CHECKING:  # DRF's views read the settings, which name this module
    from rest_framework.views import APIView

IF_MATCH = OpenApiParameter("If-Match", str, OpenApiParameter.HEADER, required=True)
NO_STORE = {"Cache-Control": "no-store"}  # of answers with a secret
_ETAG = re.compile(r'(?:W/)?"v(\d+)"')


def actor_of(request: Any) -> Actor:
    """The actor of a request. Raises NotSignedIn."""
    actor: Actor | None = getattr(request, "actor", None) or getattr(
        getattr(request, "_request", None), "actor", None
    )
    if actor is None:
        raise NotSignedIn()
    return actor


class SignedIn(BasePermission):
    """Somebody known is calling, by a token whose scope covers the view's method.

    A view names its scopes: `token_scopes = {"POST": TokenScope.EVIDENCE_WRITE}`; reading needs READ unless
    the view says otherwise, and a writing method that names none refuses tokens; `any_token = True` asks for no
    scope at all, and a set of scopes for any one of them. Roles are the services' matter.
    """

    def has_permission(self, request: Request, view: APIView) -> bool:
        actor = actor_of(request)
        named: dict[str, TokenScope | frozenset[TokenScope]] = getattr(view, "token_scopes", {})
        method = request.method or "GET"
        if getattr(view, "any_token", False):
            return True
        if method in ("GET", "HEAD", "OPTIONS"):
            _require(actor, named.get("GET", TokenScope.READ))
        elif method in named:
            _require(actor, named[method])
        elif actor.token_scopes is not None and method in view.allowed_methods:
            actor.require_person_present()
        return True


def _require(actor: Actor, wanted: TokenScope | frozenset[TokenScope]) -> None:
    if isinstance(wanted, TokenScope):
        actor.require_token_scope(wanted)
    elif actor.token_scopes is not None and not wanted & actor.token_scopes:
        names = ", ".join(sorted(wanted))
        raise NotAllowed(say("the token lacks each of the scopes %(names)s", names=names), code="token_scope")


def version_seen(request: Request) -> int:
    """The version in If-Match. Raises VersionRequired without one, Invalid for an odd one."""
    raw = request.headers.get("If-Match", "")
    if not raw:
        raise VersionRequired(say('send If-Match with the ETag that you have seen, such as "v3"'))
    match = _ETAG.fullmatch(raw.strip())
    if match is None:
        raise Invalid(say('If-Match: %(raw)s: say the ETag, such as "v3"', raw=raw[:40]), code="if_match")
    return int(match.group(1))


def with_version(response: Response, version: int) -> Response:
    """The response with its ETag."""
    response["ETag"] = f'"v{version}"'
    return response


def checked(serializer: type[BaseSerializer[Any]], request: Request) -> dict[str, Any]:
    """The body's values, of the right shape. Raises DRF's ValidationError, which the border turns into a problem."""
    shape = serializer(data=request.data)
    shape.is_valid(raise_exception=True)
    values: dict[str, Any] = shape.validated_data
    return values
