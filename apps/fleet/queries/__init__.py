"""Questions about the fleet, by noun."""

from apps.fleet.queries.clusters import (
    cluster_for,
    cluster_of_scope,
    cluster_rows,
    clusters_visible,
    domain_for,
    domains_of,
    domains_visible,
)
from apps.fleet.queries.domains import DomainPreview, domain_preview
from apps.fleet.queries.holds import active_holds, held_by, in_state, state_of
from apps.fleet.queries.node_page import NodePage, node_page
from apps.fleet.queries.nodes import (
    cards_on,
    counted,
    listed,
    missing_node,
    models_on,
    node_by_reported_name,
    node_for,
    node_ids_named,
    node_rows,
    nodes_visible,
    with_active_holds,
)
from apps.fleet.queries.parts import (
    accelerators_visible,
    aliases_visible,
    hardware_changes_visible,
    holds_visible,
    links_visible,
    part_for,
    parts_visible,
    switches_visible,
)

__all__ = [
    "DomainPreview",
    "NodePage",
    "accelerators_visible",
    "active_holds",
    "aliases_visible",
    "cards_on",
    "cluster_for",
    "cluster_of_scope",
    "cluster_rows",
    "clusters_visible",
    "counted",
    "domain_for",
    "domain_preview",
    "domains_of",
    "domains_visible",
    "hardware_changes_visible",
    "held_by",
    "holds_visible",
    "in_state",
    "links_visible",
    "listed",
    "missing_node",
    "models_on",
    "node_by_reported_name",
    "node_for",
    "node_ids_named",
    "node_page",
    "node_rows",
    "nodes_visible",
    "part_for",
    "parts_visible",
    "state_of",
    "switches_visible",
    "with_active_holds",
]
