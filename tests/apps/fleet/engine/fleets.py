"""Fleets for tests: made by hand, and drawn by hypothesis in every form that a format must carry."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hypothesis import strategies as st

from apps.fleet.engine.description import (
    Domain,
    FleetDescription,
    Node,
    Part,
    Span,
    Switch,
    described,
)

SAYS = [Part.NODES, Part.DOMAINS, Part.SUBDOMAINS, Part.CARDS, Part.MODELS, Part.SWITCHES]


@st.composite
def nested_fleets(draw: st.DrawFn) -> FleetDescription:
    """Domains of two to four nodes, each with or without sub-domains, under leaves that hold whole domains."""
    width = draw(st.sampled_from([1, 2]))
    domains, nodes = [], []
    for place in range(1, draw(st.integers(1, 6)) + 1):
        name = f"d{place}"
        count = draw(st.integers(2, 4))
        halls = [f"{name}-s1", f"{name}-s2"] if draw(st.booleans()) else []
        domains.append(Domain(name=name, sub_domains=tuple(halls)))
        for number in range(1, count + 1):
            spans = (Span(sub_domain=halls[number % 2], cards=8),) if halls else ()
            nodes.append(
                Node(
                    name=f"{name}-n{str(number).zfill(width)}",
                    domain=name,
                    spans=spans,
                    cards=8,
                    model="NVIDIA-H200",
                )
            )
    halved = any(one.sub_domains for one in domains)
    return described(
        says=SAYS if halved else [part for part in SAYS if part is not Part.SUBDOMAINS],
        domains=domains,
        nodes=nodes,
        switches=_switches([one.name for one in domains], nodes, draw(st.integers(1, 3))),
    )


def _switches(domains: list[str], nodes: list[Node], per_leaf: int) -> list[Switch]:
    leaves = []
    for number, start in enumerate(range(0, len(domains), per_leaf), start=1):
        homes = domains[start : start + per_leaf]
        leaves.append(
            Switch(
                name=f"leaf-{number}",
                tier=1,
                nodes=tuple(node.name for node in nodes if node.domain in homes),
            )
        )
    spine = Switch(name="spine.1", tier=2, switches=tuple(leaf.name for leaf in leaves))
    return [*leaves, spine]


_MODELS: list[dict[str, Any]] = [
    {"model": "Ascend910B"},
    {"models": ("Ascend910B", "Ascend910B", "NVIDIA H20,4/96 GB", "100% own")},
    {"models": ("", "NVIDIA-H200", "", "")},
    {"model": "two\nlines, 50%"},
]
_EMPTY = [[], [Domain(name="e1")], [Domain(name="e1", sub_domains=("e1-s1", "e1-s2"))]]


def _partly(halls: Sequence[str]) -> list[tuple[Span, ...]]:
    """Spans of eight accelerators of which some are in no sub-domain: the last, the first, those between."""
    first, second = halls
    return [
        (Span(sub_domain=first, cards=4),),
        (Span(sub_domain=first, cards=4, before=4),),
        (Span(sub_domain=first, cards=1, before=2), Span(sub_domain=second, cards=2, before=1)),
    ]


@st.composite
def tangled_fleets(draw: st.DrawFn) -> FleetDescription:
    """A nested fleet with spare nodes of odd models, nodes that are in no sub-domain or partly in some, or have empty
    slots, homes that no node is in, and a fabric that no tree holds.

    Leaves cut through domains; a node may be beneath two of them, or beneath a spine; and a leaf beneath two spines. A
    leaf or a spine may have no node beneath it.
    """
    nested = draw(nested_fleets())
    spares = [
        Node(name=f"spare-{number}", cards=4, **draw(st.sampled_from(_MODELS)))
        for number in range(draw(st.integers(0, 2)))
    ]
    some = {domain.name: domain.sub_domains for domain in nested.domains if domain.sub_domains}
    partly = [
        Node(
            name=f"{name}-odd",
            domain=name,
            spans=draw(st.sampled_from([(), *_partly(halls)])),
            cards=8,
            model="NVIDIA-H200",
            slots=draw(st.sampled_from([(), (0, 1, 2, 3, 5, 6, 7, 8), (1, 2, 3, 4, 5, 6, 7, 12)])),
        )
        for name, halls in some.items()
    ]
    nodes = [*nested.nodes, *spares, *partly]
    names = st.sets(st.sampled_from([node.name for node in nodes]), min_size=1)
    domains = [*nested.domains]
    if some:
        domains += draw(st.sampled_from(_EMPTY))
    leaves = [
        Switch(name=f"rail-{number}", tier=1, nodes=tuple(draw(names)))
        for number in range(1, draw(st.integers(1, 4)) + 1)
    ]
    below = st.sets(st.sampled_from([leaf.name for leaf in leaves]), min_size=1)
    spines = [
        Switch(
            name=f"spine-{number}",
            tier=draw(st.integers(2, 3)),
            switches=tuple(draw(below)),
            nodes=tuple(draw(st.sets(st.sampled_from([node.name for node in nodes]), max_size=1))),
        )
        for number in range(draw(st.integers(0, 2)))
    ]
    idle = [
        Switch(name="idle-leaf", tier=1),
        Switch(name="idle-spine", tier=2, switches=draw(st.sampled_from([(), ("idle-leaf",)]))),
        Switch(name="half-spine", tier=3, switches=("idle-leaf", "rail-1")),
    ][: draw(st.integers(0, 3))]
    return described(says=nested.says, domains=domains, nodes=nodes, switches=[*leaves, *spines, *idle])


def small_fleet() -> FleetDescription:
    """Two domains of two nodes, each under a leaf of its own, and a spine."""
    nodes = [
        Node(name=f"{domain}-n{number}", domain=domain, cards=8, model="NVIDIA-H200")
        for domain in ("d1", "d2")
        for number in (1, 2)
    ]
    return described(
        says=[part for part in SAYS if part is not Part.SUBDOMAINS],
        domains=[Domain(name="d1"), Domain(name="d2")],
        nodes=nodes,
        switches=_switches(["d1", "d2"], nodes, 1),
    )
