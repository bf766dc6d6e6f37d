"""Questions about the fleet, by noun."""

from apps.fleet.queries.clusters import cluster_for, cluster_of_scope, clusters_visible
from apps.fleet.queries.holds import active_holds, held_by, state_of
from apps.fleet.queries.nodes import (
    node_by_reported_name,
    node_for,
    nodes_by_name,
    nodes_visible,
    with_active_holds,
)

__all__ = [
    "active_holds",
    "cluster_for",
    "cluster_of_scope",
    "clusters_visible",
    "held_by",
    "node_by_reported_name",
    "node_for",
    "nodes_by_name",
    "nodes_visible",
    "state_of",
    "with_active_holds",
]
