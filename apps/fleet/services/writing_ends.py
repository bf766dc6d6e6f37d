"""The two ends of links, which rows call by name."""

from __future__ import annotations

from collections.abc import Sequence

from apps.fleet.engine.importing import Created, Updated
from apps.fleet.models import Accelerator, Cluster, Node, Switch

ENDS = ("upper_id", "accelerator_id", "lower_id", "node_id")


class Ends:
    """Names → ids of what links of a cluster may join. domains: those of the switches that the rows name."""

    def __init__(self, cluster: Cluster, rows: Sequence[Created | Updated]) -> None:
        switches = Switch.objects.filter(cluster=cluster).values_list("name", "pk", "domain_id")
        self.switches = {name: pk for name, pk, _home in switches}
        self.nodes = dict(Node.objects.filter(cluster=cluster).values_list("name", "pk"))
        cards = Accelerator.objects.filter(node__cluster=cluster)
        self.cards = (
            {f"{node}/{index}": pk for node, index, pk in cards.values_list("node__name", "index", "pk")}
            if any("/" in str(row.key[1]) for row in rows)
            else {}
        )
        above = {row.key[0] for row in rows}
        self.domains = {home for name, _pk, home in switches if home and name in above}

    def of(self, upper: str, lower: str) -> tuple[int | None, ...]:
        """The ends of a link between the two, in the order of ENDS."""
        node, slash, index = lower.partition("/")
        card = self.cards[f"{node}/{int(index)}"] if slash else None
        switch = self.switches.get(lower) if not slash else None
        node_id = self.nodes[lower] if card is None and switch is None else None
        return self.switches[upper], card, switch, node_id
