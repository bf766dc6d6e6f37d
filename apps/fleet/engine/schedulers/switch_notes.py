"""What our own files for schedulers say of switches that the words of their format cannot, in lines beside `hints`.

A scheduler's levels nest: a node beneath two switches, a switch that cuts through a domain, and a tier above none do
not stand in them. A line says one switch whole: `switch leaf-1 tier 1: nodes sn-n[01-04]`, or `… switches leaf-[1-2]`.
Where somebody edited the file, so that a switch has other nodes beneath it than its line says, the file's own words
hold.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import replace

from apps.core.hostlist import LIMIT_NAMES, HostListError, expand, fold
from apps.core.texts import say
from apps.fleet.engine.description import FleetDescription, Part, Problem, Switch, described, natural
from apps.fleet.engine.schedulers.export import Note
from apps.fleet.engine.schedulers.forest import Beneath, Entry, forest

_LIMIT_NAMES_IN_ALL = 1_000_000
_LINE = re.compile(
    r"switch (?P<name>\S+) tier (?P<tier>[0-9]{1,3}):(?: switches (?P<switches>\S+))?(?: nodes (?P<nodes>\S+))?"
)


def lines(fleet: FleetDescription) -> list[str]:
    """One line for each switch, highest tier first."""
    ordered = sorted(fleet.switches, key=lambda one: (-one.tier, natural(one.name)))
    return [_text(one) for one in ordered]


def of_nodes(fleet: FleetDescription) -> dict[str, list[str]]:
    """The same lines, each at the first node beneath its switch; where none is, at the first of the fleet."""
    beneath = Beneath(fleet.switches)
    names = [node.name for node in fleet.nodes]
    found: dict[str, list[str]] = {}
    for switch in fleet.switches if names else ():
        inside = beneath[switch.name]
        first = next((name for name in names if name in inside), names[0])
        found.setdefault(first, []).append(_text(switch))
    return found


def kept() -> Note:
    return Note(
        code="switches_kept_beside",
        message=say(
            "switches of the network are kept as they are on record, in lines that schedulers pass over and an import "
            "here reads"
        ),
    )


def filled(seen: FleetDescription, found: Iterable[str]) -> FleetDescription:
    """The fleet in a file with the switches that its lines say. Lines that are none of ours say nothing."""
    nodes = [node.name for node in seen.nodes]
    told = _read(found, set(nodes))
    if not told:
        return seen
    cycles = [problem for problem in _contradictions_of(told) if problem.code == "cycle"]
    if cycles or any(problem.code == "cycle" for problem in seen.problems):
        return replace(seen, problems=(*seen.problems, *cycles))
    written = {one.name: one for one in seen.switches}
    in_words, in_lines = Beneath(seen.switches, nodes=nodes), Beneath(told, nodes=nodes)
    taken = {
        one.name: one
        for one in told
        if one.name not in written or in_words.bits(one.name) == in_lines.bits(one.name)
    }
    if not taken:
        return seen
    return described(
        says=seen.says | {Part.SWITCHES},
        domains=seen.domains,
        nodes=seen.nodes,
        switches=(written | taken).values(),
        links=seen.links,
        problems=_contradictions(seen, set(taken)),
    )


def _contradictions_of(told: Iterable[Switch]) -> Iterable[Problem]:
    entries = [Entry(name=one.name, switches=one.switches, nodes=one.nodes, tier=one.tier) for one in told]
    return forest(entries)[1]


def _text(switch: Switch) -> str:
    below = [
        f" {what} {fold(names)}"
        for what, names in (("switches", switch.switches), ("nodes", switch.nodes))
        if names
    ]
    return f"switch {switch.name} tier {switch.tier}:{''.join(below)}"


def _read(found: Iterable[str], nodes: Collection[str]) -> list[Switch]:
    told: dict[str, Switch] = {}
    left = _LIMIT_NAMES_IN_ALL
    for match in filter(None, map(_LINE.fullmatch, found)):
        try:
            below = expand(match["switches"] or "", min(LIMIT_NAMES, left))
            beneath = expand(match["nodes"] or "", min(LIMIT_NAMES, left - len(below)))
        except HostListError:
            continue
        left -= len(below) + len(beneath)
        told[match["name"]] = Switch(
            name=match["name"],
            tier=int(match["tier"]),
            switches=tuple(below),
            nodes=tuple(node for node in beneath if node in nodes),
        )
    return [
        replace(one, switches=tuple(name for name in one.switches if name in told)) for one in told.values()
    ]


def _contradictions(seen: FleetDescription, taken: set[str]) -> list[Problem]:
    """Problems of the file without those between switches alone whose lines say that they stand so on record."""
    above: dict[str, set[str]] = {}
    for one in seen.switches:
        for below in (*one.switches, *one.nodes):
            above.setdefault(below, set()).add(one.name)

    def is_meant(problem: Problem) -> bool:
        if problem.code in ("tier_order", "missing_tier"):
            return problem.subject in taken
        parents = above.get(problem.subject, set())
        return problem.code in ("node_twice", "switch_twice") and len(parents) > 1 and parents <= taken

    return [problem for problem in seen.problems if not is_meant(problem)]
