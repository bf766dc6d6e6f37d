"""A fleet as one plain value, whatever file it came from: domains, sub-domains, nodes, switches and links.

Every source says a part of it only. `says` names the parts, so that a comparison never takes silence for
a difference.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum


class Part(StrEnum):
    NODES = "nodes"
    DOMAINS = "domains"
    SUBDOMAINS = "sub_domains"
    CARDS = "cards"
    MODELS = "models"
    SWITCHES = "switches"
    LINKS = "links"


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """A run of neighbouring accelerators of a node in one sub-domain.

    cards: None where the source does not count them. A node split between two sub-domains has two spans.
    before: accelerators between it and the span before, which are in no sub-domain.
    """

    sub_domain: str
    cards: int | None = None
    before: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """domain: "" where it is in none or the source does not say. spans: in order of accelerators.

    model: of all accelerators; "" where the source does not say. models: of each one, where they differ. slots: the
    index of each, where some slot before the last is empty.
    """

    name: str
    domain: str = ""
    spans: tuple[Span, ...] = ()
    cards: int | None = None
    model: str = ""
    models: tuple[str, ...] = ()
    slots: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Domain:
    """real_name: what it is called outside of the scheduler, where that differs."""

    name: str
    sub_domains: tuple[str, ...] = ()
    real_name: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Switch:
    """tier: 1 is nearest to the nodes. switches, nodes: those directly beneath. real_name: what it is called
    outside of the scheduler, where that differs."""

    name: str
    tier: int
    switches: tuple[str, ...] = ()
    nodes: tuple[str, ...] = ()
    real_name: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """Equal links between two ends; an end is a switch, a node, or an accelerator as node/index.

    bandwidth_bytes_per_s: of one link, one way; None where the source does not say.
    """

    a: str
    b: str
    kind: str = ""
    count: int = 1
    bandwidth_bytes_per_s: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """Something in a source that cannot be so: a node twice, an unknown switch, a missing tier, a cycle."""

    code: str
    subject: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FleetDescription:
    """Everything in natural order of names (`described` sees to it), so equal fleets are equal values."""

    says: frozenset[Part]
    domains: tuple[Domain, ...] = ()
    nodes: tuple[Node, ...] = ()
    switches: tuple[Switch, ...] = ()
    links: tuple[Link, ...] = ()
    problems: tuple[Problem, ...] = ()


_DIGITS = re.compile(r"(\d+)")


def natural(name: str) -> tuple[tuple[int, int, str], ...]:
    """A sort key under which n2 comes before n10, and n01 beside n1 in a fixed order."""
    return tuple(
        (0, len(one.lstrip("0")), f"{one.lstrip('0')} {one}") if one.isdecimal() else (1, 0, one)
        for one in _DIGITS.split(name)
    )


def natural_order(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(set(names), key=natural))


def described(
    *,
    says: Iterable[Part],
    domains: Iterable[Domain] = (),
    nodes: Iterable[Node] = (),
    switches: Iterable[Switch] = (),
    links: Iterable[Link] = (),
    problems: Iterable[Problem] = (),
) -> FleetDescription:
    """A description in its one order. Sub-domains of a domain are put in natural order too."""
    return FleetDescription(
        says=frozenset(says),
        domains=tuple(
            sorted(
                (replace(one, sub_domains=natural_order(one.sub_domains)) for one in domains),
                key=lambda one: natural(one.name),
            )
        ),
        nodes=tuple(sorted(nodes, key=lambda one: natural(one.name))),
        switches=tuple(
            sorted(
                (
                    replace(one, switches=natural_order(one.switches), nodes=natural_order(one.nodes))
                    for one in switches
                ),
                key=lambda one: natural(one.name),
            )
        ),
        links=tuple(sorted(links, key=lambda one: (natural(one.a), natural(one.b), one.kind))),
        problems=tuple(problems),
    )


def only(fleet: FleetDescription, parts: Iterable[Part]) -> FleetDescription:
    """The fleet as a source that says these parts alone would describe it.

    Sub-domains are said of domains, and domains of nodes; without those they are not said.
    """
    kept = frozenset(parts) & fleet.says
    if Part.NODES not in kept:
        kept -= {Part.DOMAINS, Part.CARDS, Part.MODELS}
    if Part.DOMAINS not in kept:
        kept -= {Part.SUBDOMAINS}
    return described(
        says=kept,
        domains=[_only_domain(one, kept) for one in fleet.domains] if Part.DOMAINS in kept else (),
        nodes=[_only_node(one, kept) for one in fleet.nodes] if Part.NODES in kept else (),
        switches=fleet.switches if Part.SWITCHES in kept else (),
        links=fleet.links if Part.LINKS in kept else (),
    )


def about(fleet: FleetDescription, nodes: Iterable[str]) -> FleetDescription:
    """The part of a fleet that is about these nodes, to hold against a file that tells of them alone.

    Switches keep those of the nodes that stand directly beneath them, and go where none is left. Links are those among
    the nodes: what leads out of them such a file does not name.
    """
    names = frozenset(nodes)
    kept = [node for node in fleet.nodes if node.name in names]
    homes = {node.domain for node in kept}
    above = [
        replace(one, nodes=tuple(node for node in one.nodes if node in names))
        for one in fleet.switches
        if names.intersection(one.nodes)
    ]
    return described(
        says=fleet.says,
        domains=[one for one in fleet.domains if one.name in homes],
        nodes=kept,
        switches=above,
        links=[one for one in fleet.links if {one.a.split("/")[0], one.b.split("/")[0]} <= names],
    )


def slots_of(node: Node) -> Sequence[int]:
    """The index of each accelerator of a node; none where the source does not count them."""
    return node.slots or range(node.cards or 0)


def rooms_of(node: Node, cards: int | None = None) -> list[str]:
    """The sub-domain of each of the first `cards` accelerators of a node, of all without; "" where it is in none."""
    count = (node.cards or 0) if cards is None else cards
    rooms: list[str] = []
    for span in node.spans:
        rooms += [""] * span.before
        rooms += [span.sub_domain] * (count - len(rooms) if span.cards is None else span.cards)
    return (rooms + [""] * (count - len(rooms)))[:count]


def runs_of(models: Iterable[str]) -> list[str]:
    """Models of the accelerators of a node as runs of equal ones: 4/a, 4/b."""
    return [f"{len(list(run))}/{model}" for model, run in itertools.groupby(models)]


def is_split(node: Node) -> bool:
    """Whether the node's accelerators lie in more than one sub-domain."""
    return len({span.sub_domain for span in node.spans}) > 1


def split_nodes(fleet: FleetDescription) -> tuple[Node, ...]:
    """Nodes that no tree of nodes can place, because two sub-domains share them."""
    return tuple(node for node in fleet.nodes if is_split(node))


def _only_domain(domain: Domain, parts: frozenset[Part]) -> Domain:
    return domain if Part.SUBDOMAINS in parts else replace(domain, sub_domains=())


def _only_node(node: Node, parts: frozenset[Part]) -> Node:
    spans = node.spans if Part.SUBDOMAINS in parts else ()
    if Part.CARDS not in parts:
        spans = tuple(replace(span, cards=None, before=0) for span in spans)
    return Node(
        name=node.name,
        domain=node.domain if Part.DOMAINS in parts else "",
        spans=spans,
        cards=node.cards if Part.CARDS in parts else None,
        model=node.model if Part.MODELS in parts else "",
        models=node.models if {Part.CARDS, Part.MODELS} <= parts else (),
        slots=node.slots if Part.CARDS in parts else (),
    )
