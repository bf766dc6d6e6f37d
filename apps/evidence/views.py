"""Pages of evidence: what came in, and one delivery with what was read from it."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import render

from apps.accounts.models import Scope
from apps.accounts.queries import scopes_visible_to
from apps.core.actor import Actor
from apps.core.errors import Missing
from apps.core.filtering import refuse_unknown
from apps.core.pages import actor_of
from apps.core.paging import page_of
from apps.core.rights import Right
from apps.evidence import queries
from apps.evidence.downloads import raw_response
from apps.evidence.engine.outline import outline
from apps.evidence.excerpts import LINES_SHOWN, excerpt
from apps.evidence.filters import ReceiptFilter
from apps.evidence.models import Receipt
from apps.evidence.words import effect_name, kind_name, via_name

WARNINGS_SHOWN = 100


def receipts(request: HttpRequest) -> HttpResponse:
    """What came in, newest first, and what became of it."""
    actor = actor_of(request)
    refuse_unknown(ReceiptFilter, request.GET)
    found = ReceiptFilter(request.GET, queryset=queries.receipts_visible(actor))
    page = page_of(request, found.qs)
    context = {
        "filter": found,
        "page": page,
        "rows": [_shown(row) for row in page.object_list],
        "filtered": any(request.GET.get(name) for name in ReceiptFilter.get_filters()),
        "cluster": _scope(actor, request.GET.get("cluster", "")),
        "targets": _targets(actor),
    }
    return render(request, "evidence/receipts.html", context)


def receipt(request: HttpRequest, pk: int) -> HttpResponse:
    """One delivery: what came in, what was read, and what it brought about."""
    actor = actor_of(request)
    found = queries.receipt_for(actor, pk)
    reading, evidence = found.reading, found.evidence
    warnings = reading.warnings if reading else []
    context = _shown(found) | {
        "current_cluster": found.scope,
        "reading": reading,
        "warnings": warnings[:WARNINGS_SHOWN],
        "warnings_left_out": max(0, len(warnings) - WARNINGS_SHOWN),
        "lines_shown": LINES_SHOWN,
        "via": via_name(found.via),
        "parts": outline(reading.facts) if reading else (),
        "excerpt": excerpt(evidence, warnings) if evidence and evidence.thinned_at is None else None,
        "may_operate": actor.may(Right.OPERATE, found.scope_id),
    }
    return render(request, "evidence/receipt.html", context)


def raw(request: HttpRequest, pk: int) -> StreamingHttpResponse:
    """The bytes of a delivery as they arrived."""
    found = queries.receipt_for(actor_of(request), pk)
    if found.evidence is None:
        raise Missing("this delivery was refused; its bytes were not kept", code="refused")
    return raw_response(found.evidence, file_name=found.file_name)


def _shown(row: Receipt) -> dict[str, Any]:
    """A delivery with the words that go with it."""
    effects = [effect | {"word": effect_name(effect["what"])} for effect in row.effects]
    return {"receipt": row, "kind": kind_name(row.kind), "effects": effects}


def _scope(actor: Actor, slug: str) -> Scope | None:
    """The cluster that the list is about, by the scope it stands on."""
    return scopes_visible_to(actor).filter(slug=slug).first() if slug else None


def _targets(actor: Actor) -> list[Scope]:
    """Clusters for which the actor may hand in output."""
    return [scope for scope in scopes_visible_to(actor) if actor.may(Right.OPERATE, scope.pk)]
