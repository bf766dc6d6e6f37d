"""topograph's cluster models: switches, and blocks of nodes beneath them that name their NVLink domain."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from apps.fleet.engine.description import FleetDescription, Part, described
from apps.fleet.engine.schedulers import slurm
from apps.fleet.engine.schedulers.forest import Entry

KIND = "topograph_model"


def read(facts: Mapping[str, Any]) -> FleetDescription:
    """The fleet in the facts of a model; a switch that only blocks name is a leaf."""
    beneath: dict[str, list[str]] = {}
    blocks: dict[str, list[str]] = {}
    for block in facts["block_list"]:
        if block["switch"]:
            beneath.setdefault(block["switch"], []).extend(block["nodes"])
        if block["domain"]:
            blocks.setdefault(block["domain"], []).extend(block["nodes"])
    children = {one["name"]: tuple(one["children"]) for one in facts["switch_list"]}
    tree = slurm.fleet_of_tree(
        [
            Entry(name=name, switches=children.get(name, ()), nodes=tuple(beneath.get(name, ())))
            for name in dict.fromkeys([*children, *beneath])
        ]
    )
    homes = slurm.fleet_of_blocks(blocks.items())
    domain_of = {node.name: node.domain for node in homes.nodes}
    names = dict.fromkeys(node for block in facts["block_list"] for node in block["nodes"])
    nodes = {node.name: node for node in (*homes.nodes, *tree.nodes)}
    return described(
        says=[Part.NODES, Part.SWITCHES, *([Part.DOMAINS] if blocks else [])],
        domains=homes.domains,
        nodes=[replace(nodes[name], domain=domain_of.get(name, "")) for name in names if name in nodes],
        switches=tree.switches,
        problems=[*homes.problems, *tree.problems],
    )
