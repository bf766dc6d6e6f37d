"""The figures at the top of the overview, and what was decided lately; all of it within what the reader may see."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count, Q
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from apps.changes.engine.states import EDITABLE, UNDER_WAY
from apps.changes.queries import changes_visible
from apps.core.actor import Actor
from apps.core.verdicts import Verdict
from apps.environments.queries import open_findings
from apps.evidence.models import ReceiptState
from apps.evidence.queries import receipts_visible
from apps.fleet.models import HoldKind, LifeCycle, NodeHealth
from apps.fleet.queries import nodes_visible
from apps.launches.models import LaunchState, SignOff
from apps.launches.queries import launches_visible


@dataclass(frozen=True, slots=True, kw_only=True)
class FleetFigures:
    """Counts over all clusters that the reader sees."""

    nodes: int
    nodes_ready: int
    nodes_unwell: int
    findings_failing: int
    findings: int
    changes_waiting: int
    changes_under_way: int
    launches_open: int
    launches_running: int
    receipts_unmatched: int


def fleet_figures(actor: Actor) -> FleetFigures:
    """Count everything in a handful of queries, whatever the size of the fleet."""
    quarantined = Q(holds__kind=HoldKind.QUARANTINE, holds__released_at__isnull=True)
    nodes = nodes_visible(actor).prefetch_related(None).exclude(life_cycle=LifeCycle.RETIRED)
    unwell = Q(health__in=[NodeHealth.FAULTY, NodeHealth.SUB_HEALTHY]) | quarantined
    ready = Q(life_cycle=LifeCycle.IN_SERVICE) & ~unwell
    of_nodes = nodes.aggregate(
        all=Count("pk", distinct=True),
        ready=Count("pk", filter=ready, distinct=True),
        unwell=Count("pk", filter=unwell, distinct=True),
    )
    findings = open_findings().filter(node__in=nodes.values("pk"))
    of_findings = findings.aggregate(all=Count("pk"), failing=Count("pk", filter=Q(verdict=Verdict.FAIL)))
    of_changes = changes_visible(actor).aggregate(
        waiting=Count("pk", filter=Q(state__in=[state.value for state in EDITABLE])),
        under_way=Count("pk", filter=Q(state__in=[state.value for state in UNDER_WAY])),
    )
    of_launches = launches_visible(actor).aggregate(
        open=Count("pk", filter=Q(state=LaunchState.OPEN)),
        running=Count("pk", filter=Q(state=LaunchState.RUNNING)),
    )
    return FleetFigures(
        nodes=of_nodes["all"],
        nodes_ready=of_nodes["ready"],
        nodes_unwell=of_nodes["unwell"],
        findings=of_findings["all"],
        findings_failing=of_findings["failing"],
        changes_waiting=of_changes["waiting"],
        changes_under_way=of_changes["under_way"],
        launches_open=of_launches["open"],
        launches_running=of_launches["running"],
        receipts_unmatched=receipts_visible(actor).filter(state=ReceiptState.UNMATCHED).count(),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Decided:
    """One decision for the list of the latest: what, by whom, when, and where to read it."""

    at: datetime
    title: str
    word: str | Promise
    who: str
    state: str
    url: str


def latest_decisions(actor: Actor, *, limit: int = 8) -> list[Decided]:
    """Signatures on launches, and moves of changes, newest first."""
    signatures = SignOff.objects.filter(evaluation__launch__in=launches_visible(actor)).order_by("-id")
    signed = [
        Decided(
            at=one.at,
            title=one.evaluation.launch.title,
            word=_("signed"),
            who=one.person.name,
            state="go" if one.go else "no_go",
            url=reverse("launches:launch", args=[one.evaluation.launch_id]),
        )
        for one in signatures.select_related("evaluation__launch", "person")[:limit]
    ]
    moved = [
        Decided(
            at=change.ended_at or change.started_at or change.submitted_at or change.created_at,
            title=str(change),
            word=change.get_kind_display(),
            who=(change.executor or change.requester).name,
            state=change.state,
            url=reverse("changes:change", args=[change.pk]),
        )
        for change in changes_visible(actor).order_by("-id")[:limit]
    ]
    return sorted(signed + moved, key=lambda item: item.at, reverse=True)[:limit]
