"""Where the boxes of a sketch stand: tiers from left to right, or a circle where no switch joins them.

Positions are whole pixels of middles, worked out here once, so the same fleet always gives the same picture.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from apps.fleet.engine.link_sketch import Bundle, Item, Sketch

ROW = 36  # a box and the gap beneath
GAP = 160  # between tiers: room for what a bundle says
MARGIN = 12
FEW = 8  # boxes of a circle between which words can stand


@dataclass(frozen=True, slots=True, kw_only=True)
class Places:
    """of: item → its middle. is_round: it is a circle."""

    of: Mapping[Item, tuple[int, int]]
    width: int
    height: int
    is_round: bool


def places(sketch: Sketch, *, width: int, height: int) -> Places:
    """The places of boxes that are all this wide and high."""
    columns = _columns(sketch)
    if len(columns) == 1 and sketch.bundles:
        return _circle(columns[0], width, height)
    rows = max((len(column) for column in columns), default=0)
    step = max(ROW, height + MARGIN)
    tall = rows * step + MARGIN
    at: dict[Item, tuple[int, int]] = {}
    for number, column in enumerate(columns):
        x = MARGIN + width // 2 + number * (width + GAP)
        beside = _middles(column, at, sketch.bundles) if number else []
        for item, y in zip(column, _spread(beside, len(column), step, tall), strict=True):
            at[item] = x, y
    wide = 2 * MARGIN + width + max(len(columns) - 1, 0) * (width + GAP)
    return Places(of=at, width=wide, height=tall, is_round=False)


def _columns(sketch: Sketch) -> list[list[Item]]:
    tiers = sorted({item.tier for item in sketch.items})
    return [[item for item in sketch.items if item.tier == tier] for tier in tiers]


def _middles(
    column: list[Item], at: Mapping[Item, tuple[int, int]], bundles: Sequence[Bundle]
) -> list[float]:
    """Middle of what each item of a column joins on its left; the column is put in the order of these."""
    heights: dict[Item, list[int]] = {item: [] for item in column}
    for bundle in bundles:
        if bundle.upper in heights and bundle.lower in at:
            heights[bundle.upper].append(at[bundle.lower][1])
    middles = {item: sum(ys) / len(ys) if ys else 0.0 for item, ys in heights.items()}
    column.sort(key=lambda item: middles[item])
    return [middles[item] for item in column]


def _spread(wanted: Sequence[float], count: int, step: int, height: int) -> list[int]:
    """Middles from top to bottom, a step apart or more, near to what is wanted; evenly where nothing is wanted."""
    if not wanted:
        return [MARGIN + step // 2 + number * step for number in range(count)]
    found: list[int] = []
    for number, want in enumerate(wanted):
        least = found[-1] + step if found else 0
        most = height - (count - 1 - number) * step - step // 2
        found.append(min(max(round(want), least), max(most, least)))
    return found


def _circle(items: Sequence[Item], width: int, height: int) -> Places:
    """Round a circle that is so large that no box touches the next; of few, with room for words between them."""
    angle = 2 * math.pi / len(items)
    apart = math.sin(min(angle, math.pi / 2))
    radius = max(2 * height + MARGIN, round((width + MARGIN) / apart / (1 if len(items) > 2 else 2)))
    if len(items) <= FEW:
        radius = max(radius, round((height + 2 * MARGIN) / (1 - math.cos(angle))))
    x, y = MARGIN + width // 2 + radius, MARGIN + height // 2 + radius
    return Places(
        of={
            item: (round(x + radius * math.sin(number * angle)), round(y - radius * math.cos(number * angle)))
            for number, item in enumerate(items)
        },
        width=2 * x,
        height=2 * y,
        is_round=True,
    )
