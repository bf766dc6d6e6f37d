"""Faults and settled observations, and the health of a node that follows from them."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from django.db.models import QuerySet
from django.utils.translation import gettext as _

from apps.core.actor import Actor
from apps.core.errors import Missing
from apps.core.rights import Right
from apps.core.verdicts import Verdict
from apps.fleet.models import NodeHealth
from apps.health.models import FaultRecord, HealthState


def faults_visible(actor: Actor) -> QuerySet[FaultRecord]:
    """Faults on nodes of clusters that the actor may read, newest first, resolved ones too."""
    rows = FaultRecord.objects.select_related("node__cluster", "node__domain", "resolved_by")
    scopes = actor.scope_ids(Right.READ)
    return rows if scopes is None else rows.filter(node__cluster__scope_id__in=scopes)


def fault_for(actor: Actor, fault_id: int, right: Right = Right.READ) -> FaultRecord:
    """One fault. Raises Missing, NotAllowed."""
    fault = faults_visible(actor).filter(pk=fault_id).first()
    if fault is None:
        raise Missing(_("there is no such fault, or you may not see it"))
    actor.require(right, fault.node.cluster.scope_id)
    return fault


def open_faults(*, node_ids: Iterable[int] | None = None) -> QuerySet[FaultRecord]:
    """Faults that are not resolved, newest first, with node and cluster joined."""
    rows = FaultRecord.objects.filter(resolved_at__isnull=True).select_related("node__cluster")
    return rows if node_ids is None else rows.filter(node_id__in=list(node_ids))


def states_visible(actor: Actor) -> QuerySet[HealthState]:
    """What rules say of devices, of nodes of clusters that the actor may read; what changed last comes first."""
    rows = HealthState.objects.select_related("node__cluster", "node__domain").order_by("-since", "-id")
    scopes = actor.scope_ids(Right.READ)
    return rows if scopes is None else rows.filter(node__cluster__scope_id__in=scopes)


def health_of(node_ids: Collection[int]) -> dict[int, NodeHealth]:
    """The health of nodes: faulty, sub-healthy, healthy; unknown where nothing was ever observed."""
    said: dict[int, set[str]] = {node_id: set() for node_id in node_ids}
    states = HealthState.objects.filter(node_id__in=node_ids).values_list("node_id", "verdict")
    for node_id, verdict in states.distinct():
        said[node_id].add(verdict)
    faults = FaultRecord.objects.filter(node_id__in=node_ids, resolved_at__isnull=True)
    for node_id, cordon, severity in faults.values_list("node_id", "cordon", "severity"):
        if cordon or severity != "info":
            said[node_id].add(Verdict.FAIL if cordon else Verdict.WARN)
    return {node_id: _health(verdicts) for node_id, verdicts in said.items()}


def _health(verdicts: set[str]) -> NodeHealth:
    if Verdict.FAIL in verdicts:
        return NodeHealth.FAULTY
    if Verdict.WARN in verdicts:
        return NodeHealth.SUB_HEALTHY
    return NodeHealth.HEALTHY if Verdict.PASS in verdicts else NodeHealth.UNKNOWN
