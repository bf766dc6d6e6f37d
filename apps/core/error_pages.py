"""Error pages: what went wrong, what to do, and the request's id."""

from __future__ import annotations

import sys
from urllib.parse import urlencode, urlsplit

from django.core.exceptions import RequestDataTooBig
from django.db import OperationalError
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext as _

from apps.core import problems
from apps.core.errors import Busy, Invalid, Missing, NotAllowed, NotSignedIn, PortalError, TooLarge
from apps.core.speech import said
from apps.core.texts import say

_DATABASE_AGAIN_S = 10
_TEMPLATES = {400, 403, 404, 409, 412, 413, 429, 500, 503}


def page_of(request: HttpRequest, error: PortalError) -> HttpResponse:
    """The page of an error, or its problem document under /api/; where a password is missing, the way to it."""
    if request.path.startswith("/api/"):
        return JsonResponse(
            problems.document(error, request=request),
            status=error.status,
            content_type=problems.MEDIA_TYPE,
            headers=problems.headers_of(error),
        )
    if isinstance(error, NotSignedIn):
        return _first(request, "accounts:sign_in")
    if error.code == "reauthenticate":
        return _first(request, "accounts:reauthenticate")
    status = error.status if error.status in _TEMPLATES else (400 if error.status < 500 else 500)
    context = {
        "error": error,
        "message": said(error.message),
        "request_id": problems.request_id(request),
        "again_url": _shown_before(request),
    }
    response = render(request, f"errors/{status}.html", context, status=error.status)
    if wait_s := error.fields.get("retry_after_s"):
        response["Retry-After"] = str(wait_s)
    return response


def _first(request: HttpRequest, name: str) -> HttpResponse:
    """Lead to a page and back again."""
    address = f"{reverse(name)}?{urlencode({'next': _shown_before(request)})}"
    if request.headers.get("HX-Request"):
        return HttpResponse(headers={"HX-Redirect": address})
    return redirect(address)


def _shown_before(request: HttpRequest) -> str:
    """The address that was asked for, or of the page whose form was sent, which itself may be no page to open."""
    if request.method in ("GET", "HEAD"):
        return request.get_full_path()
    referrer = request.headers.get("Referer", "")
    if not url_has_allowed_host_and_scheme(referrer, {request.get_host()}):
        return "/"
    path = urlsplit(referrer)._replace(scheme="", netloc="", fragment="").geturl()
    return path if url_has_allowed_host_and_scheme(path, None) else "/"


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    if isinstance(exception, RequestDataTooBig):
        return page_of(request, TooLarge(_("A request may have 10 MiB; hand in files on the evidence page.")))
    return page_of(request, Invalid(_("The request could not be understood.")))


def forbidden(request: HttpRequest, exception: Exception) -> HttpResponse:
    return page_of(request, NotAllowed(_("You may not do this.")))


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    return page_of(request, Missing(_("There is no such page, or you may not see it.")))


def server_error(request: HttpRequest) -> HttpResponse:
    """The page of a fault of ours; put together without the page shell, which asks the database.

    Django calls it while it handles the fault. A database that has no room or is gone is no fault in the code:
    what asked for it may ask again.
    """
    error = PortalError(_("Something went wrong on our side."))
    if _is_out_of_order(sys.exc_info()[1]):
        message = say("the database does not answer or has no room; nothing was changed")
        error = Busy(message, code="database", retry_after_s=_DATABASE_AGAIN_S)
    if request.path.startswith("/api/"):
        return page_of(request, error)
    context = {
        "request": request,
        "error": error,
        "request_id": problems.request_id(request),
        "again_url": _shown_before(request),
    }
    page = render_to_string("errors/500.html", context)
    return HttpResponse(page, status=error.status, headers=problems.headers_of(error))


def _is_out_of_order(fault: BaseException | None) -> bool:
    """Whether the database itself failed; SQLite says of a missing table that it is operational too."""
    return isinstance(fault, OperationalError) and not str(fault).startswith("no such")


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    """A form that was open for too long, or a page opened under another address than PORTAL_PUBLIC_URL."""
    message = _("This form is no longer valid. Go back, reload the page and send it again.")
    return page_of(request, NotAllowed(message, code="csrf", reason=reason))
