"""The two ends of links, which rows call by name."""

from __future__ import annotations

from collections.abc import Sequence

from apps.fleet.engine.tables import Key
from apps.fleet.models import Accelerator, Cluster, Node, Switch

ENDS = ("upper_id", "accelerator_id", "lower_id", "node_id")


class Ends:
    """Names → ids of what links of a cluster may join."""

    def __init__(self, cluster: Cluster, keys: Sequence[Key]) -> None:
        self.switches = dict(Switch.objects.filter(cluster=cluster).values_list("name", "pk"))
        self.nodes = dict(Node.objects.filter(cluster=cluster).values_list("name", "pk"))
        cards = Accelerator.objects.filter(node__cluster=cluster)
        self.cards = (
            {f"{node}/{index}": pk for node, index, pk in cards.values_list("node__name", "index", "pk")}
            if any("/" in str(lower) for _upper, lower in keys)
            else {}
        )

    def of(self, upper: str, lower: str) -> tuple[int | None, ...]:
        """The ends of a link between the two, in the order of ENDS."""
        node, slash, index = lower.partition("/")
        card = self.cards[f"{node}/{int(index)}"] if slash else None
        switch = self.switches.get(lower) if not slash else None
        node_id = self.nodes[lower] if card is None and switch is None else None
        return self.switches[upper], card, switch, node_id
