"""Questions about the fleet, by noun."""

from apps.fleet.queries.clusters import (
    cluster_for,
    cluster_of_scope,
    cluster_rows,
    clusters_visible,
    domains_of,
)
from apps.fleet.queries.domains import DomainPreview, domain_preview
from apps.fleet.queries.holds import active_holds, held_by, in_state, state_of
from apps.fleet.queries.node_page import NodePage, node_page
from apps.fleet.queries.nodes import (
    node_by_reported_name,
    node_for,
    node_rows,
    nodes_by_name,
    nodes_visible,
    with_active_holds,
)

__all__ = [
    "DomainPreview",
    "NodePage",
    "active_holds",
    "cluster_for",
    "cluster_of_scope",
    "cluster_rows",
    "clusters_visible",
    "domain_preview",
    "domains_of",
    "held_by",
    "in_state",
    "node_by_reported_name",
    "node_for",
    "node_page",
    "node_rows",
    "nodes_by_name",
    "nodes_visible",
    "state_of",
    "with_active_holds",
]
