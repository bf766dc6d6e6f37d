"""Node labels that carry the topology: one label per level, and what they say when read from nodes.

A label has one value and levels nest; nodes and switches that do not stand in annotations beside (`hints`,
`switch_notes`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
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
)
from apps.fleet.engine.schedulers import hints, switch_notes
from apps.fleet.engine.schedulers.export import Note, carried
from apps.fleet.engine.schedulers.forest import Entry, forest
from apps.fleet.engine.schedulers.hierarchy import Role, hierarchy, level_of_key

PREFIX = "topology.supernode-portal"
ANNOTATION = f"{PREFIX}/nodes"
HOSTNAME = "kubernetes.io/hostname"
CLIQUE = "nvidia.com/gpu.clique"
TOPOGRAPH_TIER = "fabric.topograph.run/tier-"
_HEIGHT = {Role.SUBDOMAIN: 0, Role.DOMAIN: 1, Role.SWITCH: 2}
_VALUE = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,61}[A-Za-z0-9])?")


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelLevel:
    """A label and what its values name. tier: of switches, from 1 at the node."""

    label: str
    role: Role
    tier: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeLabels:
    """levels: label names, outermost first. of_node: labels of each node, in the fleet's order.

    split: nodes whose sub-domains no label says in whole, and those in none where their neighbours are in some.
    has_switches: whether the labels say all switches as they are.
    """

    levels: tuple[str, ...]
    of_node: Mapping[str, Mapping[str, str]]
    says: frozenset[Part]
    notes: tuple[Note, ...]
    split: tuple[Node, ...]
    has_switches: bool


def node_labels(fleet: FleetDescription) -> NodeLabels:
    """The labels of every node. A name that cannot be a label's value is left out, with a note."""
    nested = hierarchy(fleet)
    labels: dict[str, dict[str, str]] = {node.name: {} for node in fleet.nodes}
    bad: dict[str, None] = {}
    for level in reversed(nested.levels):
        for node, name in level.group_of().items():
            if node not in labels:
                continue
            if _VALUE.fullmatch(name):
                labels[node][f"{PREFIX}/{level.key}"] = name
            else:
                bad[name] = None
    notes = list(nested.notes)
    if bad:
        message = say("these names cannot be label values: %(bad)s", bad=", ".join(bad))
        notes.append(Note(code="bad_label_value", message=message))
    split = _without_label(fleet, nested.says)
    again = fleet_of_labels(labels, levels_in(list(labels.values())), _of_split(split, nested.says))
    has_switches = not fleet.switches or (again.switches == fleet.switches and not again.problems)
    if not has_switches:
        notes.append(switch_notes.kept())
    beside = carried(fleet, *([Part.SUBDOMAINS] if split else []), *([] if has_switches else [Part.SWITCHES]))
    return NodeLabels(
        levels=tuple(f"{PREFIX}/{level.key}" for level in reversed(nested.levels)),
        of_node=labels,
        says=nested.says | beside,
        notes=tuple(notes),
        split=split,
        has_switches=has_switches,
    )


def _without_label(fleet: FleetDescription, says: frozenset[Part]) -> tuple[Node, ...]:
    """Nodes that need a line for their place."""
    if Part.SUBDOMAINS in says:
        divided = {domain.name for domain in fleet.domains if domain.sub_domains}
        found = [
            node
            for node in fleet.nodes
            if node.domain in divided and [span.cards for span in node.spans] not in ([node.cards], [None])
        ]
    else:
        found = [node for node in fleet.nodes if node.spans]
    return tuple(replace(node, model="", models=(), slots=()) for node in found)


def _of_split(split: Sequence[Node], says: frozenset[Part]) -> list[str]:
    return hints.lines(split, said=says - {Part.SUBDOMAINS}, listed={node.name for node in split})


def lines_of_nodes(fleet: FleetDescription, made: NodeLabels) -> dict[str, list[str]]:
    """What labels leave unsaid, as lines for annotations of nodes: each on its node, or the first beneath a switch."""
    # Of one model a label of the vendor's says it, and how many they are.
    odd = [node for node in fleet.nodes if node.models or node.slots]
    found = {node.name: _of_split([node], made.says) for node in (*made.split, *odd)}
    for node, lines in ({} if made.has_switches else switch_notes.of_nodes(fleet)).items():
        found.setdefault(node, []).extend(lines)
    if fleet.nodes and (homes := hints.of_empty_homes(fleet)):
        found.setdefault(fleet.nodes[0].name, []).extend(homes)
    return found


def lines_of_fleet(fleet: FleetDescription, made: NodeLabels) -> list[str]:
    """The same for one annotation."""
    switches = [] if made.has_switches else switch_notes.lines(fleet)
    return [*_of_split(made.split, made.says), *hints.of_empty_homes(fleet), *switches]


def known_level(label: str) -> LabelLevel | None:
    """What a label means, if it is ours, the GPU operator's clique, or a tier of topograph (0 is the leaf)."""
    if label == CLIQUE:
        return LabelLevel(label=label, role=Role.DOMAIN)
    tier = label.removeprefix(TOPOGRAPH_TIER)
    if tier != label and tier.isdecimal() and len(tier) < 4:
        return LabelLevel(label=label, role=Role.SWITCH, tier=int(tier) + 1)
    prefix, _, name = label.partition("/")
    ours = level_of_key(name) if prefix == PREFIX else None
    return LabelLevel(label=label, role=ours[0], tier=ours[1]) if ours else None


def levels_in(labels: Sequence[Mapping[str, str]]) -> tuple[LabelLevel, ...]:
    """The known levels among the labels of nodes. Where our domains are, the cliques are not read too."""
    found = {label: known_level(label) for one in labels for label in one}
    levels = [level for level in found.values() if level is not None]
    ours = any(level.role is Role.DOMAIN and level.label != CLIQUE for level in levels)
    return tuple(level for level in levels if not (ours and level.label == CLIQUE))


def fleet_of_labels(
    nodes: Mapping[str, Mapping[str, str]], levels: Sequence[LabelLevel], lines: Sequence[str] = ()
) -> FleetDescription:
    """The fleet that labels say; a node without the label of a level that its neighbours have is a problem.

    lines: those of annotations. Where they tell of switches, a node may well be beneath none of some tier; and where
    they tell of a node, it may be in no sub-domain.
    """
    told, has_switches = hints.named(lines), any(line.startswith("switch ") for line in lines)
    domain = next((level for level in levels if level.role is Role.DOMAIN), None)
    hall = next((level for level in levels if level.role is Role.SUBDOMAIN), None)
    tiers = sorted((level for level in levels if level.role is Role.SWITCH), key=lambda one: one.tier)
    problems = [
        Problem(
            code="missing_tier",
            subject=name,
            message=say("node %(name)s has no label %(label)s", name=name, label=level.label),
        )
        for level, name in _missing(nodes, levels)
        if not (has_switches if level.role is Role.SWITCH else level.role is Role.SUBDOMAIN and name in told)
    ]
    domains: dict[str, dict[str, None]] = {}
    made = []
    for name, labels in nodes.items():
        home = labels.get(domain.label, "") if domain else ""
        room = labels.get(hall.label, "") if hall else ""
        if home:
            domains.setdefault(home, {}).update({room: None} if room else {})
        made.append(Node(name=name, domain=home, spans=(Span(sub_domain=room),) if room else ()))
    switches, more = forest(_entries(nodes, tiers))
    says = [Part.NODES, *([Part.DOMAINS] if domain else []), *([Part.SUBDOMAINS] if hall else [])]
    said = described(
        says=[*says, *([Part.SWITCHES] if tiers else [])],
        domains=[Domain(name=name, sub_domains=tuple(rooms)) for name, rooms in domains.items()],
        nodes=made,
        switches=switches,
        problems=[*problems, *more],
    )
    return hints.filled(said, lines)


def _missing(
    nodes: Mapping[str, Mapping[str, str]], levels: Sequence[LabelLevel]
) -> list[tuple[LabelLevel, str]]:
    """Levels that a node leaves out and those have with whom it shares the level below, or the one above.

    Beneath one switch there may be nodes that are in no domain, and so in no sub-domain, and a part of a fleet may have
    no sub-domains or switches.
    """
    ordered = sorted(levels, key=lambda one: (_HEIGHT[one.role], one.tier))
    found: dict[tuple[LabelLevel, str], None] = {}
    for place, level in enumerate(ordered):
        having = [labels for labels in nodes.values() if labels.get(level.label)]
        above = [] if level.role is Role.DOMAIN else ordered[place + 1 :]
        if level.role is Role.SUBDOMAIN:
            above = [one for one in above if one.role is Role.DOMAIN]
        for beside in (ordered[:place][::-1], above):
            shared = {(one.label, labels.get(one.label)) for one in beside for labels in having}
            for name, labels in nodes.items():
                nearest = next((one.label for one in beside if labels.get(one.label)), "")
                if not labels.get(level.label) and (nearest, labels.get(nearest)) in shared:
                    found[level, name] = None
    return list(found)


def _entries(nodes: Mapping[str, Mapping[str, str]], tiers: Sequence[LabelLevel]) -> list[Entry]:
    """Switches of every tier: the nodes stand beneath the lowest that they name, each beneath the next."""
    above: dict[tuple[int, str], dict[str, None]] = {}
    below: dict[tuple[int, str], dict[str, None]] = {}
    for node, labels in nodes.items():
        chain = [(level.tier, labels[level.label]) for level in tiers if labels.get(level.label)]
        for place, key in enumerate(chain):
            below.setdefault(key, {})
            above.setdefault(key, {})
            if place == 0:
                above[key][node] = None
            else:
                below[key][chain[place - 1][1]] = None
    return [
        Entry(name=name, tier=tier, switches=tuple(below[tier, name]), nodes=tuple(above[tier, name]))
        for tier, name in below
    ]
