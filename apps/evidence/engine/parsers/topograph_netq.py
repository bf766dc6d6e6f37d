"""Compute nodes of NVLink domains as NetQ and NMX-M answer topograph: a JSON list of nodes with their GPUs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from apps.core.texts import say
from apps.evidence.engine.parsers._notes import Notes
from apps.evidence.engine.parsers._objects import load_objects, mapping, text_of
from apps.evidence.engine.reading import Reading, Unreadable
from apps.evidence.engine.source import Source

KIND = "topograph_netq"
VERSION = 1

_LOCATION = {
    "chassis_id": "ChassisID",
    "chassis_serial": "ChassisSerialNumber",
    "host_id": "HostID",
    "slot_id": "SlotID",
    "tray_index": "TrayIndex",
}


def recognise(sample: str) -> int:
    return 95 if '"DomainUUID"' in sample and '"GpuIDList"' in sample else 0


def read(source: Source) -> Reading:
    notes = Notes()
    nodes: list[dict[str, Any]] = []
    seen: set[str] = set()
    for document in load_objects(source, notes):
        value = document.value
        for entry in value if isinstance(value, list) else [value]:
            if not isinstance(entry, dict) or "DomainUUID" not in entry:
                notes.add("not_a_node", say("an entry without DomainUUID is passed over"), line=document.line)
                continue
            node = _node(entry)
            if node["name"] is None or node["name"] in seen:
                notes.add(
                    "name",
                    say("a node has no name or one that came before (%(name)s)", name=node["name"]),
                    line=document.line,
                )
                continue
            if node["gpus"] is None:
                notes.add(
                    "no_gpus", say("node %(name)s has no list of GPUs", name=node["name"]), line=document.line
                )
            if len(set(map(str, entry.get("GpuIDList") or ()))) != (node["gpus"] or 0):
                notes.add(
                    "repeated_gpu",
                    say("node %(name)s lists a GPU twice", name=node["name"]),
                    line=document.line,
                )
            seen.add(node["name"])
            nodes.append(node)
    if not nodes:
        raise Unreadable(say("no node with a DomainUUID is in it"), code="no_nodes")
    domains = (node["domain_uuid"] for node in nodes)
    facts = {
        "nodes": [node["name"] for node in nodes],
        "domain_uuids": list(dict.fromkeys(domain for domain in domains if domain is not None)),
        "gpus_per_node": {node["name"]: node["gpus"] for node in nodes},
        "health": {node["name"]: node["health"] for node in nodes},
        "node_list": nodes,
    }
    return Reading(kind=KIND, facts=facts, warnings=notes.all(), parser_version=VERSION)


def _node(entry: Mapping[str, Any]) -> dict[str, Any]:
    gpus = entry.get("GpuIDList")
    place = mapping(entry.get("LocationInfo"))
    return {
        "name": text_of(entry.get("Name")),
        "domain_uuid": text_of(entry.get("DomainUUID")),
        "gpus": len(gpus) if isinstance(gpus, list) else None,
        "health": text_of(entry.get("Health")),
        "updated_at": text_of(entry.get("UpdatedAt")),
        **{key: text_of(place.get(name)) for key, name in _LOCATION.items()},
    }
