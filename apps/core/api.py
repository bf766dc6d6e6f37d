"""What API views share: who may call, and the version that a writer has seen (If-Match)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from drf_spectacular.utils import OpenApiParameter
from rest_framework.mixins import ListModelMixin
from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import (
    BaseSerializer,
    DecimalField,
    DictField,
    FloatField,
    IntegerField,
    ListField,
    ListSerializer,
    Serializer,
)

from apps.core.actor import Actor
from apps.core.errors import FieldError, Invalid, NotAllowed, NotSignedIn, VersionRequired
from apps.core.filtering import refuse_unknown
from apps.core.rights import Right, TokenScope
from apps.core.texts import say
from apps.core.whole_numbers import NO_NUMBER, is_number, whole_number

if TYPE_CHECKING:  # DRF's views read the settings, which name this module
    from rest_framework.views import APIView

IF_MATCH = OpenApiParameter("If-Match", str, OpenApiParameter.HEADER, required=True)
NO_STORE = {"Cache-Control": "no-store"}  # of answers with a secret
_TO_WRITE = frozenset(scope for scope in TokenScope if scope.value.endswith(":write"))
_OF_LISTS = frozenset({"limit", "cursor"})
_NUMBERS = (IntegerField, FloatField, DecimalField)
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
    scope at all, and a set of scopes for any one of them. Who holds the right that the method needs in no cluster is
    told so before the body is looked at: `rights = {"POST": Right.ADMIN}`; with a scope to write it is OPERATE. In
    which cluster it is needed is the services' matter.
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
        rights: dict[str, Right] = getattr(view, "rights", {})
        if method in rights or named.get(method) in _TO_WRITE:
            actor.require_anywhere(rights.get(method, Right.OPERATE))
        return True


class KnownParameters(BasePermission):
    """An address with parameters that its view takes, and no others: a misspelled one would be left out unseen.

    Lists take their filters and those of pages; what else a method takes its view names:
    `parameters = {"POST": frozenset({"dry_run"})}`.
    """

    def has_permission(self, request: Request, view: APIView) -> bool:
        method = "GET" if request.method in ("HEAD", "OPTIONS") else request.method
        named: dict[str | None, frozenset[str]] = getattr(view, "parameters", {})
        is_list = method == "GET" and isinstance(view, ListModelMixin)
        refuse_unknown(
            getattr(view, "filterset_class", None) if is_list else None,
            request.query_params,
            also=named.get(method, frozenset()),
            turning=_OF_LISTS if is_list else frozenset(),
        )
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
    version = whole_number(match.group(1)) if match else None
    if version is None:
        raise Invalid(say('If-Match: %(raw)s: say the ETag, such as "v3"', raw=raw[:40]), code="if_match")
    return version


def with_version(response: Response, version: int) -> Response:
    """The response with its ETag."""
    response["ETag"] = f'"v{version}"'
    return response


def checked(serializer: type[BaseSerializer[Any]], request: Request) -> dict[str, Any]:
    """The body's values, of the right shape and no others.

    Raises DRF's ValidationError, which the border turns into a problem, and Invalid for fields that are not known (a
    misspelled one would otherwise be left out without a word) and for what is no number where one belongs: DRF reads
    true as 1 and the text "nan" as a number.
    """
    shape = serializer(data=request.data)
    said = list(_said(request.data, shape))
    unknown = [
        FieldError(pointer=at, code="unknown_field", message=field)
        for at, _value, field in said
        if isinstance(field, str)
    ]
    if unknown:
        raise Invalid(say("fields that are not known here"), code="unknown_field", errors=unknown)
    odd = [
        FieldError(pointer=at, message=NO_NUMBER)
        for at, value, field in said
        if isinstance(field, _NUMBERS) and not is_number(value, whole=isinstance(field, IntegerField))
    ]
    if odd:
        raise Invalid(errors=odd)
    shape.is_valid(raise_exception=True)
    values: dict[str, Any] = shape.validated_data
    return values


def _said(data: Any, shape: Any, at: str = "") -> Iterator[tuple[str, Any, Any]]:
    """Pointer, value and field of all that a body says, however deep.

    In the place of the field of what the serializer does not know: which ones it knows.
    """
    if isinstance(shape, ListSerializer | ListField):
        for index, value in enumerate(data if isinstance(data, list) else []):
            yield from _said(value, shape.child, f"{at}/{index}")
    elif isinstance(shape, DictField):
        for name, value in data.items() if isinstance(data, Mapping) else ():
            yield from _said(value, shape.child, f"{at}/{name}")
    elif isinstance(shape, Serializer):
        fields = {name: field for name, field in shape.fields.items() if not field.read_only}
        known = say("known: %(hint)s", hint=", ".join(sorted(fields)) or say("none"))
        for name, value in data.items() if isinstance(data, Mapping) else ():
            if name in fields:
                yield from _said(value, fields[name], f"{at}/{name}")
            else:
                yield f"{at}/{name}", value, known
    else:
        yield at, data, shape
