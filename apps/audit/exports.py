"""Exports as answers to requests: filtered as the list, streamed, and noted in the trail."""

from __future__ import annotations

from django.http import HttpRequest, StreamingHttpResponse

from apps.audit import queries
from apps.audit.filters import EventFilter
from apps.audit.services import exports
from apps.core import form_errors
from apps.core.actor import Actor
from apps.core.filtering import refuse_unknown


def json_lines_response(request: HttpRequest, *, actor: Actor) -> StreamingHttpResponse:
    """The events that the request's filters leave, as JSON lines. Raises NotAllowed and Invalid."""
    found, given = _filtered(request, actor)
    up_to_seq = exports.begin_export(actor=actor, form="jsonl", filters=given)
    complete = exports.is_complete(actor, given)
    lines = exports.json_lines(found.qs, up_to_seq=up_to_seq, complete=complete)
    return _attached(lines, "application/jsonl", f"audit-{up_to_seq}.jsonl")


def csv_response(request: HttpRequest, *, actor: Actor) -> StreamingHttpResponse:
    """The same events as a table. Raises NotAllowed and Invalid."""
    found, given = _filtered(request, actor)
    up_to_seq = exports.begin_export(actor=actor, form="csv", filters=given)
    rows = exports.csv_rows(found.qs, up_to_seq=up_to_seq)
    return _attached(rows, "text/csv; charset=utf-8", f"audit-{up_to_seq}.csv")


def _filtered(request: HttpRequest, actor: Actor) -> tuple[EventFilter, dict[str, str]]:
    refuse_unknown(EventFilter, request.GET)
    found = EventFilter(request.GET, queryset=queries.events_visible_to(actor))
    if not found.is_valid():
        raise form_errors.refused(found.form, code="filter")
    known = EventFilter.get_filters()
    return found, {name: value[:200] for name, value in request.GET.items() if value and name in known}


def _attached(parts: object, media_type: str, name: str) -> StreamingHttpResponse:
    return StreamingHttpResponse(
        parts,
        content_type=media_type,
        headers={"Content-Disposition": f'attachment; filename="{name}"', "Cache-Control": "no-store"},
    )
