"""Boxes in pixels, and how they are packed: in a grid under a title, or side by side in rows."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

WIDTH = 1240
GAP = 6
TITLE = 18
LEAST_WIDTH = 86


class Kind(StrEnum):
    DOMAIN = "domain"
    SUBDOMAIN = "sub_domain"
    NODE = "node"
    ACCELERATOR = "accelerator"
    SWITCH = "switch"
    SWITCHES = "switches"


@dataclass(frozen=True, slots=True, kw_only=True)
class Box:
    """One thing, in pixels from the top left of the picture.

    key: name of the thing; node/index for an accelerator; "" for the domain of nodes that are in none.
    parent: key of the box around it. accelerators, nodes: how many are inside. part: the node is split, and
    this is its part in one of its sub-domains (from 1; 0 where it is whole).
    """

    kind: Kind
    key: str
    label: str
    x: int
    y: int
    width: int
    height: int
    parent: str = ""
    accelerators: int = 0
    nodes: int = 0
    part: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """A box with what is inside it, before it has a place."""

    kind: Kind
    key: str
    label: str
    width: int
    height: int
    inside: tuple[tuple[int, int, Block], ...] = ()
    accelerators: int = 0
    nodes: int = 0
    part: int = 0


def columns(blocks: Sequence[Block], aspect: float) -> int:
    """As many columns as make the whole `aspect` times as wide as it is high, and no wider than the page."""
    if not blocks:
        return 1
    width = max(block.width for block in blocks) + GAP
    height = max(block.height for block in blocks) + GAP
    wanted = math.ceil(math.sqrt(len(blocks) * aspect * height / width))
    return max(1, min(wanted, len(blocks), (WIDTH - 4 * GAP) // width))


def framed(kind: Kind, key: str, blocks: Sequence[Block], *, columns: int) -> Block:
    """Blocks in rows of `columns` under a title."""
    inside: list[tuple[int, int, Block]] = []
    y, right = TITLE + GAP, LEAST_WIDTH
    for row in _rows(blocks, columns):
        x = GAP
        for block in row:
            inside.append((x, y, block))
            x += block.width + GAP
        right = max(right, x)
        y += max(block.height for block in row) + GAP
    return Block(
        kind=kind,
        key=key,
        label=key,
        width=right,
        height=y,
        inside=tuple(inside),
        accelerators=sum(block.accelerators for block in blocks),
        nodes=sum(block.nodes for block in blocks),
    )


def _rows(blocks: Sequence[Block], columns: int) -> Iterator[Sequence[Block]]:
    for start in range(0, len(blocks), columns):
        yield blocks[start : start + columns]


def flow(blocks: Sequence[Block], width: int, *, top: int) -> tuple[list[tuple[int, int, Block]], int, int]:
    """Blocks side by side, in as many rows as the width needs; the places, and the width and height used."""
    placed: list[tuple[int, int, Block]] = []
    x, y, row_height, right = GAP, top + GAP, 0, 0
    for block in blocks:
        if x > GAP and x + block.width + GAP > width:
            x, y, row_height = GAP, y + row_height + GAP, 0
        placed.append((x, y, block))
        x += block.width + GAP
        right, row_height = max(right, x), max(row_height, block.height)
    return placed, right, y + row_height + GAP


def boxes(block: Block, x: int, y: int, parent: str) -> Iterator[Box]:
    yield Box(
        kind=block.kind,
        key=block.key,
        label=block.label,
        x=x,
        y=y,
        width=block.width,
        height=block.height,
        parent=parent,
        accelerators=block.accelerators,
        nodes=block.nodes,
        part=block.part,
    )
    for dx, dy, inner in block.inside:
        yield from boxes(inner, x + dx, y + dy, block.key)
