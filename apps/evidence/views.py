"""Pages of evidence: what came in, and one delivery with what was read from it."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _

from apps.accounts.models import Scope
from apps.accounts.queries import scope_by_slug, scopes_visible_to, scopes_with
from apps.core import form_errors
from apps.core.actor import Actor
from apps.core.errors import Invalid, Missing
from apps.core.filtering import refuse_unknown
from apps.core.pages import actor_of, version_in
from apps.core.paging import page_of
from apps.core.rights import Right
from apps.core.texts import say
from apps.evidence import queries, services
from apps.evidence.downloads import fault_of, raw_response
from apps.evidence.engine.outline import outline
from apps.evidence.excerpts import LINES_SHOWN, excerpt
from apps.evidence.filters import ReceiptFilter
from apps.evidence.forms import KeepForm
from apps.evidence.models import Receipt, ReceiptState
from apps.evidence.words import effect_name, kind_name, unmatched_reason, via_name

WARNINGS_SHOWN = 100
_LOOKED_THROUGH_BYTES = (
    16 * 2**20
)  # whether the bytes of larger files are damaged is seen when they are asked for


def receipts(request: HttpRequest) -> HttpResponse:
    """What came in, newest first, and what became of it."""
    actor = actor_of(request)
    refuse_unknown(ReceiptFilter, request.GET)
    found = ReceiptFilter(request.GET, queryset=queries.receipts_visible(actor))
    page = page_of(request, found.qs)
    cluster = _scope(actor, request.GET.get("cluster", ""))
    context = {
        "filter": found,
        "page": page,
        "rows": [_shown(row) for row in page.object_list],
        "filtered": any(request.GET.get(name) for name in ReceiptFilter.get_filters() if name != "cluster"),
        "cluster": cluster,
        "targets": _targets(actor),
        "may_administrate": cluster is not None and actor.may(Right.ADMIN, cluster.pk),
    }
    return render(request, "evidence/receipts.html", context)


def receipt(request: HttpRequest, pk: int) -> HttpResponse:
    """One delivery: what came in, what was read, and what it brought about."""
    actor = actor_of(request)
    found = queries.receipt_for(actor, pk)
    reading, evidence = found.reading, found.evidence
    warnings = reading.warnings if reading else []
    is_kept = evidence is not None and evidence.thinned_at is None
    fault = fault_of(evidence, up_to_bytes=_LOOKED_THROUGH_BYTES) if is_kept else None
    context = _shown(found) | {
        "current_cluster": found.scope,
        "reading": reading,
        "said_again": found.times - 1,
        "warnings": warnings[:WARNINGS_SHOWN],
        "warnings_left_out": max(0, len(warnings) - WARNINGS_SHOWN),
        "lines_shown": LINES_SHOWN,
        "via": via_name(found.via),
        "parts": outline(reading.facts) if reading else (),
        "fault": fault,
        "excerpt": excerpt(evidence, warnings) if is_kept and fault is None else None,
        "may_operate": actor.may(Right.OPERATE, found.scope_id),
    }
    return render(request, "evidence/receipt.html", context)


def keeping(request: HttpRequest, slug: str) -> HttpResponse:
    """For how long a cluster keeps raw bytes, kind by kind."""
    actor = actor_of(request)
    scope = scope_by_slug(slug, actor=actor)
    actor.require(Right.ADMIN, scope.pk)
    policy = queries.keep_policy_of(scope)
    form = KeepForm(request.POST or None, policy=policy, kinds=queries.kinds_of(scope))
    if request.method == "POST" and form.is_valid():
        try:
            services.set_keep_policy(
                actor=actor,
                scope_id=scope.pk,
                expected_version=version_in(request),
                keep_days=form.cleaned_data["keep_days"],
                kinds=form.days_by_kind(),
            )
        except Invalid as error:
            form_errors.show(form, error)
        else:
            messages.success(request, _("The settings are saved."))
            return redirect(f"{reverse('evidence:receipts')}?cluster={scope.slug}")
    context = {
        "current_cluster": scope,
        "cluster": scope,
        "form": form,
        "version": policy.version,
        "portal_days": settings.EVIDENCE_KEEP_DAYS,
    }
    return render(request, "evidence/keeping.html", context)


def raw(request: HttpRequest, pk: int) -> StreamingHttpResponse:
    """The bytes of a delivery as they arrived."""
    found = queries.receipt_for(actor_of(request), pk)
    if found.evidence is None:
        raise Missing(say("this delivery was refused; its bytes were not kept"), code="refused")
    return raw_response(found.evidence, file_name=found.file_name)


def _shown(row: Receipt) -> dict[str, Any]:
    """A delivery with the words that go with it."""
    effects = [effect | {"word": effect_name(effect["what"])} for effect in row.effects]
    unmatched = unmatched_reason(row) if row.state == ReceiptState.UNMATCHED else ""
    return {"receipt": row, "kind": kind_name(row.kind), "effects": effects, "unmatched": unmatched}


def _scope(actor: Actor, slug: str) -> Scope | None:
    """The cluster that the list is about, by the scope it stands on."""
    return scopes_visible_to(actor).filter(slug=slug).first() if slug else None


def _targets(actor: Actor) -> list[Scope]:
    """Clusters for which the actor may hand in output."""
    return list(scopes_with(Right.OPERATE, actor=actor))
