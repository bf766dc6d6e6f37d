"""The figures at the top of the overview; all of them within what the reader may see."""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import Count, Q

from apps.changes.engine.states import EDITABLE, UNDER_WAY
from apps.changes.queries import changes_visible
from apps.core.actor import Actor
from apps.core.verdicts import Verdict
from apps.environments.queries import open_findings
from apps.evidence.models import ReceiptState
from apps.evidence.queries import receipts_visible
from apps.fleet.engine.node_state import NodeState
from apps.fleet.models import LifeCycle, NodeHealth
from apps.fleet.queries import domains_visible, nodes_visible
from apps.fleet.queries.holds import in_state
from apps.launches.models import LaunchState
from apps.launches.queries import launches_visible


@dataclass(frozen=True, slots=True, kw_only=True)
class FleetFigures:
    """Counts over all clusters that the reader sees.

    nodes_in_service: training or free for it, as the fleet says. nodes_drifting: with failing drift, and so not fit,
    whether in service or not. nodes_unwell: faulty, sub-healthy or in quarantine.
    """

    nodes: int
    nodes_in_service: int
    nodes_drifting: int
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
    nodes = nodes_visible(actor).prefetch_related(None).exclude(life_cycle=LifeCycle.RETIRED)
    in_service = in_state(NodeState.IN_SERVICE) | in_state(NodeState.TRAINING)
    unwell = in_state(NodeState.QUARANTINED) | in_state(NodeState.FAULTY) | Q(health=NodeHealth.SUB_HEALTHY)
    of_nodes = nodes.aggregate(
        all=Count("pk"), in_service=Count("pk", filter=in_service), unwell=Count("pk", filter=unwell)
    )
    failing = Q(verdict=Verdict.FAIL)
    of_findings = (
        open_findings()
        .filter(Q(node__in=nodes.values("pk")) | Q(node=None, domain__in=domains_visible(actor)))
        .aggregate(
            all=Count("pk"),
            failing=Count("pk", filter=failing),
            drifting=Count("node", filter=failing, distinct=True),
        )
    )
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
        nodes_in_service=of_nodes["in_service"],
        nodes_drifting=of_findings["drifting"],
        nodes_unwell=of_nodes["unwell"],
        findings=of_findings["all"],
        findings_failing=of_findings["failing"],
        changes_waiting=of_changes["waiting"],
        changes_under_way=of_changes["under_way"],
        launches_open=of_launches["open"],
        launches_running=of_launches["running"],
        receipts_unmatched=receipts_visible(actor).filter(state=ReceiptState.UNMATCHED).count(),
    )
