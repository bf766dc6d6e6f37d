"""`nvidia-smi topo -m` of one node: its accelerators and the NVLinks between them.

NV18 beside every peer does not mean 18 links to each: with NVSwitches it is the number of links of the GPU
itself into the switches. More than any GPU has links tells the two apart.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from apps.fleet.engine.description import FleetDescription, Link, Node, Part, described
from apps.fleet.engine.schedulers.card_links import fleet_of_card_links

KIND = "nvidia_smi_topo"
MOST_LINKS = 18  # of one GPU, NVLink 4 to 6
_NVLINK = re.compile(r"NV(\d+)")


def read(facts: Mapping[str, Any], *, node: str) -> FleetDescription:
    """What the matrix says of a node; the node's name is not in it, so it is given."""
    matrix: Mapping[str, Mapping[str, str]] = facts["matrix"]
    cards = [name for name in matrix if name.startswith("GPU")]
    index = {name: place for place, name in enumerate(cards)}
    links: dict[tuple[int, int], int] = {}
    for one in cards:
        for other in cards:
            found = _NVLINK.fullmatch(matrix[one].get(other, ""))
            if found and index[one] < index[other]:
                links[index[one], index[other]] = int(found[1])
    per_card = [sum(count for pair, count in links.items() if place in pair) for place in range(len(cards))]
    if max(per_card, default=0) > MOST_LINKS:
        return _switched(node, len(cards), links)
    return fleet_of_card_links(node, len(cards), links, kind="nvlink")


def _switched(node: str, cards: int, links: Mapping[tuple[int, int], int]) -> FleetDescription:
    """Links from each card to the switches of the node, which the matrix does not name: they are not compared."""
    into = {place: count for pair, count in links.items() for place in pair}
    return described(
        says=[Part.NODES, Part.CARDS],
        nodes=[Node(name=node, cards=cards)],
        links=[
            Link(a=f"{node}-nvswitch", b=f"{node}/{place}", kind="nvlink", count=count)
            for place, count in into.items()
        ],
    )
