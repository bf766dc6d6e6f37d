"""What can be wrong with a layout, field by field."""

from __future__ import annotations

import math
import re

from apps.core.errors import FieldError
from apps.core.texts import say
from apps.fleet.engine.layout import MAX_BYTES_PER_S, MAX_LINKS, Layout, Shape

MAX_ACCELERATORS = 20_000
MAX_EDGES = 3_000_000  # of the graph that a layout makes
_TAKES_SWITCHES = (Shape.SINGLE_LAYER, Shape.TWO_LAYER)


def layout_errors(layout: Layout) -> list[FieldError]:
    """Everything wrong at once; what depends on sound counts is looked at once they are sound."""
    errors = [*_count_errors(layout), *_tier_errors(layout), *_pattern_errors(layout)]
    return errors or _division_errors(layout) or _shape_errors(layout) or _size_errors(layout)


def _wrong(pointer: str, message: str) -> FieldError:
    return FieldError(pointer=pointer, message=message)


def _count_errors(layout: Layout) -> list[FieldError]:
    errors = [
        _wrong(f"/{name}", say("must be 1 or more"))
        for name in ("nodes", "accelerators_per_node")
        if getattr(layout, name) < 1
    ]
    if not errors and layout.accelerators > MAX_ACCELERATORS:
        errors.append(
            _wrong(
                "/nodes",
                say(
                    "a domain has at most %(max_accelerators)s accelerators",
                    max_accelerators=MAX_ACCELERATORS,
                ),
            )
        )
    if any(size < 1 for size in layout.sub_domain_sizes):
        errors.append(_wrong("/sub_domain_sizes", say("every sub-domain has 1 accelerator or more")))
    return errors


def _tier_errors(layout: Layout) -> list[FieldError]:
    needed = 2 if layout.shape is Shape.TWO_LAYER else 1
    errors = []
    if len(layout.tiers) != needed:
        errors.append(
            _wrong(
                "/tiers",
                say(
                    "%(value)s has %(needed)s, not %(count)s",
                    value=layout.shape.value,
                    needed=needed,
                    count=len(layout.tiers),
                ),
            )
        )
    fewest = 1 if layout.shape in _TAKES_SWITCHES else 0
    for place, tier in enumerate(layout.tiers):
        if not 0 < tier.link_bytes_per_s <= MAX_BYTES_PER_S:
            errors.append(
                _wrong(f"/tiers/{place}/link_bytes_per_s", say("must be above zero and at most 1 PB/s"))
            )
        if not 1 <= tier.links_to_each <= MAX_LINKS:
            errors.append(
                _wrong(f"/tiers/{place}/links_to_each", say("must be from 1 to %(most)s", most=MAX_LINKS))
            )
        if tier.switches < fewest:
            errors.append(
                _wrong(f"/tiers/{place}/switches", say("must be %(fewest)s or more", fewest=fewest))
            )
    return errors


def _pattern_errors(layout: Layout) -> list[FieldError]:
    """A pattern is letters, digits, . _ - and {domain}; and the number, which may be padded: {node:02d}."""
    errors = []
    for field, number in (("node_pattern", "node"), ("sub_domain_pattern", "sub_domain")):
        pattern = getattr(layout, field)
        numbered = rf"\{{{number}(?::0[1-9]d)?\}}"
        if len(pattern) > 100 or not re.fullmatch(rf"(?:[A-Za-z0-9._-]|\{{domain\}}|{numbered})+", pattern):
            errors.append(
                _wrong(
                    f"/{field}", say("may hold letters, digits, . _ -, {domain}, {%(number)s}", number=number)
                )
            )
        elif not re.search(numbered, pattern):
            errors.append(
                _wrong(f"/{field}", say("must hold {%(number)s}, or all get the same name", number=number))
            )
    return errors


def _division_errors(layout: Layout) -> list[FieldError]:
    errors = []
    total = sum(layout.sub_domain_sizes)
    if layout.sub_domain_sizes and total != layout.accelerators:
        errors.append(
            _wrong(
                "/sub_domain_sizes",
                say(
                    "they hold %(total)s accelerators, the layout %(accelerators)s",
                    total=total,
                    accelerators=layout.accelerators,
                ),
            )
        )
    grouped = layout.shape is Shape.TWO_LAYER and not layout.sub_domain_sizes
    if grouped and (layout.lower_group < 1 or layout.accelerators % layout.lower_group):
        errors.append(
            _wrong(
                "/lower_group",
                say("must divide the %(accelerators)s accelerators", accelerators=layout.accelerators),
            )
        )
    if (
        layout.planes
        and layout.shape is Shape.TWO_LAYER
        and layout.tiers[1].switches % layout.tiers[0].switches
    ):
        message = say("must be a multiple of the %(switches)s planes", switches=layout.tiers[0].switches)
        errors.append(_wrong("/tiers/1/switches", message))
    return errors


def _shape_errors(layout: Layout) -> list[FieldError]:
    """What mesh, ring, torus and fat tree ask of the counts."""
    count = layout.accelerators
    fewest = {Shape.RING: 3}.get(layout.shape, 2)
    if count < fewest:
        return [
            _wrong(
                "/nodes",
                say(
                    "a %(value)s has %(fewest)s accelerators or more", value=layout.shape.value, fewest=fewest
                ),
            )
        ]
    if layout.shape is Shape.TORUS:
        if len(layout.sides) not in (2, 3) or any(side < 2 for side in layout.sides):
            return [_wrong("/sides", say("give two or three sides of 2 or more"))]
        if math.prod(layout.sides) != count:
            product = "×".join(str(side) for side in layout.sides)
            return [
                _wrong(
                    "/sides",
                    say(
                        "%(product)s is %(sides)s, not %(count)s accelerators",
                        product=product,
                        sides=math.prod(layout.sides),
                        count=count,
                    ),
                )
            ]
    if layout.shape is Shape.FAT_TREE and not layout.radix:
        return [
            _wrong(
                "/nodes",
                say("a fat tree has k³/4 accelerators (16, 54, 128, 250 …), not %(count)s", count=count),
            )
        ]
    return []


def _size_errors(layout: Layout) -> list[FieldError]:
    """A layout whose graph would not fit into memory."""
    cards, first = layout.accelerators, layout.tiers[0]
    edges = {Shape.FULL_MESH: cards * (cards - 1) // 2}.get(layout.shape, cards * max(1, first.switches))
    if layout.shape is Shape.TWO_LAYER:
        groups = len(layout.sub_domain_sizes) or cards // layout.lower_group
        edges += groups * first.switches * layout.tiers[1].switches
    if edges > MAX_EDGES:
        return [
            _wrong(
                "/tiers",
                say(
                    "it has %(edges)s pairs to join, %(max_edges)s at most can be worked out",
                    edges=edges,
                    max_edges=MAX_EDGES,
                ),
            )
        ]
    return []
