"""NCCL's topology XML of one node: its accelerators in order of bus id, and their direct links."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from apps.core.texts import say
from apps.fleet.engine.description import FleetDescription, Node, Part, Problem, described
from apps.fleet.engine.schedulers.card_links import fleet_of_card_links

KIND = "nccl_topo_xml"


def read(facts: Mapping[str, Any], *, node: str) -> FleetDescription:
    """What the XML says of a node; its name is not in it, so it is given.

    Accelerators are numbered by `dev` where the file has it, else in their order. A link to something that is
    no accelerator of the file (an NVSwitch) is not compared. Counts that differ by direction are a problem.
    """
    cards = facts["gpu_list"]
    if all(card["dev"] is not None for card in cards):
        cards = sorted(cards, key=lambda card: card["dev"])
    index = {card["bus_id"]: place for place, card in enumerate(cards)}
    counts: dict[tuple[int, int], int] = {}
    for card in cards:
        for link in card["links"]:
            if link["target"] in index and link["type"] in ("nvlink", "xgmi"):
                counts[index[card["bus_id"]], index[link["target"]]] = link["count"] or 1
    if not counts:
        return described(says=[Part.NODES, Part.CARDS], nodes=[Node(name=node, cards=len(cards))])
    kind = next(link["type"] for card in cards for link in card["links"] if link["target"] in index)
    both_ways = {(min(pair), max(pair)): count for pair, count in counts.items()}
    fleet = fleet_of_card_links(node, len(cards), both_ways, kind=kind)
    problems = [
        Problem(
            code="one_sided_link",
            subject=f"{node}/{low}",
            message=say(
                "links from %(node)s/%(low)s to %(node)s/%(high)s: %(count)s, back: %(value)s",
                node=node,
                low=low,
                count=count,
                high=high,
                value=counts.get((high, low), 0),
            ),
        )
        for (low, high), count in counts.items()
        if count != counts.get((high, low), 0)
    ]
    return described(says=fleet.says, nodes=fleet.nodes, links=fleet.links, problems=problems)
