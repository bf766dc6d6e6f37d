"""Everything that the page of one node shows."""

from __future__ import annotations

from dataclasses import dataclass

from apps.core.actor import Actor
from apps.fleet.engine.node_state import NodeState
from apps.fleet.models import Accelerator, Cluster, HardwareChange, Hold, Node, NodeAlias
from apps.fleet.queries.holds import state_of
from apps.fleet.queries.nodes import missing_node, nodes_visible

HISTORY = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class NodePage:
    """One node with its accelerators, holds, aliases, and the newest changes of its hardware."""

    node: Node
    state: NodeState
    accelerators: list[Accelerator]
    active: list[Hold]
    past_holds: list[Hold]
    aliases: list[NodeAlias]
    history: list[HardwareChange]


def node_page(actor: Actor, cluster: Cluster, node_id: int) -> NodePage:
    """One node of a cluster. Raises Missing."""
    node = nodes_visible(actor).filter(cluster=cluster, pk=node_id).first()
    if node is None:
        raise missing_node()
    past = Hold.objects.filter(node=node, released_at__isnull=False)
    return NodePage(
        node=node,
        state=state_of(node),
        accelerators=list(node.accelerators.select_related("sub_domain")),
        active=list(node.active_holds),
        past_holds=list(past[:HISTORY]),
        aliases=list(node.aliases.order_by("name")),
        history=list(node.hardware_changes.all()[:HISTORY]),
    )
