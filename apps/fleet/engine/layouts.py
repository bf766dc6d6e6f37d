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
from dataclasses import replace

from apps.core.errors import FieldError, Invalid
from apps.core.texts import say
from apps.fleet.engine import shapes
from apps.fleet.engine.description import Domain, FleetDescription, Node, Part, Span, described
from apps.fleet.engine.graph import Graph, TopologyKind
from apps.fleet.engine.layout import Layout, Shape, Tier
from apps.fleet.engine.layout_checks import layout_errors

__all__ = ["Layout", "Shape", "Tier", "at_card_speed", "build", "describe", "even_sub_domains", "graph_of"]


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
    errors = layout_errors(layout)
    if errors:
        raise Invalid(say("the layout cannot be built"), code="layout", errors=errors)
    return layout


def at_card_speed(layout: Layout, unidirectional_bytes_per_s: float | None) -> Layout:
    """The layout with links as fast as lets each card send just that much, tiers in the same ratio; None: as it is."""
    now = layout.unidirectional_bytes_per_s
    if unidirectional_bytes_per_s is None or math.isclose(now, unidirectional_bytes_per_s):
        return layout
    factor = unidirectional_bytes_per_s / now
    tiers = tuple(replace(tier, link_bytes_per_s=tier.link_bytes_per_s * factor) for tier in layout.tiers)
    return replace(layout, tiers=tiers)


def even_sub_domains(accelerators: int, count: int) -> tuple[int, ...]:
    """Sizes of `count` equal sub-domains. Raises Invalid where they do not divide the accelerators."""
    if count < 1 or accelerators % count:
        message = say(
            "%(accelerators)s accelerators cannot be divided into %(count)s equal sub-domains",
            accelerators=accelerators,
            count=count,
        )
        raise Invalid(
            message, code="layout", errors=[FieldError(pointer="/sub_domain_sizes", message=message)]
        )
    return (accelerators // count,) * count
