"""Slurm's topology.conf: one tree of switches, or blocks of nodes.

Comments carry what the format has no word for: `# name=text` the real name of a switch (as topograph writes it) and
the domain of a block that is a sub-domain, `# nodes …` the accelerators of nodes (`hints`), `# switch …` switches
that are no tree, and those of a fleet in blocks (`switch_notes`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from typing import Any

from apps.core.hostlist import fold
from apps.core.texts import say
from apps.fleet.engine.description import FleetDescription, Part
from apps.fleet.engine.schedulers import hints, slurm, switch_notes
from apps.fleet.engine.schedulers.export import Export, Note, carried, domain_of_sub_domain, domains_as_nodes
from apps.fleet.engine.schedulers.forest import Entry

KIND = "slurm_topology_conf"
FILE_NAME = "topology.conf"
PART_OF = "sub-domain-of:"


class Plugin(StrEnum):
    TREE = "tree"
    BLOCK = "block"


def write(fleet: FleetDescription, *, plugin: Plugin | None = None) -> Export:
    """One plugin's file; without a choice, blocks where the fleet has domains and a tree otherwise."""
    if plugin is None:
        plugin = Plugin.BLOCK if domains_as_nodes(fleet) else Plugin.TREE
    return _tree(fleet) if plugin is Plugin.TREE else _blocks(fleet)


def read(facts: Mapping[str, Any]) -> FleetDescription:
    """The fleet in the facts of a topology.conf: its switches, or else its blocks."""
    return hints.filled(_read(facts), facts.get("node_comments", ()))


def _read(facts: Mapping[str, Any]) -> FleetDescription:
    if facts["switch_list"]:
        return slurm.fleet_of_tree(
            [
                Entry(
                    name=one["name"],
                    switches=tuple(one["children"]),
                    nodes=tuple(one["nodes"]),
                    real_name=one["real_name"] or "",
                )
                for one in facts["switch_list"]
            ]
        )
    real_names = {one["name"]: one["real_name"] or "" for one in facts["block_list"]}
    return slurm.fleet_of_blocks(
        [(one["name"], one["nodes"]) for one in facts["block_list"]],
        domain_of={
            name: text.removeprefix(PART_OF) for name, text in real_names.items() if text.startswith(PART_OF)
        },
        real_names=real_names,
    )


def _tree(fleet: FleetDescription) -> Export:
    notes = []
    entries = slurm.tree_entries(fleet)
    if not entries:
        notes.append(
            Note(
                code="no_switches",
                message=say(
                    "no switch on record has nodes beneath it, so the tree is empty; blocks name the domains"
                ),
            )
        )
    loose = len(fleet.nodes) - len({node for switch in fleet.switches for node in switch.nodes})
    if entries and loose > 0:
        notes.append(Note(code="loose_nodes", message=say("nodes beneath no switch: %(loose)s", loose=loose)))
    lines = [line for entry in entries for line in _switch_lines(entry)]
    beside = not slurm.is_tree(fleet)
    listed = {node for switch in fleet.switches for node in switch.nodes}
    return _export(
        fleet, lines, carried(fleet, Part.NODES, Part.SWITCHES), listed, notes, with_switches=beside
    )


def _export(
    fleet: FleetDescription,
    lines: Sequence[str],
    said: frozenset[Part],
    listed: set[str],
    notes: Sequence[Note],
    *,
    with_switches: bool,
) -> Export:
    """A file of these lines, and comments for what they leave unsaid: last, so that the file begins with what it is.

    said: the parts, and listed: the nodes, that the lines name.
    """
    if not lines:
        return Export(file_name=FILE_NAME, text="", says=frozenset(), notes=tuple(notes))
    beside = hints.lines(fleet.nodes, said=said, listed=listed) + hints.of_empty_homes(fleet)
    if with_switches:
        beside += switch_notes.lines(fleet)
        notes, said = [*notes, switch_notes.kept()], said | carried(fleet, Part.SWITCHES)
    return Export(
        file_name=FILE_NAME,
        text="".join(f"{line}\n" for line in (*lines, *(f"# {line}" for line in beside))),
        says=said | hints.carried(fleet),
        notes=tuple(notes),
    )


def _switch_lines(entry: Entry) -> Iterator[str]:
    if entry.real_name:
        yield f"# {entry.name}={entry.real_name}"
    line = f"SwitchName={entry.name}"
    if entry.switches:
        line += f" Switches={fold(entry.switches)}"
    if entry.nodes:
        line += f" Nodes={fold(entry.nodes)}"
    yield line


def _blocks(fleet: FleetDescription) -> Export:
    blocks, notes = slurm.sub_domain_blocks(fleet)
    parts = carried(fleet, Part.NODES, Part.DOMAINS, Part.SUBDOMAINS)
    domain_of = domain_of_sub_domain(fleet)
    if not blocks.nodes:
        blocks, domain_of, parts = slurm.domain_blocks(fleet), {}, parts - {Part.SUBDOMAINS}
    real_names = {domain.name: domain.real_name for domain in fleet.domains}
    lines = []
    for name, nodes in blocks.nodes.items():
        if name in domain_of:
            lines.append(f"# {name}={PART_OF}{domain_of[name]}")
        elif real_names.get(name):
            lines.append(f"# {name}={real_names[name]}")
        lines.append(f"BlockName={name} Nodes={fold(nodes)}")
    if blocks.sizes:
        lines.append(f"BlockSizes={','.join(str(size) for size in blocks.sizes)}")
    if fleet.switches:
        message = say("switches are left out: blocks have no word for them")
        notes = (*notes, Note(code="switches_left_out", message=message))
    listed = {node for nodes in blocks.nodes.values() for node in nodes}
    return _export(fleet, lines, parts, listed, notes, with_switches=bool(fleet.switches))
