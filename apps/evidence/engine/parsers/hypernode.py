"""Volcano's HyperNodes: performance domains in tiers, tier 1 nearest to the nodes.

Only members chosen by exactMatch name nodes; regexMatch and labelMatch are resolved by the cluster. What Volcano
would refuse is read as far as it goes and reported as not acceptable, with the reasons.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from apps.core.texts import say
from apps.evidence.engine.parsers._notes import Notes
from apps.evidence.engine.parsers._objects import (
    items,
    load_objects,
    mapping,
    portal_note,
    sequence,
    text_of,
)
from apps.evidence.engine.parsers._switch_tree import Switch, levels, roots
from apps.evidence.engine.reading import Reading, Unreadable
from apps.evidence.engine.source import Source

KIND = "hypernode"
VERSION = 2

_GROUP = "topology.volcano.sh"
_LIKE = re.compile(r"[\"']?kind[\"']?\s*:\s*[\"']?HyperNode(?:List)?\b")
_SELECTORS = ("exactMatch", "regexMatch", "labelMatch")
_MEMBER_TYPES = ("Node", "HyperNode")


def recognise(sample: str) -> int:
    if not _LIKE.search(sample):
        return 0
    return 95 if _GROUP in sample else 70


def read(source: Source) -> Reading:
    notes = Notes()
    found: list[dict[str, Any]] = []
    refusals: list[str] = []
    other_kinds: list[str] = []
    for document in load_objects(source, notes):
        for item in items(document, ("HyperNodeList",)):
            kind = text_of(item.get("kind"))
            if kind == "HyperNode":
                faults = _Faults(document.line, notes)
                found.append(_hypernode(item, faults))
                refusals += faults.said
            elif kind is not None and kind not in other_kinds:
                other_kinds.append(kind)
    if not found:
        raise Unreadable(say("no HyperNode is in it"), code="no_hypernode")
    whole = _Faults(None, notes)
    _check_tree(found, whole)
    refusals += whole.said
    facts = _facts(found)
    facts |= {
        "acceptable": not refusals,
        "refusals": list(dict.fromkeys(refusals)),
        "other_kinds": other_kinds,
    }
    return Reading(kind=KIND, facts=facts, warnings=notes.all(), parser_version=VERSION)


class _Faults:
    """Reasons for which Volcano would refuse the file, each also a warning with its line."""

    def __init__(self, line: int | None, notes: Notes) -> None:
        self.said: list[str] = []
        self._line, self._notes = line, notes

    def add(self, code: str, message: str) -> None:
        self.said.append(message)
        self.remark(code, message)

    def remark(self, code: str, message: str) -> None:
        """A warning that is no reason to refuse."""
        self._notes.add(code, message, line=self._line)


def _hypernode(item: Mapping[str, Any], faults: _Faults) -> dict[str, Any]:
    metadata = mapping(item.get("metadata"))
    name = text_of(metadata.get("name"))
    version = text_of(item.get("apiVersion"))
    if version is None or not version.startswith(f"{_GROUP}/"):
        faults.add(
            "no_api_version",
            say(
                "apiVersion is %(version)s; %(group)s/v1alpha1 is expected",
                version=version or say("missing"),
                group=_GROUP,
            ),
        )
    if name is None:
        faults.add("no_name", say("metadata.name is missing"))
    name = name or text_of(item.get("name"))
    spec = mapping(item.get("spec"))
    tier = spec.get("tier")
    if not isinstance(tier, int) or isinstance(tier, bool) or tier < 1:
        faults.add("no_tier", say("HyperNode %(name)s: spec.tier is no number from 1 on", name=name))
        tier = None
    members = [_member(mapping(member), name, faults) for member in sequence(spec.get("members"))]
    if not members:
        faults.add("no_members", say("HyperNode %(name)s: spec.members is missing or empty", name=name))
    return {
        "name": name,
        "tier": tier,
        "tier_name": text_of(spec.get("tierName")),
        "nodes_note": portal_note(item),
        "members": members,
    }


def _member(member: Mapping[str, Any], owner: str | None, faults: _Faults) -> dict[str, Any]:
    """type, selector (exactMatch …), name, pattern and labels of a member; what it does not have is None."""
    kind = text_of(member.get("type"))
    if kind not in _MEMBER_TYPES:
        faults.add(
            "member_type",
            say(
                "HyperNode %(owner)s: the type of a member is %(kind)s",
                owner=owner,
                kind=kind or say("missing"),
            ),
        )
    selector = mapping(member.get("selector"))
    used = [name for name in _SELECTORS if name in selector]
    chosen = used[0] if len(used) == 1 else None
    body = mapping(selector.get(chosen)) if chosen else {}
    found = {
        "type": kind,
        "selector": chosen,
        "name": text_of(body.get("name")) if chosen == "exactMatch" else None,
        "pattern": text_of(body.get("pattern")) if chosen == "regexMatch" else None,
        "labels": {key: text_of(value) for key, value in mapping(body.get("matchLabels")).items()} or None,
        "expressions": list(sequence(body.get("matchExpressions"))) or None,
    }
    if chosen is None or not any(found[key] for key in ("name", "pattern", "labels", "expressions")):
        faults.add(
            "member_selector",
            say(
                "HyperNode %(owner)s: a member needs one selector of %(selectors)s",
                owner=owner,
                selectors=", ".join(_SELECTORS),
            ),
        )
    return found


def _exact(hypernode: Mapping[str, Any], kind: str) -> list[str]:
    return [member["name"] for member in hypernode["members"] if member["type"] == kind and member["name"]]


def _all_exact(found: Sequence[Mapping[str, Any]], kind: str) -> bool:
    members = [
        member for hypernode in found for member in hypernode["members"] if member["type"] in (kind, None)
    ]
    return all(member["name"] for member in members)


def _switches(found: Sequence[Mapping[str, Any]]) -> list[Switch]:
    return [Switch(name=each["name"], children=_exact(each, "HyperNode")) for each in found if each["name"]]


def _check_tree(found: Sequence[Mapping[str, Any]], faults: _Faults) -> None:
    """Names used twice, members not defined, tiers that do not rise, rings, nodes in two tier-1 HyperNodes."""
    names = Counter(each["name"] for each in found if each["name"])
    for name, times in names.items():
        if times > 1:
            faults.add(
                "defined_twice", say("HyperNode %(name)s is defined %(times)s times", name=name, times=times)
            )
    tiers = {each["name"]: each["tier"] for each in found}
    homes: dict[tuple[str, str], str] = {}
    for each in found:
        _check_homes(each, homes, faults)
        _check_tiers(each, tiers, faults)
    if levels(_switches(found)) is None and names:
        faults.add("ring", say("the HyperNodes form a ring: some one is beneath itself"))


def _check_homes(each: Mapping[str, Any], homes: dict[tuple[str, str], str], faults: _Faults) -> None:
    """Members that it names twice, or that an earlier one has. homes: kind and name of a member to who has it."""
    name = each["name"]
    for kind in _MEMBER_TYPES:
        for member, times in Counter(_exact(each, kind)).items():
            said = {"kind": kind, "member": member, "name": name}
            if times > 1:
                faults.remark(
                    "member_twice",
                    say("%(kind)s %(member)s is a member of %(name)s %(times)s times", **said, times=times),
                )
            home = homes.setdefault((kind, member), name)
            if home != name:
                faults.add(
                    "two_parents",
                    say("%(kind)s %(member)s is a member of %(home)s and of %(name)s", **said, home=home),
                )


def _check_tiers(each: Mapping[str, Any], tiers: Mapping[str, int | None], faults: _Faults) -> None:
    """HyperNodes among its members that the file does not define, or that are not beneath it."""
    own = each["tier"]
    for member in _exact(each, "HyperNode"):
        said = {"member": member, "name": each["name"]}
        if member not in tiers:
            faults.remark(
                "member_not_defined",
                say("HyperNode %(member)s, a member of %(name)s, is not in the file", **said),
            )
        elif (tier := tiers[member]) is not None and own is not None and tier >= own:
            faults.add(
                "tier_order",
                say("HyperNode %(member)s is a member of %(name)s, whose tier is not above", **said),
            )


def _facts(found: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    members = [member for each in found for member in each["members"]]
    exact_nodes = [node for each in found for node in _exact(each, "Node")]
    return {
        "documents": len(found),
        "hypernodes": len(found),
        "tiers": {str(tier): times for tier, times in Counter(each["tier"] for each in found).items()},
        "names": [each["name"] for each in found],
        "member_types": dict(Counter(member["type"] for member in members if member["type"])),
        "selectors": dict(Counter(member["selector"] for member in members if member["selector"])),
        "leaf_nodes": exact_nodes if _all_exact(found, "Node") else None,
        "roots": roots(_switches(found)) if _all_exact(found, "HyperNode") else None,
        "hypernode_list": list(found),
    }
