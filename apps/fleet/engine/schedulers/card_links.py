"""A node's direct links between accelerators as a fleet description."""

from __future__ import annotations

from collections.abc import Mapping

from apps.fleet.engine.description import FleetDescription, Link, Node, Part, described


def fleet_of_card_links(
    node: str, cards: int, links: Mapping[tuple[int, int], int], *, kind: str
) -> FleetDescription:
    """links: pair of card numbers → links between the two."""
    return described(
        says=[Part.NODES, Part.CARDS, Part.LINKS],
        nodes=[Node(name=node, cards=cards)],
        links=[
            Link(a=f"{node}/{low}", b=f"{node}/{high}", kind=kind, count=count)
            for (low, high), count in links.items()
        ],
    )
