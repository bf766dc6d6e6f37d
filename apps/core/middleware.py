"""Middleware without tables: the request's id, and errors of services turned into pages."""

from __future__ import annotations

import re
import uuid
from collections.abc import Callable

from django.http import HttpRequest, HttpResponse, UnreadablePostError

from apps.core import error_pages
from apps.core.errors import Incomplete, PortalError
from apps.core.logs import request_id_var
from apps.core.storable import require_storable

_GIVEN_ID = re.compile(r"[A-Za-z0-9._-]{8,64}")
Respond = Callable[[HttpRequest], HttpResponse]


class RequestIdMiddleware:
    """Gives each request an id (or keeps a proxy's), for logs, audit and the person who reports an error."""

    def __init__(self, get_response: Respond) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        given = request.headers.get("X-Request-Id", "")
        request.request_id = given if _GIVEN_ID.fullmatch(given) else uuid.uuid4().hex  # type: ignore[attr-defined]
        token = request_id_var.set(request.request_id)  # type: ignore[attr-defined]
        try:
            response = self.get_response(request)
        finally:
            request_id_var.reset(token)
        response["X-Request-Id"] = request.request_id  # type: ignore[attr-defined]
        return response


class ErrorPageMiddleware:
    """Shows a PortalError that a page's view did not handle as the page of its status.

    Refuses addresses and forms with what no database can hold before a view looks for it; bodies of the API are
    looked at by their parser. Of uploads that broke off nothing stays behind.
    """

    def __init__(self, get_response: Respond) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        try:
            return self.get_response(request)
        finally:
            for handler in getattr(request, "_upload_handlers", ()):
                handler.upload_interrupted()

    def process_view(self, request: HttpRequest, *_view: object) -> HttpResponse | None:
        try:
            fields = [request.GET] if request.path.startswith("/api/") else [request.GET, request.POST]
            require_storable(request.path)
            for name, values in (item for field in fields for item in field.lists()):
                for text in (name, *values):
                    require_storable(text)
        except PortalError as error:  # of the handler of uploads too, which the first look at a form starts
            return error_pages.page_of(request, error)
        except UnreadablePostError:
            return error_pages.page_of(request, Incomplete())
        return None

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        if isinstance(exception, UnreadablePostError):
            return error_pages.page_of(request, Incomplete())
        if isinstance(exception, PortalError) and not request.path.startswith("/api/"):
            return error_pages.page_of(request, exception)
        return None
