"""The links of a domain as few boxes and bundles: what a reader can take in, and what lies inside on asking.

A whole domain is drawn as its sub-domains, or its nodes where it has none; one sub-domain as its nodes; one node as its
accelerators. Switches of a tier that join the same things are one box. Bundles carry how many links they are and what
these carry together, so nothing is lost by drawing less.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from typing import TypeAlias

from apps.fleet.engine.description import FleetDescription, Link, natural, natural_order, rooms_of, slots_of

MAX_UNITS = 120  # nodes; more are one box
MAX_GROUPS = 120  # of switches of a tier; more are one box


class Kind(StrEnum):
    ALL = "all"
    SUBDOMAIN = "sub_domain"
    NODE = "node"
    ACCELERATOR = "accelerator"
    SWITCHES = "switches"


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One box. name: of the sub-domain, node or accelerator (node/index); "" for switches.

    holds: nodes of a sub-domain, or switches, by name. tier: 0 for what is no switch. accelerators: how many it has.
    """

    kind: Kind
    name: str = ""
    holds: tuple[str, ...] = ()
    tier: int = 0
    accelerators: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Bundle:
    """All links between two items: upper is the nearer to the top. bytes_per_s: of all, one way; None: not known."""

    upper: Item
    lower: Item
    count: int
    bytes_per_s: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Sketch:
    """items: lowest tier first, in natural order. Only such switches are in it as something drawn hangs beneath."""

    items: tuple[Item, ...]
    bundles: tuple[Bundle, ...]


_Place: TypeAlias = Callable[[str], Item | None]


def sketch(fleet: FleetDescription, *, sub_domain: str = "", node: str = "") -> Sketch:
    """The links of one domain, or those that lead into one sub-domain or node of it."""
    inside, outside = _places(fleet, sub_domain, node)
    tiers = {switch.name: switch.tier for switch in fleet.switches}
    groups = _groups(fleet, tiers, inside)

    @cache
    def item_of(end: str) -> Item | None:
        return groups.get(end) if end in tiers else inside(end)

    @cache
    def other(end: str) -> Item | None:
        return item_of(end) or (outside(end) if end not in tiers else None)

    pairs = []
    for link in fleet.links:
        upper, lower = other(link.a), other(link.b)
        is_drawn = item_of(link.b) if link.a in tiers else item_of(link.a) or item_of(link.b)
        if upper is not None and lower is not None and upper != lower and is_drawn:
            pairs.append((upper, lower, link))
    drawn = _drawn(fleet, inside)
    drawn += [one for pair in pairs for one in pair[:2] if one.tier == 0]
    switches = sorted(set(groups.values()), key=lambda one: (one.tier, natural(one.holds[0])))
    return Sketch(items=tuple(dict.fromkeys([*drawn, *switches])), bundles=_bundles(pairs))


def _places(fleet: FleetDescription, sub_domain: str, node: str) -> tuple[_Place, _Place]:
    """What stands for an accelerator or node that the reader asked for, and for one that lies elsewhere."""
    halls = _hall_of_end(fleet)
    nodes = {
        one.name: Item(kind=Kind.NODE, name=one.name, accelerators=one.cards or 0) for one in fleet.nodes
    }
    whole_halls = {
        name: Item(kind=Kind.SUBDOMAIN, name=name, holds=natural_order(members), accelerators=cards)
        for name, (members, cards) in _halls(fleet).items()
    }

    def as_node(end: str) -> Item | None:
        return nodes.get(end.partition("/")[0])

    def as_hall(end: str) -> Item | None:
        return whole_halls.get(halls.get(end, "")) or as_node(end)

    if node:
        return (lambda end: _as_card(end, node)), as_node
    if sub_domain:
        return (lambda end: as_node(end) if halls.get(end) == sub_domain else None), as_hall
    if len(fleet.nodes) == 1:
        return (lambda end: _as_card(end, fleet.nodes[0].name)), as_node
    if len(whole_halls) > 1:
        return as_hall, as_hall
    if len(fleet.nodes) > MAX_UNITS:
        cards = sum(one.accelerators for one in nodes.values())
        everything = Item(kind=Kind.ALL, holds=tuple(nodes), accelerators=cards)
        return (lambda end: everything if as_node(end) else None), as_node
    return as_node, as_node


def _as_card(end: str, node: str) -> Item | None:
    """The accelerator of a node, or the node where a link ends at it as a whole."""
    if end.partition("/")[0] != node:
        return None
    return Item(kind=Kind.NODE if end == node else Kind.ACCELERATOR, name=end, accelerators=int(end != node))


def _hall_of_end(fleet: FleetDescription) -> dict[str, str]:
    """Accelerator as node/index, and node by the first of them, → sub-domain."""
    found = {}
    for node in fleet.nodes:
        for index, hall in zip(slots_of(node), rooms_of(node), strict=True):
            if hall:
                found[f"{node.name}/{index}"] = hall
                found.setdefault(node.name, hall)
    return found


def _halls(fleet: FleetDescription) -> dict[str, tuple[list[str], int]]:
    """Sub-domain → its nodes and how many accelerators it has."""
    found: dict[str, tuple[list[str], int]] = {}
    for node in fleet.nodes:
        for span in node.spans:
            nodes, cards = found.get(span.sub_domain, ([], 0))
            found[span.sub_domain] = [*nodes, node.name], cards + (span.cards or 0)
    return found


def _drawn(fleet: FleetDescription, inside: _Place) -> list[Item]:
    """What was asked for, also where no link leads to it."""
    ends = (f"{node.name}/{index}" for node in fleet.nodes for index in slots_of(node))
    return list(dict.fromkeys(item for end in ends if (item := inside(end)) is not None))


def _groups(fleet: FleetDescription, tiers: Mapping[str, int], inside: _Place) -> dict[str, Item]:
    """Switch → the box of all of its tier that join the same items; none for those above nothing that is drawn."""
    beneath: dict[str, list[str]] = defaultdict(list)
    for link in fleet.links:
        if link.a in tiers:
            beneath[link.a].append(link.b)
    groups: dict[str, Item] = {}
    for tier in sorted(set(tiers.values())):
        alike: dict[frozenset[Item], list[str]] = defaultdict(list)
        for name in (name for name, own in tiers.items() if own == tier):
            below = [groups.get(end) if end in tiers else inside(end) for end in beneath[name]]
            if joined := frozenset(item for item in below if item is not None):
                alike[joined].append(name)
        together: Iterable[Sequence[str]] = alike.values()
        if len(alike) > MAX_GROUPS:
            together = [[name for names in alike.values() for name in names]]
        for names in together:
            item = Item(kind=Kind.SWITCHES, holds=natural_order(names), tier=tier)
            groups |= dict.fromkeys(names, item)
    return groups


def _bundles(pairs: Iterable[tuple[Item, Item, Link]]) -> tuple[Bundle, ...]:
    """One bundle for each two items, whichever way round their links are written."""
    sums: dict[frozenset[Item], list[tuple[Item, Item, Link]]] = defaultdict(list)
    for upper, lower, link in pairs:
        sums[frozenset((upper, lower))].append((upper, lower, link))
    return tuple(
        Bundle(
            upper=same[0][0],
            lower=same[0][1],
            count=sum(link.count for _upper, _lower, link in same),
            bytes_per_s=_together([link for _upper, _lower, link in same]),
        )
        for same in sums.values()
    )


def _together(links: Sequence[Link]) -> int | None:
    if any(link.bandwidth_bytes_per_s is None for link in links):
        return None
    return sum(link.count * (link.bandwidth_bytes_per_s or 0) for link in links)
