"""Kueue's Topology: the node labels of each level, widest first. Names of nodes are not in it."""

from __future__ import annotations

import re
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
from apps.evidence.engine.reading import Reading, Unreadable
from apps.evidence.engine.source import Source

KIND = "kueue_topology"
VERSION = 2

_GROUP = "kueue.x-k8s.io"
_LIKE = re.compile(r"[\"']?kind[\"']?\s*:\s*[\"']?Topology(?:List)?\b")


def recognise(sample: str) -> int:
    return 95 if _GROUP in sample and _LIKE.search(sample) else 0


def read(source: Source) -> Reading:
    notes = Notes()
    topologies: dict[str, list[str]] = {}
    versions: list[str] = []
    other_kinds: list[str] = []
    flavors: list[dict[str, Any]] = []
    portal_notes: list[str | None] = []
    for document in load_objects(source, notes):
        for item in items(document, ("TopologyList",)):
            kind, version = text_of(item.get("kind")), text_of(item.get("apiVersion")) or ""
            if kind == "Topology" and version.startswith(f"{_GROUP}/"):
                versions.append(version)
                _take(item, topologies, document.line, notes)
                portal_notes.append(portal_note(item))
            elif kind is not None and kind not in other_kinds:
                other_kinds.append(kind)
            if kind == "ResourceFlavor":
                flavors.append(_flavor(item))
    if not versions:
        raise Unreadable(say("no Topology of kueue.x-k8s.io is in it"), code="no_topology")
    for other in dict.fromkeys(versions[1:]):
        if other != versions[0]:
            notes.add(
                "two_versions",
                say(
                    "topologies of %(versions)s and of %(other)s in one file",
                    versions=versions[0],
                    other=other,
                ),
            )
    facts = {
        "api_version": versions[0],
        "topologies": topologies,
        "other_kinds": other_kinds,
        "flavors": flavors,
        "portal_notes": portal_notes,
    }
    return Reading(kind=KIND, facts=facts, warnings=notes.all(), parser_version=VERSION)


def _take(item: Any, topologies: dict[str, list[str]], line: int, notes: Notes) -> None:
    name = text_of(mapping(item.get("metadata")).get("name"))
    if name is None or name in topologies:
        notes.add(
            "name",
            say("a Topology has no name or one that came before (%(name)s); not read", name=name),
            line=line,
        )
        return
    levels = [
        text_of(mapping(level).get("nodeLabel"))
        for level in sequence(mapping(item.get("spec")).get("levels"))
    ]
    if not levels or None in levels or len(set(levels)) != len(levels):
        notes.add(
            "levels",
            say("Topology %(name)s: a level has no nodeLabel, or one that came before", name=name),
            line=line,
        )
    topologies[name] = [label for label in levels if label is not None]


def _flavor(item: Any) -> dict[str, Any]:
    """A ResourceFlavor: its name, the topology that it uses, and the labels of its nodes."""
    spec = mapping(item.get("spec"))
    return {
        "name": text_of(mapping(item.get("metadata")).get("name")),
        "topology": text_of(spec.get("topologyName")),
        "node_labels": {key: text_of(value) for key, value in mapping(spec.get("nodeLabels")).items()},
    }
