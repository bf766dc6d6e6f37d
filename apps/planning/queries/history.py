"""How often nodes of a cluster really failed, as a rate that studies of reliability can use."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from apps.core.actor import Actor
from apps.fleet.models import Cluster, Node
from apps.health.queries import faults_visible
from apps.planning.engine.reliability import rate_from_history


@dataclass(frozen=True, slots=True, kw_only=True)
class FaultHistory:
    """Failures of nodes over the time in which their cluster was looked at.

    One failure often shows as several faults: those of a node that take it out of service on one day count as one.
    """

    failures: int
    nodes: int
    days: float

    @property
    def per_node_week(self) -> float:
        """Probability per node and week, with one failure of a usual cluster weighed in."""
        return rate_from_history(failures=self.failures, node_seconds=self.nodes * self.days * 86_400.0)


def fault_history(actor: Actor, cluster: Cluster, *, days: float, now: datetime) -> FaultHistory:
    """Failures of the last days, from faults whose action class takes the node out, and the nodes that could fail."""
    since = max(cluster.created_at, now - timedelta(days=days))
    faults = faults_visible(actor).filter(node__cluster=cluster, cordon=True, first_seen_at__gte=since)
    return FaultHistory(
        failures=faults.values_list("node_id", "first_seen_at__date").distinct().order_by().count(),
        nodes=Node.objects.filter(cluster=cluster).exclude(life_cycle="retired").count(),
        days=max(0.0, (now - since).total_seconds() / 86_400.0),
    )
