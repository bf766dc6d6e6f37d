"""Pages of lists: opaque cursors over REST, numbered pages for people."""

from __future__ import annotations

from typing import Any

from django.core.exceptions import ValidationError
from django.core.paginator import Page, Paginator
from django.db.models import QuerySet
from django.http import HttpRequest
from django_tables2 import RequestConfig, Table
from rest_framework.exceptions import NotFound
from rest_framework.pagination import CursorPagination

from apps.core.errors import Invalid
from apps.core.texts import say
from apps.core.whole_numbers import whole_number

PAGE_SIZES = (25, 50, 100, 200)


class CursorPages(CursorPagination):
    """limit (1 to 500, else 50) and an opaque cursor; the order is the view's `ordering`, unique at its end."""

    page_size = 50
    page_size_query_param = "limit"
    max_page_size = 500
    ordering = "-id"
    cursor_query_param = "cursor"

    def get_page_size(self, request: Any) -> int:
        raw = request.query_params.get(self.page_size_query_param)
        if raw is None:
            return self.page_size
        size = whole_number(raw)
        if size is None or not 1 <= size <= self.max_page_size:
            raise Invalid(
                say(
                    "limit=%(raw)s: say a number from 1 to %(max_page_size)s",
                    raw=raw[:20],
                    max_page_size=self.max_page_size,
                ),
                code="limit",
            )
        return size

    def paginate_queryset(self, queryset: QuerySet[Any], request: Any, view: Any = None) -> list[Any] | None:
        """One page. Raises Invalid (cursor) for a cursor whose position fits no column, so nobody else's."""
        try:
            return super().paginate_queryset(queryset, request, view)
        except (ValueError, ValidationError) as error:
            if self.cursor_query_param not in request.query_params:
                raise
            raise _odd_cursor() from error

    def decode_cursor(self, request: Any) -> Any:
        try:
            cursor = super().decode_cursor(request)
        except NotFound as error:
            raise _odd_cursor() from error
        if cursor is not None and "\x00" in (cursor.position or ""):  # which PostgreSQL holds in no column
            raise _odd_cursor()
        return cursor


def _odd_cursor() -> Invalid:
    return Invalid(say("cursor: take it from `next` or `previous` as it is"), code="cursor")


def page_of(request: HttpRequest, rows: QuerySet[Any] | list[Any], *, size: int = 50) -> Page[Any]:
    """The page of a list that the address asks for (?page=, ?per_page=); odd numbers give the nearest page."""
    return Paginator(rows, _size_asked(request, size)).get_page(request.GET.get("page"))


def arrange(request: HttpRequest, table: Table, *, size: int = 25) -> None:
    """Sort a table as the address asks (?sort=), and cut it into pages as page_of does."""
    RequestConfig(request, paginate=False).configure(table)
    table.paginate(per_page=_size_asked(request, size))
    table.page = table.paginator.get_page(request.GET.get("page"))


def _size_asked(request: HttpRequest, usual: int) -> int:
    asked = whole_number(request.GET.get("per_page", ""))
    return asked if asked in PAGE_SIZES else usual
