"""Layouts of a scale-up domain: how many nodes and accelerators, which sub-domains, and which links.

Accelerators are numbered node by node, and sub-domains take them in that order. A sub-domain need not end
where a node ends: 18 nodes of 8 as 4×36 means 4.5 nodes in each, so the fifth and the fourteenth node are
split, four of their cards in one sub-domain and four in the next. Hence the sub-domain belongs to the
accelerator and not to the node; what knows only nodes (schedulers) is told of the domain there and warned.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from apps.core.errors import FieldError, Invalid
from apps.fleet.engine import shapes
from apps.fleet.engine.description import Domain, FleetDescription, Node, Part, Span, described
from apps.fleet.engine.graph import Graph, Medium, TopologyKind

MAX_ACCELERATORS = 20_000


class Shape(StrEnum):
    """How the accelerators of a layout are joined."""

    FULL_MESH = "full_mesh"
    SINGLE_LAYER = "single_layer"
    TWO_LAYER = "two_layer"
    FAT_TREE = "fat_tree"
    RING = "ring"
    TORUS = "torus"


TAKES_SWITCHES = (Shape.SINGLE_LAYER, Shape.TWO_LAYER)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tier:
    """Switches of one layer. Links lead to them from what stands beneath.

    switches: of the layer, per lower group in the first tier of a two-layer shape. links_to_each: parallel
    links from each accelerator (or lower switch) to each switch. link_bytes_per_s: of one link, one way.
    """

    name: str
    switches: int
    links_to_each: int
    link_bytes_per_s: float
    medium: Medium


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """One domain's layout.

    sub_domain_sizes: accelerators in each sub-domain, in order; empty where the whole domain is one.
    lower_group: accelerators below one group of first-layer switches, in a two-layer shape; 0 otherwise.
    planes: the n-th lower switch of each group reaches the n-th share of the upper switches only.
    sides: of a torus, two or three; empty otherwise.
    tiers: from the accelerators outwards, two in a two-layer shape and one otherwise. Only the switch layers
    take a count of switches: a fat tree has as many as its accelerators ask for, the other shapes none.
    """

    key: str
    title: str
    nodes: int
    accelerators_per_node: int
    shape: Shape
    tiers: tuple[Tier, ...]
    sub_domain_sizes: tuple[int, ...] = ()
    lower_group: int = 0
    planes: bool = False
    sides: tuple[int, ...] = ()
    node_pattern: str = "{domain}-n{node:02d}"
    sub_domain_pattern: str = "{domain}-s{sub_domain}"

    @property
    def accelerators(self) -> int:
        return self.nodes * self.accelerators_per_node

    @property
    def unidirectional_bytes_per_s(self) -> float:
        """What one accelerator can send into the domain."""
        first = self.tiers[0]
        ways = {
            Shape.FULL_MESH: self.accelerators - 1,
            Shape.FAT_TREE: 1,
            Shape.RING: 2,
            Shape.TORUS: sum(1 if side == 2 else 2 for side in self.sides),
        }
        return ways.get(self.shape, first.switches) * first.links_to_each * first.link_bytes_per_s

    @property
    def radix(self) -> int:
        """Of a fat tree: the even k for which k³/4 is the accelerators; 0 where there is none."""
        nearest = round((4 * self.accelerators) ** (1 / 3))
        return nearest if nearest % 2 == 0 and nearest**3 == 4 * self.accelerators else 0

    def sub_domain_of(self, accelerator: int) -> int | None:
        """0-based sub-domain of the n-th accelerator of the domain; None where there are none."""
        ends = itertools.accumulate(self.sub_domain_sizes)
        return next((place for place, end in enumerate(ends) if accelerator < end), None)


def graph_of(layout: Layout) -> Graph:
    """The fabric of a layout as a graph."""
    first, count = layout.tiers[0], layout.accelerators
    speed, medium = first.link_bytes_per_s, first.medium
    match layout.shape:
        case Shape.FULL_MESH:
            return shapes.full_mesh(
                endpoints=count, links_per_pair=first.links_to_each, link_bytes_per_s=speed, medium=medium
            )
        case Shape.SINGLE_LAYER:
            return shapes.single_layer(
                endpoints=count,
                switches=first.switches,
                links_to_each_switch=first.links_to_each,
                link_bytes_per_s=speed,
                medium=medium,
            )
        case Shape.TWO_LAYER:
            return _two_layer(layout)
        case Shape.FAT_TREE:
            return shapes.fat_tree(
                radix=layout.radix, link_bytes_per_s=speed * first.links_to_each, edge_medium=medium
            )
        case Shape.RING:
            return shapes.ring(
                endpoints=count, links=first.links_to_each, link_bytes_per_s=speed, medium=medium
            )
        case Shape.TORUS:
            return shapes.torus(
                sides=layout.sides, links=first.links_to_each, link_bytes_per_s=speed, medium=medium
            )


def _two_layer(layout: Layout) -> Graph:
    first, upper = layout.tiers
    return shapes.leaf_spine(
        group_sizes=layout.sub_domain_sizes
        or (layout.lower_group,) * (layout.accelerators // layout.lower_group),
        leaves_per_group=first.switches,
        spines=upper.switches,
        planes=layout.planes,
        links_to_each_leaf=first.links_to_each,
        down_bytes_per_s=first.link_bytes_per_s,
        links_to_each_spine=upper.links_to_each,
        up_bytes_per_s=upper.link_bytes_per_s,
        down_medium=first.medium,
        up_medium=upper.medium,
        kind=TopologyKind.TWO_LAYER,
    )


def describe(layout: Layout, *, domain: str, model: str = "", first_node: int = 1) -> FleetDescription:
    """The nodes and sub-domains of one domain by name. first_node: the number of the first node."""
    names = [
        layout.sub_domain_pattern.format(domain=domain, sub_domain=place + 1)
        for place in range(len(layout.sub_domain_sizes))
    ]
    nodes = [
        Node(
            name=layout.node_pattern.format(domain=domain, node=first_node + place),
            domain=domain,
            spans=_spans(layout, names, place),
            cards=layout.accelerators_per_node,
            model=model,
        )
        for place in range(layout.nodes)
    ]
    says = {Part.NODES, Part.DOMAINS, Part.SUBDOMAINS, Part.CARDS}
    return described(
        says=says | {Part.MODELS} if model else says,
        domains=[Domain(name=domain, sub_domains=tuple(names))],
        nodes=nodes,
    )


def _spans(layout: Layout, names: Sequence[str], place: int) -> tuple[Span, ...]:
    first = place * layout.accelerators_per_node
    homes = [layout.sub_domain_of(one) for one in range(first, first + layout.accelerators_per_node)]
    return tuple(
        Span(sub_domain=names[home], cards=len(list(run)))
        for home, run in itertools.groupby(homes)
        if home is not None
    )


def build(layout: Layout) -> Layout:
    """Check a layout of any kind and give it back.

    Raises Invalid with every field that is wrong at once.
    """
    errors = [
        *_count_errors(layout),
        *_tier_errors(layout),
        *_pattern_errors(layout),
    ]
    if not errors:
        errors = list(_division_errors(layout))
    if errors:
        raise Invalid("the layout cannot be built", code="layout", errors=errors)
    return layout


def even_sub_domains(accelerators: int, count: int) -> tuple[int, ...]:
    """Sizes of `count` equal sub-domains. Raises Invalid where they do not divide the accelerators."""
    if count < 1 or accelerators % count:
        message = f"{accelerators} accelerators cannot be divided into {count} equal sub-domains"
        raise Invalid(message, code="layout", errors=[_wrong("/sub_domain_sizes", message)])
    return (accelerators // count,) * count


def _wrong(pointer: str, message: str) -> FieldError:
    return FieldError(pointer=pointer, message=message)


def _count_errors(layout: Layout) -> list[FieldError]:
    errors = [
        _wrong(f"/{name}", "must be 1 or more")
        for name in ("nodes", "accelerators_per_node")
        if getattr(layout, name) < 1
    ]
    if not errors and layout.accelerators > MAX_ACCELERATORS:
        errors.append(_wrong("/nodes", f"a domain has at most {MAX_ACCELERATORS} accelerators"))
    if any(size < 1 for size in layout.sub_domain_sizes):
        errors.append(_wrong("/sub_domain_sizes", "every sub-domain has 1 accelerator or more"))
    return errors


def _tier_errors(layout: Layout) -> list[FieldError]:
    needed = 2 if layout.shape is Shape.TWO_LAYER else 1
    errors = []
    if len(layout.tiers) != needed:
        errors.append(_wrong("/tiers", f"{layout.shape.value} has {needed}, not {len(layout.tiers)}"))
    fewest = 1 if layout.shape in TAKES_SWITCHES else 0
    for place, tier in enumerate(layout.tiers):
        if tier.link_bytes_per_s <= 0:
            errors.append(_wrong(f"/tiers/{place}/link_bytes_per_s", "must be above zero"))
        if tier.links_to_each < 1:
            errors.append(_wrong(f"/tiers/{place}/links_to_each", "must be 1 or more"))
        if tier.switches < fewest:
            errors.append(_wrong(f"/tiers/{place}/switches", f"must be {fewest} or more"))
    return errors


def _pattern_errors(layout: Layout) -> list[FieldError]:
    errors = []
    for field, name, values in (
        ("node_pattern", layout.node_pattern, [{"domain": "d", "node": one} for one in (1, 2)]),
        ("sub_domain_pattern", layout.sub_domain_pattern, [{"domain": "d", "sub_domain": n} for n in (1, 2)]),
    ):
        try:
            made = {name.format(**one) for one in values}
        except (KeyError, IndexError, ValueError) as error:
            errors.append(_wrong(f"/{field}", f"cannot be filled in: {error}"))
            continue
        if len(made) < len(values):
            errors.append(_wrong(f"/{field}", "gives two of them the same name; put the number in"))
    return errors


def _division_errors(layout: Layout) -> list[FieldError]:
    errors = []
    total = sum(layout.sub_domain_sizes)
    if layout.sub_domain_sizes and total != layout.accelerators:
        errors.append(
            _wrong("/sub_domain_sizes", f"they hold {total} accelerators, the layout {layout.accelerators}")
        )
    grouped = layout.shape is Shape.TWO_LAYER and not layout.sub_domain_sizes
    if grouped and (layout.lower_group < 1 or layout.accelerators % layout.lower_group):
        errors.append(_wrong("/lower_group", f"must divide the {layout.accelerators} accelerators"))
    if (
        layout.planes
        and layout.shape is Shape.TWO_LAYER
        and layout.tiers[1].switches % layout.tiers[0].switches
    ):
        message = f"must be a multiple of the {layout.tiers[0].switches} planes"
        errors.append(_wrong("/tiers/1/switches", message))
    return errors + _shape_errors(layout)


def _shape_errors(layout: Layout) -> list[FieldError]:
    """What mesh, ring, torus and fat tree ask of the counts."""
    count = layout.accelerators
    fewest = {Shape.RING: 3}.get(layout.shape, 2)
    if count < fewest:
        return [_wrong("/nodes", f"a {layout.shape.value} has {fewest} accelerators or more")]
    if layout.shape is Shape.TORUS:
        if len(layout.sides) not in (2, 3) or any(side < 2 for side in layout.sides):
            return [_wrong("/sides", "give two or three sides of 2 or more")]
        if math.prod(layout.sides) != count:
            product = "×".join(str(side) for side in layout.sides)
            return [_wrong("/sides", f"{product} is {math.prod(layout.sides)}, not {count} accelerators")]
    if layout.shape is Shape.FAT_TREE and not layout.radix:
        return [_wrong("/nodes", f"a fat tree has k³/4 accelerators (16, 54, 128, 250 …), not {count}")]
    return []
