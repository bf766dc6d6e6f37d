"""Volcano HyperNodes: one object per sub-domain, domain and switch, in tiers from the nodes upwards.

tierName says what a tier is, so that domains and switches are told apart when the file is read again. An annotation
says of the nodes among the members which accelerators they have (`hints`), and of the switches what does not nest
(`switch_notes`).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from apps.core.errors import FieldError, Invalid
from apps.core.texts import say
from apps.fleet.engine.description import (
    Domain,
    FleetDescription,
    Node,
    Part,
    Problem,
    Span,
    Switch,
    described,
)
from apps.fleet.engine.schedulers import hints, switch_notes
from apps.fleet.engine.schedulers.export import Export, as_yaml, carried
from apps.fleet.engine.schedulers.forest import Entry, forest
from apps.fleet.engine.schedulers.hierarchy import Hierarchy, Level, Role, hierarchy, level_of_key
from apps.fleet.engine.schedulers.labels import ANNOTATION

KIND = "hypernode"
FILE_NAME = "hypernodes.yaml"
_OBJECT_NAME = re.compile(r"[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?")
API_VERSION = "topology.volcano.sh/v1alpha1"


def write(fleet: FleetDescription) -> Export:
    """Every level that nests. A node that a level does not cover is a member one level further up.

    Raises Invalid where a name is used on two levels or cannot name a Kubernetes object.
    """
    levels = hierarchy(fleet)
    if errors := _name_errors(levels):
        raise Invalid(say("the fleet's names cannot name HyperNodes"), code="hypernode_names", errors=errors)
    by_name = {node.name: node for node in fleet.nodes}
    listed = {node for level in levels.levels for nodes in level.groups.values() for node in nodes}
    told = [node for node in by_name if node not in listed]  # by the first document, with its own
    documents, made = [], []
    for tier, level in enumerate(levels.levels, start=1):
        for name, nodes in level.groups.items():
            members = _members(levels, tier - 1, nodes)
            told = [member for kind, member in members if kind == "Node" and member in by_name] + told
            notes = hints.lines((by_name[node] for node in told), said=levels.says, listed=listed)
            documents.append(_document(name, tier, level, members, notes))
            made.append(_Read.made(name, level, members))
            told = []
    return _export(fleet, levels, documents, made)


def read(facts: Mapping[str, Any]) -> FleetDescription:
    """The fleet in the facts of HyperNodes.

    Those whose tierName is ours become domains, sub-domains and switches; all others are switches of their
    tier. Members by regexMatch or labelMatch name no nodes, which is told as a problem.
    """
    hypernodes: Sequence[Mapping[str, Any]] = facts["hypernode_list"]
    read_ones = [_Read.of(one) for one in hypernodes if one["name"]]
    problems = [
        Problem(code="members_by_selector", subject=one.name, message=one.unnamed)
        for one in read_ones
        if one.unnamed
    ]
    told = (line for one in hypernodes for line in (one.get("nodes_note") or "").splitlines())
    return hints.filled(_fleet(read_ones, problems), told)


def _export(
    fleet: FleetDescription, levels: Hierarchy, documents: list[dict[str, Any]], made: Sequence[_Read]
) -> Export:
    """made: the documents as they are read again. The first has notes of empty homes, and of the switches where the
    documents do not say them."""
    if not documents:
        return Export(file_name=FILE_NAME, text="", says=frozenset(), notes=levels.notes)
    says, notes = levels.says | hints.carried(fleet), levels.notes
    again, beside = _fleet(made, []), hints.of_empty_homes(fleet)
    if again.switches != fleet.switches or again.problems:
        beside += switch_notes.lines(fleet)
        says, notes = says | carried(fleet, Part.SWITCHES), (*notes, switch_notes.kept())
    if beside:
        annotations = documents[0]["metadata"].setdefault("annotations", {})
        told = [annotations[ANNOTATION]] if annotations else []
        annotations[ANNOTATION] = "\n".join([*told, *beside])
    return Export(file_name=FILE_NAME, text=as_yaml(documents), says=says, notes=notes)


def _document(
    name: str, tier: int, level: Level, members: Sequence[tuple[str, str]], notes: Sequence[str]
) -> dict[str, Any]:
    metadata: dict[str, Any] = {"name": name}
    if notes:
        metadata["annotations"] = {ANNOTATION: "\n".join(notes)}
    return {
        "apiVersion": API_VERSION,
        "kind": "HyperNode",
        "metadata": metadata,
        "spec": {
            "tier": tier,
            "tierName": level.key,
            "members": [
                {"type": kind, "selector": {"exactMatch": {"name": member}}} for kind, member in members
            ],
        },
    }


def _name_errors(levels: Hierarchy) -> list[FieldError]:
    names = Counter(name for level in levels.levels for name in level.groups)
    twice = [
        FieldError(
            pointer=f"/{name}",
            message=say("%(name)s names groups of %(count)s levels", name=name, count=count),
            code="name_twice",
        )
        for name, count in names.items()
        if count > 1
    ]
    return twice + [
        FieldError(
            pointer=f"/{name}",
            message=say(
                "%(name)s is no object name: lower-case letters, digits, - and . only", name=f"{name!r}"
            ),
            code="bad_object_name",
        )
        for name in names
        if not _OBJECT_NAME.fullmatch(name)
    ]


def _members(levels: Hierarchy, below: int, nodes: Sequence[str]) -> list[tuple[str, str]]:
    """The groups of the level below that hold these nodes, and the nodes that it does not cover.

    below: number of levels beneath; 0 for the innermost.
    """
    if below == 0:
        return [("Node", node) for node in nodes]
    group_of = levels.levels[below - 1].group_of()
    covered = dict.fromkeys(group_of[node] for node in nodes if node in group_of)
    loose = [node for node in nodes if node not in group_of]
    return [("HyperNode", name) for name in covered] + [("Node", node) for node in loose]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Read:
    """One HyperNode as read. unnamed: why some of its members name nothing, or ""."""

    name: str
    role: Role
    tier: int
    groups: tuple[str, ...]
    nodes: tuple[str, ...]
    unnamed: str

    @classmethod
    def made(cls, name: str, level: Level, members: Sequence[tuple[str, str]]) -> _Read:
        return cls(
            name=name,
            role=level.role,
            tier=level.tier,
            groups=tuple(member for kind, member in members if kind == "HyperNode"),
            nodes=tuple(member for kind, member in members if kind == "Node"),
            unnamed="",
        )

    @classmethod
    def of(cls, one: Mapping[str, Any]) -> _Read:
        role, tier = level_of_key(one["tier_name"] or "") or (Role.SWITCH, one["tier"] or 0)
        members = one["members"]
        others = sorted(
            {member["selector"] or say("no selector") for member in members if not member["name"]}
        )
        return cls(
            name=one["name"],
            role=role,
            tier=tier,
            groups=tuple(m["name"] for m in members if m["type"] == "HyperNode" and m["name"]),
            nodes=tuple(m["name"] for m in members if m["type"] == "Node" and m["name"]),
            unnamed=say(
                "HyperNode %(name)s chooses members by %(others)s", name=one["name"], others=", ".join(others)
            )
            if others
            else "",
        )


def _fleet(read_ones: Sequence[_Read], problems: list[Problem]) -> FleetDescription:
    by_name = {one.name: one for one in read_ones}
    nodes: dict[str, Node] = {}
    domains = []
    for one in read_ones:
        if one.role is not Role.DOMAIN:
            continue
        halls = [by_name[name] for name in one.groups if name in by_name]
        domains.append(Domain(name=one.name, sub_domains=tuple(hall.name for hall in halls)))
        for hall_name, members in [("", one.nodes), *((hall.name, hall.nodes) for hall in halls)]:
            spans = (Span(sub_domain=hall_name),) if hall_name else ()
            for name in members:
                if name in nodes:
                    message = say(
                        "node %(name)s is in domain %(domain)s and again in %(name_2)s",
                        name=name,
                        domain=nodes[name].domain,
                        name_2=one.name,
                    )
                    problems.append(Problem(code="node_twice", subject=name, message=message))
                else:
                    nodes[name] = Node(name=name, domain=one.name, spans=spans)
    switches, more = _switches(read_ones, nodes)
    for switch in switches:
        for name in switch.nodes:
            nodes.setdefault(name, Node(name=name))
    says = [Part.NODES]
    says += [Part.DOMAINS] if domains else []
    says += [Part.SUBDOMAINS] if any(domain.sub_domains for domain in domains) else []
    says += [Part.SWITCHES] if switches else []
    return described(
        says=says, domains=domains, nodes=nodes.values(), switches=switches, problems=[*problems, *more]
    )


def _switches(
    read_ones: Sequence[_Read], nodes: Mapping[str, Node]
) -> tuple[tuple[Switch, ...], tuple[Problem, ...]]:
    """Switches, with the nodes of the domains that are their members directly beneath them."""
    by_name = {one.name: one for one in read_ones}
    in_domain: dict[str, list[str]] = {}
    for node in nodes.values():
        in_domain.setdefault(node.domain, []).append(node.name)
    entries = []
    for one in read_ones:
        if one.role is not Role.SWITCH:
            continue
        inside = [name for name in one.groups if name not in by_name or by_name[name].role is Role.SWITCH]
        domains = [name for name in one.groups if name not in inside]
        beneath = [node for name in domains for node in in_domain.get(name, ())]
        entries.append(
            Entry(name=one.name, tier=one.tier, switches=tuple(inside), nodes=(*beneath, *one.nodes))
        )
    return forest(entries)
