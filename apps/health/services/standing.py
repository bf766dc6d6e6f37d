"""The health of nodes, which follows from what rules and faults say of them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection

from django.db.models import QuerySet

from apps.fleet.models import Node, NodeHealth
from apps.fleet.services import set_health
from apps.health import queries


def lock_nodes(nodes: QuerySet[Node]) -> list[int]:
    """Ids of nodes of which nobody else writes down anything until the transaction is over.

    Before any row about them is touched, so that two never wait for each other.
    """
    rows = nodes.order_by("pk").select_for_update(no_key=True)
    return list(rows.values_list("pk", flat=True))


def renew_health(node_ids: Collection[int]) -> None:
    """Write down the health of nodes as it follows now."""
    by_health: dict[NodeHealth, list[int]] = defaultdict(list)
    for node_id, health in queries.health_of(node_ids).items():
        by_health[health].append(node_id)
    for health, ids in by_health.items():
        set_health(node_ids=ids, health=health)
