"""Slurm's topology.yaml (since 25.05): several named topologies of the kinds tree, block, flat, ring, torus3d.

Where both files are there, Slurm reads this one and not topology.conf.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from math import prod
from typing import Any

from apps.core.texts import say
from apps.evidence.engine.parsers._notes import Notes
from apps.evidence.engine.parsers._objects import load_objects, mapping, sequence, text_of
from apps.evidence.engine.parsers._switch_tree import (
    HostLists,
    Switch,
    check,
    check_nodes,
    levels,
    node_comments,
    roots,
)
from apps.evidence.engine.reading import Reading, Unreadable
from apps.evidence.engine.source import Source

KIND = "slurm_topology_yaml"
VERSION = 4

KINDS = ("tree", "block", "flat", "ring", "torus3d")
_LIKE = re.compile(r"(?:^|[\s{,\"-])topology\"?\s*:\s*\S", re.MULTILINE)
_LIKE_KIND = re.compile(r"(?:^|[\s{,\"])(?:tree|block|flat|ring|torus3d)\"?\s*:(?:\s|$)", re.MULTILINE)
_TRUE, _FALSE = {"true", "yes", "on", "1"}, {"false", "no", "off", "0"}


def recognise(sample: str) -> int:
    return 90 if _LIKE.search(sample) and _LIKE_KIND.search(sample) else 0


def read(source: Source) -> Reading:
    notes = Notes()
    reader = _Reader(notes)
    for document in load_objects(source, notes):
        value = document.value
        for entry in value if isinstance(value, list) else [value]:
            if isinstance(entry, dict) and "topology" in entry:
                reader.take(entry, document.line)
            else:
                notes.add(
                    "not_a_topology",
                    say("an entry without the key topology is passed over"),
                    line=document.line,
                )
    if not reader.topologies:
        raise Unreadable(say("topology.yaml: no entry has the key topology"), code="no_topology")
    if sum(topology["cluster_default"] is True for topology in reader.topologies) > 1:
        notes.add("two_defaults", say("more than one topology is the default of the cluster"))
    facts = {
        "topologies": reader.topologies,
        "structures": reader.structures,
        "node_comments": node_comments(source.lines()),
    }
    return Reading(kind=KIND, facts=facts, warnings=notes.all(), parser_version=VERSION)


class _Reader:
    """Collects topologies (counts) and, beside them, their structures (names)."""

    def __init__(self, notes: Notes) -> None:
        self.notes = notes
        self.topologies: list[dict[str, Any]] = []
        self.structures: list[dict[str, Any]] = []
        self._lists = HostLists(notes)

    def take(self, entry: Mapping[str, Any], line: int) -> None:
        name = text_of(entry["topology"])
        if name is None or any(topology["name"] == name for topology in self.topologies):
            self.notes.add(
                "name", say("a topology has no name or one that came before (%(name)s)", name=name), line=line
            )
        kinds = [kind for kind in KINDS if kind in entry]
        if len(kinds) != 1:
            self.notes.add(
                "kind",
                say(
                    "topology %(name)s: one kind expected, found %(kinds)s",
                    name=name,
                    kinds=kinds or say("none"),
                ),
                line=line,
            )
        kind = kinds[0] if kinds else None
        counts, structure = self._read(kind, mapping(entry[kind]), line) if kind else ({}, {})
        default = _truth(entry.get("cluster_default"))
        self.topologies.append({"name": name, "kind": kind, "cluster_default": default, **counts})
        self.structures.append({"name": name, "kind": kind, **structure})

    def _read(self, kind: str, body: Mapping[str, Any], line: int) -> tuple[dict[str, Any], dict[str, Any]]:
        match kind:
            case "tree":
                return self._tree(body, line)
            case "block":
                return self._blocks(body, line)
            case "ring":
                rings = list(self._groups(body, "rings", "ring", line))
                return {"nodes": _node_count(rings)}, {"rings": rings}
            case "torus3d":
                groups = zip(self._groups(body, "toruses", "name", line), _maps(body, "toruses"), strict=True)
                toruses = [self._torus(group, given, line) for group, given in groups]
                return {"nodes": _node_count(toruses)}, {"toruses": toruses}
        return {}, {"options": {key: text_of(value) for key, value in body.items()}}

    def _torus(self, group: dict[str, Any], given: Mapping[str, Any], line: int) -> dict[str, Any]:
        """Name, nodes, size and placements of a torus; its nodes should fill it."""
        dims = _dims(given)
        placements = [_dims(each) for each in _maps(given, "placements")]
        sizes = [size for each in (dims, *placements) for size in each.values()]
        if None in sizes or any(placements.count(each) > 1 for each in placements):
            self.notes.add(
                "value_not_understood",
                say("a size of the torus %(name)s is missing or twice", name=group["name"]),
                line=line,
            )
        elif prod(size for size in dims.values() if size is not None) != len(group["nodes"]):
            self.notes.add(
                "count_differs",
                say("the torus %(name)s has more or fewer places than nodes", name=group["name"]),
                line=line,
            )
        return {**group, "dims": dims, "placements": placements}

    def _tree(self, body: Mapping[str, Any], line: int) -> tuple[dict[str, Any], dict[str, Any]]:
        switches = [
            Switch(
                name=group["name"] or "",
                children=self._names(given.get("children"), line),
                nodes=group["nodes"],
            )
            for group, given in zip(
                self._groups(body, "switches", "switch", line), _maps(body, "switches"), strict=True
            )
        ]
        check(switches, self.notes)
        listed = [{"name": each.name, "children": each.children, "nodes": each.nodes} for each in switches]
        counts = {"switches": len(switches), "nodes": _node_count(listed)}
        return counts, {"switches": listed, "roots": roots(switches), "levels": levels(switches)}

    def _blocks(self, body: Mapping[str, Any], line: int) -> tuple[dict[str, Any], dict[str, Any]]:
        blocks = list(self._groups(body, "blocks", "block", line))
        check_nodes(((block["name"], block["nodes"], line) for block in blocks), self.notes)
        sizes = sequence(body.get("block_sizes"))
        if not all(isinstance(size, int) and not isinstance(size, bool) for size in sizes):
            self.notes.add("value_not_understood", say("block_sizes is no list of numbers"), line=line)
            sizes = []
        if len(set(sizes)) != len(sizes):
            self.notes.add("size_twice", say("a block size is listed twice"), line=line)
        counts = {"block_sizes": list(sizes), "blocks": len(blocks), "nodes": _node_count(blocks)}
        return counts, {"blocks": blocks}

    def _groups(
        self, body: Mapping[str, Any], key: str, name_key: str, line: int
    ) -> Iterator[dict[str, Any]]:
        """Name and nodes of each map of a list; a warning where the list or a name is missing."""
        if not _maps(body, key) or len(_maps(body, key)) != len(sequence(body.get(key))):
            self.notes.add(
                "value_not_understood",
                say("%(key)s is missing, empty or no list of maps", key=key),
                line=line,
            )
        seen: set[str] = set()
        for given in _maps(body, key):
            name = text_of(given.get(name_key))
            if name is None or name in seen:
                self.notes.add(
                    "name",
                    say(
                        "an entry of %(key)s has no name or one that came before (%(name)s)",
                        key=key,
                        name=name,
                    ),
                    line=line,
                )
            seen.add(name or "")
            yield {"name": name, "nodes": self._names(given.get("nodes"), line)}

    def _names(self, value: Any, line: int) -> list[str]:
        """The names of a host list, given as text or as a list of texts."""
        texts = value if isinstance(value, list) else [value]
        return [name for text in texts for name in self._lists.expand(text_of(text), line=line)]


def _maps(body: Mapping[str, Any], key: str) -> list[Mapping[str, Any]]:
    return [entry for entry in sequence(body.get(key)) if isinstance(entry, dict)]


def _node_count(groups: list[dict[str, Any]]) -> int:
    return sum(len(group["nodes"]) for group in groups)


def _dims(given: Mapping[str, Any]) -> dict[str, int | None]:
    dims = mapping(given.get("dims"))
    return {axis: size if isinstance(size := dims.get(axis), int) else None for axis in ("x", "y", "z")}


def _truth(value: Any) -> bool | None:
    word = (text_of(value) or "").casefold()
    return True if word in _TRUE else False if word in _FALSE else None
