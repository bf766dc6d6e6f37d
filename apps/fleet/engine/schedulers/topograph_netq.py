"""Compute nodes as NetQ and NMX-M list them: each with the UUID of its NVLink domain and its GPUs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from apps.fleet.engine.description import Domain, FleetDescription, Node, Part, described

KIND = "topograph_netq"


def read(facts: Mapping[str, Any]) -> FleetDescription:
    """The fleet in the facts of the list; domains are named by UUID."""
    nodes = [
        Node(name=one["name"], domain=one["domain_uuid"] or "", cards=one["gpus"])
        for one in facts["node_list"]
    ]
    counted = all(node.cards is not None for node in nodes)
    return described(
        says=[Part.NODES, Part.DOMAINS, *([Part.CARDS] if counted else [])],
        domains=[Domain(name=uuid) for uuid in facts["domain_uuids"]],
        nodes=nodes,
    )
