"""Holds on nodes, and the state of a node that follows from them."""

from __future__ import annotations

from collections.abc import Iterable

from django.db.models import QuerySet

from apps.fleet.engine.node_state import NodeState, derive
from apps.fleet.models import Hold, Node


def active_holds(node_ids: Iterable[int]) -> QuerySet[Hold]:
    """Holds on these nodes that are not released, with the node joined."""
    return Hold.objects.filter(node_id__in=list(node_ids), released_at__isnull=True).select_related("node")


def held_by(owner: str) -> QuerySet[Hold]:
    """Active holds for one owner, such as "changes.change:12"."""
    return Hold.objects.filter(owner=owner, released_at__isnull=True).select_related("node")


def state_of(node: Node) -> NodeState:
    """The state that pages show; uses `active_holds` where nodes_visible() joined them."""
    holds = getattr(node, "active_holds", None)
    if holds is None:
        holds = active_holds([node.pk])
    return derive(
        life_cycle=node.life_cycle, health=node.health, holds=frozenset(hold.kind for hold in holds)
    )
