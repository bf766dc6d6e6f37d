"""Where everything stands on the topology page: boxes of domains, sub-domains, nodes and accelerators.

Positions are whole pixels, worked out here once, so the same fleet always gives the same picture and the page
needs no layout of its own. Large fleets are drawn in aggregate first: the reader goes into a domain by link.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from apps.fleet.engine.description import FleetDescription, Node
from apps.fleet.engine.view_boxes import (
    GAP,
    LEAST_WIDTH,
    TITLE,
    WIDTH,
    Block,
    Box,
    Kind,
    boxes,
    columns,
    flow,
    framed,
)

MAX_ACCELERATORS = 1152
MAX_NODES = 2500
LANE_LIMIT = 40
LANE_WIDTH = 620  # at least, however narrow the domain is

CELL = 16
CELL_GAP = 2
NODE_WIDTH, NODE_HEIGHT = LEAST_WIDTH, 24
DOMAIN_WIDTH, DOMAIN_HEIGHT = 116, 48
SWITCH_WIDTH, SWITCH_HEIGHT = 72, 24


class Detail(StrEnum):
    """The smallest thing that is drawn."""

    ACCELERATORS = "accelerators"
    NODES = "nodes"
    DOMAINS = "domains"


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """Boxes from outside inwards, so that drawing them in order is right."""

    detail: Detail
    width: int
    height: int
    boxes: tuple[Box, ...]


def place(fleet: FleetDescription, *, detail: Detail | None = None) -> Picture:
    """The picture of a fleet.

    detail: as fine as stays readable where none is asked for.
    """
    if detail is None:
        detail = _readable(fleet)
    lanes = list(_lanes(fleet)) if detail is not Detail.DOMAINS else []
    blocks = [_domain(name, nodes, detail) for name, nodes in _by_domain(fleet)]
    across = max(flow(blocks, WIDTH, top=0)[1], LANE_WIDTH)
    content, width, height = flow(blocks, WIDTH, top=_lanes_height(lanes, across))
    drawn = [*_lane_boxes(lanes, across), *(box for x, y, block in content for box in boxes(block, x, y, ""))]
    right = max((box.x + box.width for box in drawn), default=0)
    return Picture(detail=detail, width=max(width, right + GAP), height=height, boxes=tuple(drawn))


def _readable(fleet: FleetDescription) -> Detail:
    if sum(node.cards or 1 for node in fleet.nodes) <= MAX_ACCELERATORS:
        return Detail.ACCELERATORS
    if len(fleet.nodes) <= MAX_NODES:
        return Detail.NODES
    return Detail.DOMAINS if len(_by_domain(fleet)) > 1 else Detail.NODES


def _by_domain(fleet: FleetDescription) -> list[tuple[str, list[Node]]]:
    """Nodes of each domain, in the fleet's order; those in none come last, under ""."""
    members: dict[str, list[Node]] = {domain.name: [] for domain in fleet.domains}
    for node in fleet.nodes:
        members.setdefault(node.domain, []).append(node)
    return sorted(members.items(), key=lambda one: one[0] == "")


def _domain(name: str, nodes: Sequence[Node], detail: Detail) -> Block:
    cards = sum(node.cards or 0 for node in nodes)
    if detail is Detail.DOMAINS:
        return Block(
            kind=Kind.DOMAIN,
            key=name,
            label=name,
            width=DOMAIN_WIDTH,
            height=DOMAIN_HEIGHT,
            accelerators=cards,
            nodes=len(nodes),
        )
    halls: dict[str, list[Block]] = {}
    for node in nodes:
        for hall, block in _parts_of(node, detail):
            halls.setdefault(hall, []).append(block)
    inside = [
        framed(Kind.SUBDOMAIN, hall, blocks, columns=columns(blocks, 1.6))
        for hall, blocks in halls.items()
        if hall
    ] + halls.get("", [])
    block = framed(Kind.DOMAIN, name, inside, columns=columns(inside, 1.6))
    return replace(block, accelerators=cards, nodes=len(nodes))


def _parts_of(node: Node, detail: Detail) -> Iterator[tuple[str, Block]]:
    """The node under its sub-domain, or one part under each of them."""
    spans = node.spans
    if len(spans) < 2:
        yield (spans[0].sub_domain if spans else ""), _node(node, 0, node.cards or 0, 0, detail)
        return
    first = 0
    for number, span in enumerate(spans, start=1):
        yield span.sub_domain, _node(node, first, span.cards or 0, number, detail)
        first += span.cards or 0


def _node(node: Node, first: int, cards: int, part: int, detail: Detail) -> Block:
    inside: list[tuple[int, int, Block]] = []
    width, height = NODE_WIDTH, NODE_HEIGHT
    if detail is Detail.ACCELERATORS and cards:
        across = 4 if cards <= 8 else math.ceil(math.sqrt(cards))
        step = CELL + CELL_GAP
        for place_in_node in range(cards):
            at = (GAP + place_in_node % across * step, TITLE + place_in_node // across * step)
            inside.append((*at, _accelerator(node.name, first + place_in_node)))
        width = max(width, 2 * GAP + across * step - CELL_GAP)
        height = TITLE + math.ceil(cards / across) * step - CELL_GAP + GAP
    return Block(
        kind=Kind.NODE,
        key=node.name,
        label=node.name,
        width=width,
        height=height,
        inside=tuple(inside),
        accelerators=cards,
        nodes=1,
        part=part,
    )


def _accelerator(node: str, index: int) -> Block:
    return Block(
        kind=Kind.ACCELERATOR,
        key=f"{node}/{index}",
        label=str(index),
        width=CELL,
        height=CELL,
        accelerators=1,
    )


def _lanes(fleet: FleetDescription) -> Iterator[list[Block]]:
    """Switches of each tier, the highest first; very many of one tier are one box."""
    for tier in sorted({switch.tier for switch in fleet.switches}, reverse=True):
        names = [switch.name for switch in fleet.switches if switch.tier == tier]
        if len(names) > LANE_LIMIT:
            label = f"{len(names)} × tier {tier}"
            yield [_switch(Kind.SWITCHES, f"tier-{tier}", label, 2 * SWITCH_WIDTH)]
        else:
            yield [_switch(Kind.SWITCH, name, name, SWITCH_WIDTH) for name in names]


def _switch(kind: Kind, key: str, label: str, width: int) -> Block:
    return Block(kind=kind, key=key, label=label, width=width, height=SWITCH_HEIGHT)


def _lanes_height(lanes: Sequence[Sequence[Block]], width: int) -> int:
    return sum(flow(lane, width, top=0)[2] for lane in lanes)


def _lane_boxes(lanes: Sequence[Sequence[Block]], width: int) -> Iterator[Box]:
    """Switches above what they connect, no wider than that, so that the picture fills its frame."""
    top = 0
    for lane in lanes:
        placed, _, height = flow(lane, width, top=top)
        for x, y, block in placed:
            yield from boxes(block, x, y, "")
        top = height
