"""A described fleet as rows of an import: the way from a scheduler's file into the records.

Only what the description says becomes a cell, so an import leaves the rest as it is. Links that no switch holds have
no row. What a switch has beneath it is a link; where that hung elsewhere on record, the link there goes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from apps.fleet.engine.description import FleetDescription, Node, Part, Switch, rooms_of, slots_of
from apps.fleet.engine.graph import Medium
from apps.fleet.engine.tables import Table


def rows_of(
    fleet: FleetDescription,
    *,
    aliases: Mapping[str, str] | None = None,
    recorded: FleetDescription | None = None,
) -> dict[str, list[dict[str, Any]]]:
    """Table → rows, tables without rows left out.

    aliases: other names of nodes → names on record. recorded: the fleet on record, with the switches of its network.
    """
    names = aliases or {}
    on_record = {node.name: node for node in recorded.nodes} if recorded else {}
    tables = {
        Table.DOMAINS: _domains(fleet),
        Table.NODES: [_node(node, fleet, names) for node in fleet.nodes],
        Table.ACCELERATORS: [
            row
            for node in fleet.nodes
            for row in _cards(_counted(node, on_record.get(names.get(node.name, node.name))), fleet, names)
        ],
        Table.SWITCHES: [{"name": one.name, "tier": one.tier} for one in fleet.switches],
        Table.LINKS: [*_links(fleet, names), *_tree(fleet, names, recorded.switches if recorded else ())],
    }
    return {table.value: rows for table, rows in tables.items() if rows}


def _domains(fleet: FleetDescription) -> list[dict[str, Any]]:
    if Part.DOMAINS not in fleet.says:
        return []
    with_halls = Part.SUBDOMAINS in fleet.says
    return [
        {"name": one.name} | ({"sub_domains": list(one.sub_domains)} if with_halls else {})
        for one in fleet.domains
    ]


def _node(node: Node, fleet: FleetDescription, names: Mapping[str, str]) -> dict[str, Any]:
    row: dict[str, Any] = {"name": names.get(node.name, node.name)}
    if Part.DOMAINS in fleet.says:
        row["domain"] = node.domain
    return row


def _counted(node: Node, recorded: Node | None) -> Node:
    """A node with what the file does not say of its accelerators as it is on record.

    How many they are, where it lies in one sub-domain; and the slots that they are in, where they are as many.
    """
    if recorded is None:
        return node
    if node.cards is None and len(node.spans) == 1:
        node = replace(node, cards=recorded.cards)
    return replace(node, slots=recorded.slots) if not node.slots and node.cards == recorded.cards else node


def _cards(node: Node, fleet: FleetDescription, names: Mapping[str, str]) -> list[dict[str, Any]]:
    rooms = rooms_of(node)
    rows: list[dict[str, Any]] = []
    for place, slot in enumerate(slots_of(node)):
        row: dict[str, Any] = {"node": names.get(node.name, node.name), "index": slot}
        if Part.SUBDOMAINS in fleet.says and rooms[place]:
            row["sub_domain"] = rooms[place]
        model = node.models[place] if place < len(node.models) else node.model
        if Part.MODELS in fleet.says and model:
            row["model"] = model
        rows.append(row)
    return rows


def _links(fleet: FleetDescription, names: Mapping[str, str]) -> list[dict[str, Any]]:
    switches = {one.name for one in fleet.switches}

    def own(end: str) -> str:
        node, slash, rest = end.partition("/")
        return names.get(node, node) + slash + rest

    return [
        {
            "upper": link.a,
            "lower": link.b if link.b in switches else own(link.b),
            "count": link.count,
            "unidirectional_bytes_per_s": link.bandwidth_bytes_per_s,
            "optical": link.kind == Medium.OPTICAL,
        }
        for link in fleet.links
        if link.a in switches
    ]


def _tree(
    fleet: FleetDescription, names: Mapping[str, str], recorded: Sequence[Switch]
) -> list[dict[str, Any]]:
    """What stands beneath each switch; first, with a count of 0, where it stood on record and no longer does."""
    here = {
        (one.name, below): None
        for one in fleet.switches
        for below in (*one.switches, *(names.get(node, node) for node in one.nodes))
    }
    placed = {below for _upper, below in here}
    gone = [
        {"upper": one.name, "lower": below, "count": 0}
        for one in recorded
        for below in (*one.switches, *one.nodes)
        if below in placed and (one.name, below) not in here
    ]
    return [*gone, *({"upper": upper, "lower": below} for upper, below in here)]
