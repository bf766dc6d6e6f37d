"""Problem documents (RFC 9457): how errors look over REST."""

from __future__ import annotations

from typing import Any

from django.core.exceptions import PermissionDenied, RequestDataTooBig
from django.http import Http404, HttpRequest
from rest_framework import exceptions as drf
from rest_framework.response import Response

from apps.core import errors

MEDIA_TYPE = "application/problem+json"

_TITLES = {
    400: "Invalid input",
    401: "Not signed in",
    403: "Not allowed",
    404: "Not found",
    405: "Method not allowed",
    406: "Not acceptable",
    409: "Conflict",
    412: "Changed meanwhile",
    413: "Too large",
    415: "Media type not understood",
    422: "Idempotency key reused",
    428: "Version required",
    429: "Too many requests",
    500: "Internal error",
    503: "Busy",
}


def request_id(request: Any) -> str:
    """The id that the middleware gave the request; '-' outside of one."""
    return str(getattr(request, "request_id", "-"))


def document(error: errors.PortalError, *, request: HttpRequest | None = None) -> dict[str, Any]:
    """The problem document of an error."""
    body: dict[str, Any] = {
        "type": f"urn:supernode-portal:problem:{error.code}",
        "title": _TITLES.get(error.status, "Error"),
        "status": error.status,
        "code": error.code,
        "detail": str(error.message),
        "request_id": request_id(request),
    }
    if error.errors:
        body["errors"] = [
            {"pointer": item.pointer, "code": item.code, "message": item.message} for item in error.errors
        ]
    for name, value in error.fields.items():
        body.setdefault(name, value)
    return body


def headers_of(error: errors.PortalError) -> dict[str, str]:
    """The headers that go with an error: how to sign in, when to come again."""
    headers = {}
    if isinstance(error, errors.NotSignedIn):
        headers["WWW-Authenticate"] = 'Bearer realm="portal"'
    if wait_s := error.fields.get("retry_after_s"):
        headers["Retry-After"] = str(wait_s)
    return headers


def exception_handler(exception: Exception, context: dict[str, Any]) -> Response | None:
    """DRF's hook: every error as a problem document; what is no known error is left to Django (500)."""
    error = _as_portal_error(exception)
    if error is None:
        return None
    request = getattr(context.get("request"), "_request", None)
    headers = headers_of(error)
    if isinstance(exception, drf.MethodNotAllowed) and (view := context.get("view")) is not None:
        headers["Allow"] = ", ".join(view.allowed_methods)
    return Response(
        document(error, request=request), status=error.status, headers=headers, content_type=MEDIA_TYPE
    )


def _as_portal_error(exception: Exception) -> errors.PortalError | None:
    if isinstance(exception, errors.PortalError):
        return exception
    if isinstance(exception, Http404):
        return errors.Missing()
    if isinstance(exception, PermissionDenied):
        return errors.NotAllowed()
    if isinstance(exception, RequestDataTooBig):
        return errors.TooLarge("a request's body may have 10 MiB")
    if isinstance(exception, drf.ValidationError):
        return errors.Invalid("the input is not valid", errors=_field_errors(exception.detail, ""))
    if isinstance(exception, drf.APIException):
        error = errors.PortalError(str(exception.detail), code=_code_of(exception))
        error.status = exception.status_code
        return error
    return None


def _code_of(exception: drf.APIException) -> str:
    named: dict[type[drf.APIException], str] = {
        drf.ParseError: "parse_error",
        drf.UnsupportedMediaType: "wrong_media",
        drf.MethodNotAllowed: "method_not_allowed",
        drf.NotAcceptable: "not_acceptable",
        drf.NotAuthenticated: "not_signed_in",
        drf.AuthenticationFailed: "not_signed_in",
    }
    return named.get(type(exception), "error")


def _field_errors(detail: Any, pointer: str) -> list[errors.FieldError]:
    if isinstance(detail, dict):
        found = []
        for key, value in detail.items():
            step = "" if key == "non_field_errors" else f"/{key}"
            found += _field_errors(value, pointer + step)
        return found
    if isinstance(detail, list):
        found = []
        for index, value in enumerate(detail):
            nested = isinstance(value, dict | list)
            found += _field_errors(value, f"{pointer}/{index}" if nested else pointer)
        return found
    return [errors.FieldError(pointer=pointer, message=str(detail), code=getattr(detail, "code", "invalid"))]
