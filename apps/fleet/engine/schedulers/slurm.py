"""What both Slurm topology files share: trees and blocks of a fleet."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from apps.core.texts import say
from apps.fleet.engine.description import (
    Domain,
    FleetDescription,
    Node,
    Part,
    Problem,
    Span,
    described,
    natural,
)
from apps.fleet.engine.schedulers.export import (
    Note,
    domain_of_sub_domain,
    domains_as_nodes,
    sub_domains_as_nodes,
)
from apps.fleet.engine.schedulers.forest import Beneath, Entry, forest


@dataclass(frozen=True, slots=True, kw_only=True)
class Blocks:
    """Blocks of nodes and the block sizes that a job may ask for."""

    nodes: Mapping[str, tuple[str, ...]]
    sizes: tuple[int, ...]


def tree_entries(fleet: FleetDescription) -> tuple[Entry, ...]:
    """The switches that have nodes beneath them, highest tier first, so that a reader sees the tree from its root.

    Slurm refuses a switch that has none.
    """
    beneath = Beneath(fleet.switches)
    ordered = sorted(fleet.switches, key=lambda one: (-one.tier, natural(one.name)))
    return tuple(
        Entry(
            name=one.name,
            switches=tuple(name for name in one.switches if beneath.bits(name)),
            nodes=one.nodes,
            real_name=one.real_name,
            tier=one.tier,
        )
        for one in ordered
        if beneath.bits(one.name)
    )


def is_tree(fleet: FleetDescription) -> bool:
    """Whether the switches are read again as they are from a tree, which has no word for tiers."""
    switches, problems = forest([replace(one, tier=0) for one in tree_entries(fleet)])
    return not problems and described(says=(), switches=switches).switches == fleet.switches


def domain_blocks(fleet: FleetDescription) -> Blocks:
    nodes = domains_as_nodes(fleet)
    return Blocks(nodes=nodes, sizes=block_sizes([len(one) for one in nodes.values()], whole=0))


def sub_domain_blocks(fleet: FleetDescription) -> tuple[Blocks, tuple[Note, ...]]:
    """Blocks of the sub-domains, and of domains that have none, sized up to a whole domain.

    Empty where there are no sub-domains, and, with a note, where nodes are split.
    """
    halls, notes = sub_domains_as_nodes(fleet)
    if not halls:
        return Blocks(nodes={}, sizes=()), notes
    domains, divided = domains_as_nodes(fleet), {domain_of_sub_domain(fleet)[hall] for hall in halls}
    nodes = halls | {name: members for name, members in domains.items() if name not in divided}
    whole = max(len(one) for one in domains.values())
    return Blocks(nodes=nodes, sizes=block_sizes([len(one) for one in nodes.values()], whole=whole)), notes


def block_sizes(counts: Sequence[int], *, whole: int) -> tuple[int, ...]:
    """The base size, which every block reaches, and its doublings up to `whole` nodes.

    Slurm accepts only powers of two of the base size above it.
    """
    if not counts:
        return ()
    sizes = [min(counts)]
    while sizes[-1] * 2 <= whole:
        sizes.append(sizes[-1] * 2)
    return tuple(sizes)


def fleet_of_tree(entries: Sequence[Entry]) -> FleetDescription:
    """What a tree says: switches and nodes."""
    switches, problems = forest(entries)
    names = dict.fromkeys(node for switch in switches for node in switch.nodes)
    return described(
        says=[Part.NODES, Part.SWITCHES],
        nodes=[Node(name=name) for name in names],
        switches=switches,
        problems=problems,
    )


def fleet_of_blocks(
    blocks: Iterable[tuple[str, Sequence[str]]],
    *,
    domain_of: Mapping[str, str] | None = None,
    real_names: Mapping[str, str] | None = None,
) -> FleetDescription:
    """What blocks say: each is a domain, or a sub-domain of the domain that `domain_of` gives for it."""
    domain_of, real_names = domain_of or {}, real_names or {}
    problems: list[Problem] = []
    homes: dict[str, str] = {}
    sub_domains: dict[str, list[str]] = {}
    for block, names in blocks:
        domain = domain_of.get(block, block)
        below = sub_domains.setdefault(domain, [])
        if block in domain_of:
            below.append(block)
        for name in names:
            if name in homes:
                message = say(
                    "node %(name)s is named twice: in block %(homes)s and in %(block)s",
                    name=name,
                    homes=homes[name],
                    block=block,
                )
                problems.append(Problem(code="node_twice", subject=name, message=message))
            else:
                homes[name] = block
    return described(
        says=[Part.NODES, Part.DOMAINS, *([Part.SUBDOMAINS] if domain_of else [])],
        domains=[
            Domain(name=name, sub_domains=tuple(below), real_name=real_names.get(name, ""))
            for name, below in sub_domains.items()
        ],
        nodes=[
            Node(
                name=name,
                domain=domain_of.get(block, block),
                spans=(Span(sub_domain=block),) if block in domain_of else (),
            )
            for name, block in homes.items()
        ],
        problems=problems,
    )
