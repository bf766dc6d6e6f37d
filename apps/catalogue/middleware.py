"""Middleware that lays what administrators set over the shipped components, around each request."""

from __future__ import annotations

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse

from apps.catalogue.engine.components import laid_over
from apps.catalogue.queries import components_in_force


class ComponentsMiddleware:
    """Within a request the components are those in force; they are read at the first use, if there is one."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        with laid_over(components_in_force):
            return self.get_response(request)
