"""Pages of the audit trail: the list, one event, exports, and the verifier to take away."""

from __future__ import annotations

from pathlib import Path

from django.http import FileResponse, HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_POST

from apps.audit import exports, queries
from apps.audit.filters import EventFilter
from apps.audit.services import checkpoints
from apps.core.filtering import refuse_unknown
from apps.core.pages import actor_of
from apps.core.paging import page_of
from apps.core.rights import Right

VERIFIER = Path(__file__).parent / "verifier" / "verify_audit_export.py"


def events(request: HttpRequest) -> HttpResponse:
    """Who did what: the events that the filters leave, newest first."""
    actor = actor_of(request)
    refuse_unknown(EventFilter, request.GET)
    found = EventFilter(request.GET, queryset=queries.events_visible_to(actor))
    page = page_of(request, found.qs.order_by("-seq"))
    kept = checkpoints.kept()
    finding = queries.last_finding()
    context = {
        "filter": found,
        "page": page,
        "shown": queries.shown(page.object_list),
        "filtered": any(request.GET.get(name) for name in EventFilter.get_filters()),
        "query": request.GET.urlencode(),
        "head": queries.head(),
        "finding": finding,
        "bad_seq": None if finding is None or finding.intact else finding.first_bad_seq,
        "may_verify": actor.may(Right.AUDIT, None),
        "newest_checkpoint": kept[-1].name if kept else "",
        "public_key": checkpoints.public_key_text(),
    }
    return render(request, "audit/events.html", context)


def event(request: HttpRequest, seq: int) -> HttpResponse:
    """One event: who, when, from where, and what was before and after."""
    shown = queries.event(seq, actor=actor_of(request))
    context = {
        "event": shown,
        "details": queries.details_of(shown),
        "broken": queries.break_up_to(seq),
    }
    return render(request, "audit/event.html", context)


@require_POST
def export_json_lines(request: HttpRequest) -> StreamingHttpResponse:
    """The events as JSON lines for the verifier."""
    return exports.json_lines_response(request, actor=actor_of(request))


@require_POST
def export_csv(request: HttpRequest) -> StreamingHttpResponse:
    """The events as a table for people."""
    return exports.csv_response(request, actor=actor_of(request))


def verifier(request: HttpRequest) -> FileResponse:
    """The stand-alone verifier."""
    actor_of(request)
    return FileResponse(VERIFIER.open("rb"), as_attachment=True, filename=VERIFIER.name)
