"""topograph's models of a cluster: switches, and blocks of nodes beneath them, as YAML.

Newer files have a map of switches and `blocks` with host lists; older ones have a list of switches that name
their `capacity_blocks`, and those name an NVLink domain.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from apps.core.texts import say
from apps.evidence.engine.parsers._notes import Notes
from apps.evidence.engine.parsers._objects import load_objects, mapping, sequence, text_of
from apps.evidence.engine.parsers._switch_tree import HostLists, Switch, check, check_nodes, levels, roots
from apps.evidence.engine.reading import Reading, Unreadable
from apps.evidence.engine.source import Source

KIND = "topograph_model"
VERSION = 1

_SWITCHES = re.compile(r"(?<![\w-])switches\s*:\s*(?:\n|\{)")
_BLOCKS = re.compile(r"(?<![\w-])(?:capacity_)?blocks\s*:\s*(?:\n|\[)")
_DOMAIN_KEY = re.compile(r"(?:^|[./])(?:domain|accelerator)$")


def recognise(sample: str) -> int:
    return 70 if _SWITCHES.search(sample) and _BLOCKS.search(sample) else 0


def read(source: Source) -> Reading:
    notes = Notes()
    models = [
        document
        for document in load_objects(source, notes)
        if isinstance(document.value, dict)
        and ("blocks" in document.value or "capacity_blocks" in document.value)
    ]
    if not models:
        raise Unreadable(say("no document has switches and blocks"), code="no_topology")
    if len(models) > 1:
        notes.add("repeated_document", say("more than one model; the first is read"), line=models[1].line)
    model, line = models[0].value, models[0].line
    switches = list(_switches(model.get("switches"), line, notes))
    blocks = list(_blocks(model, switches, line, notes))
    check_nodes(((block["name"] or "a block", block["nodes"], line) for block in blocks), notes)
    if 0 < sum(block["domain"] is None for block in blocks) < len(blocks):
        notes.add("no_domain", say("some blocks name an NVLink domain and others do not"), line=line)
    domains: dict[str, int] = {}
    for block in blocks:
        if block["domain"] is not None:
            domains[block["domain"]] = domains.get(block["domain"], 0) + len(block["nodes"])
    tree = [Switch(name=switch["name"], children=switch["children"], line=line) for switch in switches]
    check(tree, notes, leaves_are_defined=False)
    leaves = [block["switch"] for block in blocks if block["switch"] is not None]
    facts = {
        "switches": [switch["name"] for switch in switches],
        "leaf_switches": list(dict.fromkeys(leaves)),
        "roots": roots(tree),
        "levels": levels(tree),
        "blocks": domains,
        "nodes": sum(len(block["nodes"]) for block in blocks),
        "switch_list": switches,
        "block_list": blocks,
    }
    return Reading(kind=KIND, facts=facts, warnings=notes.all(), parser_version=VERSION)


def _switches(value: Any, line: int, notes: Notes) -> Iterator[dict[str, Any]]:
    """name, children, labels and the names of capacity blocks of each switch, of either form."""
    entries: list[tuple[str | None, Mapping[str, Any]]]
    if isinstance(value, dict):
        entries = [(name, mapping(body)) for name, body in value.items()]
    else:
        entries = [(text_of(mapping(body).get("name")), mapping(body)) for body in sequence(value)]
    seen: set[str] = set()
    for name, body in entries:
        if name is None or name in seen:
            notes.add(
                "name",
                say("a switch has no name or one that came before (%(name)s); not read", name=name),
                line=line,
            )
            continue
        seen.add(name)
        labels = mapping(body.get("labels")) or mapping(body.get("metadata"))
        yield {
            "name": name,
            "children": _texts(body.get("switches")),
            "labels": {key: text_of(label) for key, label in labels.items()},
            "capacity_blocks": _texts(body.get("capacity_blocks")),
        }


def _blocks(
    model: Mapping[str, Any], switches: list[dict[str, Any]], line: int, notes: Notes
) -> Iterator[dict[str, Any]]:
    """name, switch, nodes, domain (None where none is said), labels of each block, of either form."""
    lists = HostLists(notes)
    switch_of = {block: switch["name"] for switch in switches for block in switch["capacity_blocks"]}
    for entry in (*sequence(model.get("blocks")), *sequence(model.get("capacity_blocks"))):
        body = mapping(entry)
        name = text_of(body.get("name"))
        nodes = [node for text in _texts(body.get("nodes")) for node in lists.expand(text, line=line)]
        if not nodes:
            notes.add(
                "empty",
                say("the block %(name)s has no nodes", name=name or text_of(body.get("switch")) or ""),
                line=line,
            )
        labels = {
            key: text_of(value)
            for source in ("labels", "annotations")
            for key, value in mapping(body.get(source)).items()
        }
        stated = (value for key, value in labels.items() if _DOMAIN_KEY.search(key))
        yield {
            "name": name,
            "switch": text_of(body.get("switch")) or switch_of.get(name or ""),
            "domain": text_of(body.get("nvlink")) or next(stated, None),
            "type": text_of(body.get("type")),
            "nodes": nodes,
            "labels": labels,
        }


def _texts(value: Any) -> list[str]:
    """A text, or the texts of a list."""
    return [
        text
        for entry in (value if isinstance(value, list) else [value])
        if (text := text_of(entry)) is not None
    ]
