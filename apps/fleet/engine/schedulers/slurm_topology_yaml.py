"""Slurm's topology.yaml: several named topologies; ours are fabric (tree), domains and sub-domains (blocks).

Comments carry what they have no word for, the accelerators of nodes (`hints`) and switches that are no tree
(`switch_notes`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from apps.core.hostlist import fold
from apps.fleet.engine.description import FleetDescription, Node, Part, described
from apps.fleet.engine.schedulers import hints, slurm, switch_notes
from apps.fleet.engine.schedulers.export import Export, as_yaml, carried
from apps.fleet.engine.schedulers.forest import Entry

KIND = "slurm_topology_yaml"
FILE_NAME = "topology.yaml"
FABRIC, DOMAINS, SUBDOMAINS = "fabric", "domains", "sub-domains"


def write(fleet: FleetDescription) -> Export:
    """Every topology that the fleet has; the one with the domains is the default of the cluster."""
    sub_blocks, notes = slurm.sub_domain_blocks(fleet)
    topologies: list[dict[str, Any]] = []
    parts = {Part.NODES}
    blocks = slurm.domain_blocks(fleet)
    if blocks.nodes:
        topologies.append(_block_topology(DOMAINS, blocks))
        parts.add(Part.DOMAINS)
    if sub_blocks.nodes:
        topologies.append(_block_topology(SUBDOMAINS, sub_blocks))
        parts.add(Part.SUBDOMAINS)
    if tree := _tree(fleet):
        topologies.append({"topology": FABRIC, "tree": {"switches": tree}})
        parts.add(Part.SWITCHES)
    for place, topology in enumerate(topologies):
        topology["cluster_default"] = place == 0
    said = carried(fleet, *parts)
    listed = {node for switch in fleet.switches for node in switch.nodes}
    listed |= {node.name for node in fleet.nodes if node.domain}
    comments = []
    if topologies:
        comments += hints.lines(fleet.nodes, said=said, listed=listed) + hints.of_empty_homes(fleet)
    if topologies and not slurm.is_tree(fleet):
        comments += switch_notes.lines(fleet)
        notes = (*notes, switch_notes.kept())
    text = "".join([as_yaml([topologies]), *(f"# {line}\n" for line in comments)])
    return Export(file_name=FILE_NAME, text=text, says=said | hints.carried(fleet), notes=notes)


def read(facts: Mapping[str, Any]) -> FleetDescription:
    """The fleet in the facts of a topology.yaml.

    Blocks of our `sub-domains` beside our `domains` are sub-domains; other blocks are domains. Only the first
    tree and the first blocks count: further ones are other views of the same nodes.
    """
    topologies: Sequence[Mapping[str, Any]] = facts["structures"]
    by_name = {str(one["name"]): one for one in topologies}
    tree = next((one for one in topologies if one["kind"] == "tree"), None)
    block = by_name.get(DOMAINS) or next((one for one in topologies if one["kind"] == "block"), None)
    parts = []
    if block is not None and block["kind"] == "block":
        parts.append(_read_blocks(block, by_name.get(SUBDOMAINS)))
    if tree is not None:
        entries = [
            Entry(name=one["name"], switches=tuple(one["children"]), nodes=tuple(one["nodes"]))
            for one in tree["switches"]
        ]
        parts.append(slurm.fleet_of_tree(entries))
    return hints.filled(_joined(parts), facts.get("node_comments", ()))


def _tree(fleet: FleetDescription) -> list[dict[str, str]]:
    made = []
    for entry in slurm.tree_entries(fleet):
        one = {"switch": entry.name}
        if entry.switches:
            one["children"] = fold(entry.switches)
        if entry.nodes:
            one["nodes"] = fold(entry.nodes)
        made.append(one)
    return made


def _block_topology(name: str, blocks: slurm.Blocks) -> dict[str, Any]:
    listed = [{"block": block, "nodes": fold(nodes)} for block, nodes in blocks.nodes.items()]
    return {"topology": name, "block": {"block_sizes": list(blocks.sizes), "blocks": listed}}


def _read_blocks(block: Mapping[str, Any], finer: Mapping[str, Any] | None) -> FleetDescription:
    blocks = [(one["name"], one["nodes"]) for one in block["blocks"]]
    if finer is None or finer["kind"] != "block" or block["name"] != DOMAINS:
        return slurm.fleet_of_blocks(blocks)
    home = {node: name for name, nodes in blocks for node in nodes}
    finer_blocks = [(one["name"], one["nodes"]) for one in finer["blocks"]]
    whole = {name for name, _nodes in blocks}
    domain_of = {
        name: home[nodes[0]]
        for name, nodes in finer_blocks
        if nodes and nodes[0] in home and name not in whole
    }
    inside = {node for _, nodes in finer_blocks for node in nodes}
    plain = [(name, [node for node in nodes if node not in inside]) for name, nodes in blocks]
    return slurm.fleet_of_blocks([*finer_blocks, *plain], domain_of=domain_of)


def _joined(parts: Sequence[FleetDescription]) -> FleetDescription:
    nodes: dict[str, Node] = {}
    for part in parts:
        for node in part.nodes:
            nodes.setdefault(node.name, node)
    return described(
        says=frozenset[Part]().union(*(part.says for part in parts)),
        domains=[one for part in parts for one in part.domains],
        nodes=nodes.values(),
        switches=[one for part in parts for one in part.switches],
        problems=[one for part in parts for one in part.problems],
    )
