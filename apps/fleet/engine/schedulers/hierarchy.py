"""The levels that a scheduler can nest nodes in: sub-domain, domain, and the switch tiers around domains."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from apps.core.texts import say
from apps.fleet.engine.description import FleetDescription, Part
from apps.fleet.engine.schedulers.export import (
    Note,
    carried,
    domains_as_nodes,
    sub_domains_as_nodes,
)
from apps.fleet.engine.schedulers.forest import Beneath


class Role(StrEnum):
    SUBDOMAIN = "sub-domain"
    DOMAIN = "domain"
    SWITCH = "switch"


@dataclass(frozen=True, slots=True, kw_only=True)
class Level:
    """One level of groups that do not overlap. tier: of the switches, 0 otherwise."""

    role: Role
    groups: Mapping[str, tuple[str, ...]]
    tier: int = 0

    @property
    def key(self) -> str:
        """sub-domain, domain, switch-tier-1 …: what the level is called in labels and tier names."""
        return f"{self.role.value}-tier-{self.tier}" if self.role is Role.SWITCH else self.role.value

    def group_of(self) -> dict[str, str]:
        return {node: name for name, nodes in self.groups.items() for node in nodes}


@dataclass(frozen=True, slots=True, kw_only=True)
class Hierarchy:
    """levels: innermost first, each node in at most one group of each. says: what they carry in whole."""

    levels: tuple[Level, ...]
    says: frozenset[Part]
    notes: tuple[Note, ...]


def level_of_key(key: str) -> tuple[Role, int] | None:
    """Role and tier of a level's name; None for a name that is not one of ours."""
    if key in (Role.SUBDOMAIN.value, Role.DOMAIN.value):
        return Role(key), 0
    tier = key.removeprefix("switch-tier-")
    return (Role.SWITCH, int(tier)) if tier != key and tier.isdecimal() and len(tier) < 4 else None


def hierarchy(fleet: FleetDescription) -> Hierarchy:
    """The levels of a fleet. A switch tier that cuts through domains or the tier below is left out, with a note."""
    sub_domains, notes = sub_domains_as_nodes(fleet)
    domains = domains_as_nodes(fleet)
    levels = []
    if sub_domains:
        levels.append(Level(role=Role.SUBDOMAIN, groups=sub_domains))
    if domains:
        levels.append(Level(role=Role.DOMAIN, groups=domains))
    kept, left_out = _switch_levels(fleet, domains)
    parts = [Part.NODES, Part.DOMAINS]
    if sub_domains:
        parts.append(Part.SUBDOMAINS)
    if not left_out:
        parts.append(Part.SWITCHES)
    return Hierarchy(levels=(*levels, *kept), says=carried(fleet, *parts), notes=(*notes, *left_out))


def _switch_levels(
    fleet: FleetDescription, domains: Mapping[str, tuple[str, ...]]
) -> tuple[list[Level], tuple[Note, ...]]:
    beneath = Beneath(fleet.switches)
    home = {node: name for name, nodes in domains.items() for node in nodes}
    kept: list[Level] = []
    notes = []
    order = [node.name for node in fleet.nodes]
    for tier in sorted({switch.tier for switch in fleet.switches}):
        groups = {
            one.name: beneath[one.name]
            for one in fleet.switches
            if one.tier == tier and beneath.bits(one.name)
        }
        if not groups:
            continue
        fault = _overlap(groups) or _cuts(groups, domains, home, say("domain"))
        if not fault and kept:
            fault = _cuts(groups, kept[-1].groups, kept[-1].group_of(), say("switch"))
        if fault:
            message = say("switch tier %(tier)s is left out: %(fault)s", tier=tier, fault=fault)
            notes.append(Note(code="tier_not_nested", message=message))
            continue
        kept.append(
            Level(
                role=Role.SWITCH,
                tier=tier,
                groups={
                    name: tuple(node for node in order if node in nodes) for name, nodes in groups.items()
                },
            )
        )
    return kept, tuple(notes)


def _overlap(groups: Mapping[str, frozenset[str]]) -> str:
    seen: dict[str, str] = {}
    for name, nodes in groups.items():
        for node in sorted(nodes):
            if node in seen:
                return say(
                    "node %(node)s is beneath %(seen)s and %(name)s", node=node, seen=seen[node], name=name
                )
            seen[node] = name
    return ""


def _cuts(
    groups: Mapping[str, frozenset[str]],
    inner: Mapping[str, tuple[str, ...]],
    home: Mapping[str, str],
    what: str,
) -> str:
    for name, nodes in groups.items():
        for one in sorted({home[node] for node in nodes if node in home}):
            if not nodes.issuperset(inner[one]):
                return say(
                    "%(name)s has only a part of %(what)s %(inner)s beneath it",
                    name=name,
                    what=what,
                    inner=one,
                )
    return ""
