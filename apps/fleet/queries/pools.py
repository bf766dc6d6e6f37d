"""Which accelerators are free right now."""

from __future__ import annotations

from apps.fleet.engine.node_state import NodeState
from apps.fleet.models import Cluster, Node
from apps.fleet.queries.holds import state_of
from apps.fleet.queries.nodes import counted, with_active_holds

FREE = (NodeState.IN_SERVICE, NodeState.SUB_HEALTHY)


def busy_cards(cluster: Cluster) -> dict[str, int]:
    """Node → accelerators that take no job: all of a node that trains, changes, is held, spare or in repair."""
    nodes = counted(with_active_holds(Node.objects.in_use().filter(cluster=cluster)))
    return {node.name: node.accelerator_count for node in nodes if state_of(node) not in FREE}
