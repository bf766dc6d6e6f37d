"""Holds on nodes, and the state of a node that follows from them."""

from __future__ import annotations

from collections.abc import Iterable

from django.db.models import Exists, OuterRef, Q, QuerySet

from apps.fleet.engine.node_state import NodeState, derive
from apps.fleet.models import Hold, HoldKind, LifeCycle, Node, NodeHealth


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


def in_state(wanted: NodeState) -> Q:
    """The condition on nodes that `derive` would put into a state; for lists, where rows are filtered."""
    left = Q()
    for state, condition in _STATES:
        if state is wanted:
            return left & condition
        left &= ~condition
    raise AssertionError(f"no condition for {wanted}")


def _held_for(*kinds: HoldKind) -> Q:
    return Q(Exists(Hold.objects.filter(node=OuterRef("pk"), released_at__isnull=True, kind__in=kinds)))


# In the order in which `derive` looks.
_STATES: tuple[tuple[NodeState, Q], ...] = (
    (NodeState.RETIRED, Q(life_cycle=LifeCycle.RETIRED)),
    (NodeState.QUARANTINED, _held_for(HoldKind.QUARANTINE)),
    (NodeState.FAULTY, Q(health=NodeHealth.FAULTY)),
    (NodeState.MAINTENANCE, _held_for(HoldKind.MAINTENANCE) | Q(life_cycle=LifeCycle.REPAIR)),
    (NodeState.IN_CHANGE, _held_for(HoldKind.CHANGE)),
    (NodeState.TRAINING, _held_for(HoldKind.TRAINING)),
    (NodeState.SPARE, Q(life_cycle=LifeCycle.SPARE)),
    (NodeState.SUB_HEALTHY, Q(health=NodeHealth.SUB_HEALTHY)),
    (NodeState.IN_SERVICE, Q()),
)
