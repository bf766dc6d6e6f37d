"""What is ill now, what should leave scheduling, and one fault."""

from __future__ import annotations

from collections import Counter
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import translation
from django.utils.http import urlencode
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from apps.catalogue.engine.fault_codes import XidCode, sxid_codes, xid_codes
from apps.core import clock, form_errors
from apps.core.errors import Conflict, Invalid
from apps.core.filtering import refuse_unknown
from apps.core.pages import actor_of
from apps.core.paging import page_of
from apps.core.rights import Right
from apps.core.speech import said
from apps.core.verdicts import Verdict
from apps.fleet.page import cluster_context
from apps.fleet.queries import cluster_for, nodes_visible
from apps.health import filters, forms, queries, services
from apps.health.engine.actions import class_of
from apps.health.engine.faults import switch_meaning
from apps.health.engine.knowledge import items_about
from apps.health.engine.thresholds import built_in_rules
from apps.health.models import FaultRecord
from apps.health.words import (
    ACTION_CLASSES,
    CAUSES,
    HELD_BACK,
    SEVERITIES,
    SEVERITY_VERDICTS,
    STEPS,
    UNITS,
    action_word,
    reason_text,
    rule_title,
)

_FIGURES_SHOWN = 40
_DOWNGRADES_SHOWN = 5
_PLAIN_UNITS = frozenset({"flag", "count", "code"})  # say nothing beside a figure


def overview(request: HttpRequest) -> HttpResponse:
    """Open faults, figures beyond their limits, and nodes that should leave scheduling."""
    actor = actor_of(request)
    refuse_unknown(filters.FaultFilter, request.GET)
    slug = request.GET.get("cluster", "")
    cluster = cluster_for(actor, slug) if slug else None
    faults = filters.FaultFilter(request.GET, queryset=queries.faults_visible(actor))
    rows = faults.qs if request.GET.get("state") else faults.qs.filter(resolved_at__isnull=True)
    page = page_of(request, rows, size=25)
    states = queries.states_visible(actor).filter(verdict__in=["fail", "warn"])
    nodes = nodes_visible(actor).in_use()
    if cluster is not None:
        states, nodes = states.filter(node__cluster=cluster), nodes.filter(cluster=cluster)
    tasks = queries.tasks_visible(actor).filter(due_on__lt=clock.now().date())
    units = {
        rule.id: UNITS.get(rule.unit, rule.unit) for rule in built_in_rules() if rule.unit not in _PLAIN_UNITS
    }
    context = (cluster_context(cluster) if cluster else {}) | {
        "cluster": cluster,
        "counts": Counter(nodes.order_by().values_list("health", flat=True)),
        "filter": faults,
        "filtered": any(request.GET.get(name) for name in faults.filters if name != "cluster"),
        "page": page,
        "faults": [_fault(row) for row in page.object_list],
        "figures": [
            {
                "row": row,
                "title": rule_title(row.rule),
                "unit": units.get(row.rule, ""),
                "is_better": row.recent[-1:] == [Verdict.PASS],
            }
            for row in states.order_by("verdict", "-since", "-id")[:_FIGURES_SHOWN]
        ],
        "figures_more": max(0, states.count() - _FIGURES_SHOWN),
        "proposals": [
            _proposal(one, may_write=actor.may(Right.OPERATE, one.node.cluster.scope_id))
            for one in queries.proposals(actor, cluster_id=cluster.pk if cluster else None)
        ],
        "downgrades": queries.downgrade_paths(actor, states)[:_DOWNGRADES_SHOWN],
        "recovered": queries.recovered(nodes)[:_FIGURES_SHOWN],
        "overdue": (tasks.filter(cluster=cluster) if cluster else tasks).count(),
        "may_administrate": cluster is not None and actor.may(Right.ADMIN, cluster.scope_id),
    }
    return render(request, "health/overview.html", context)


def fault(request: HttpRequest, pk: int) -> HttpResponse:
    """One fault: what the code means, what is done about it, and the line that said so."""
    actor = actor_of(request)
    row = queries.fault_for(actor, pk)
    return _fault_page(request, row, forms.ResolveForm())


@require_POST
def resolve(request: HttpRequest, pk: int) -> HttpResponse:
    """Say what was done about a fault."""
    actor = actor_of(request)
    form = forms.ResolveForm(request.POST)
    if form.is_valid():
        try:
            services.resolve_fault(actor=actor, fault_id=pk, resolution=form.cleaned_data["resolution"])
        except (Invalid, Conflict) as error:
            form_errors.show(form, error)
        else:
            messages.success(request, _("The fault is resolved."))
            return redirect("health:fault", pk)
    return _fault_page(request, queries.fault_for(actor, pk, Right.OPERATE), form)


@require_POST
def quarantine(request: HttpRequest, pk: int) -> HttpResponse:
    """Take a node out of scheduling, as proposed."""
    try:
        hold = services.quarantine_as_proposed(
            actor=actor_of(request),
            node_id=pk,
            reason=request.POST.get("reason", ""),
        )
    except (Invalid, Conflict) as error:
        messages.error(request, said(error.message))
    else:
        messages.success(request, _("%(node)s is in quarantine.") % {"node": hold.node.name})
    return redirect(_of_cluster(request.POST.get("cluster", "")))


def _of_cluster(slug: str) -> str:
    """The page again, of the cluster that it was about."""
    return reverse("health:overview") + (f"?{urlencode({'cluster': slug})}" if slug else "")


def _fault(row: FaultRecord) -> dict[str, Any]:
    return {
        "row": row,
        "title": _title(row),
        "verdict": SEVERITY_VERDICTS.get(row.severity, "unknown"),
        "severity": SEVERITIES.get(row.severity, row.severity),
        "action": action_word(row.action, row.action_class),
    }


def _causes(known: XidCode) -> dict[str, Any]:
    """What is behind a code, in words, and what others do about it."""
    stricter = ACTION_CLASSES[class_of(known.stricter_opinion.partition(",")[0]).value]
    return {
        "cause": CAUSES.get(known.primary_cause, known.primary_cause),
        "causes": [str(CAUSES.get(one, one)) for one in known.possible_causes],
        "stricter": stricter,
    }


def _title(row: FaultRecord) -> str:
    if row.kind == "xid":
        known = xid_codes().get(row.code)
        return said(known.title) if known else ""
    switch = sxid_codes().get(row.code)
    return switch.name if switch else ""


def _proposal(one: queries.NodeProposal, *, may_write: bool) -> dict[str, Any]:
    reasons = [str(reason_text(code)) for code in one.proposal.reasons]
    return {
        "node": one.node,
        "step": one.proposal.step.value,
        "word": STEPS[one.proposal.step.value],
        "action": ACTION_CLASSES[one.proposal.action_class.value],
        "reasons": reasons,
        "dialog": f"quarantine-{one.node.pk}",
        "held_back": HELD_BACK[one.proposal.held_back.value],
        "held": one.held,
        "may_quarantine": may_write and one.held is None and one.proposal.step.value == "quarantine",
    }


def _fault_page(request: HttpRequest, row: FaultRecord, form: forms.ResolveForm) -> HttpResponse:
    actor = actor_of(request)
    language = translation.get_language() or "en"
    known = xid_codes().get(row.code) if row.kind == "xid" else None
    context = cluster_context(row.node.cluster) | {
        "cluster": row.node.cluster,
        "fault": row,
        "shown": _fault(row),
        "known": known,
        **(_causes(known) if known else {}),
        "switch": (switch := sxid_codes().get(row.code) if row.kind == "sxid" else None),
        "switch_meaning": switch_meaning(switch) if switch else "",
        "items": [
            {"id": item.id, "title": item.title.in_language(language)}
            for item in items_about(kind=row.kind, code=row.code)
        ],
        "others": queries.open_faults(node_ids=[row.node_id]).exclude(pk=row.pk)[:10],
        "form": form,
        "may_write": actor.may(Right.OPERATE, row.node.cluster.scope_id),
    }
    return render(request, "health/fault.html", context)
