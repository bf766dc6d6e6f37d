"""Slurm's topology.conf: a tree of switches or blocks of nodes, as slurm.conf(5) reads its files.

Parameter names in any case, `#` starts a comment anywhere, a backslash at the end joins lines. topograph puts
the name that a switch or block really has in a comment above it, as `# switch.1.1=leaf-1-1`.
`scontrol show topology` prints the same lines with levels, and repeats on upper levels the nodes beneath.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from apps.core.texts import say
from apps.evidence.engine.parsers._dressing import one_process, plain_lines
from apps.evidence.engine.parsers._notes import Notes
from apps.evidence.engine.parsers._switch_tree import (
    HostLists,
    Switch,
    check,
    check_nodes,
    levels,
    node_comments,
    roots,
)
from apps.evidence.engine.parsers._values import count
from apps.evidence.engine.reading import Reading, Unreadable
from apps.evidence.engine.source import Line, Source

KIND = "slurm_topology_conf"
VERSION = 5

_KEY = re.compile(r"\w+=")
_DEFINITION = re.compile(r"(?:SwitchName|BlockName|BlockSizes)\s*=", re.IGNORECASE)
_LIKE = re.compile(r"^[^#\n]{0,80}?\b(?:SwitchName|BlockName)\s*=\s*\S", re.IGNORECASE | re.MULTILINE)
_PARAMETER = re.compile(r"\b([A-Za-z][\w.]{0,30})\s{0,20}=\s{0,20}(?:\"([^\"]*)\"|(\S+))")
_REAL_NAME = re.compile(r"\s*#\s*([^\s=#]{1,255})\s*=\s*(\S.{0,254}?)\s*")
_INCLUDE = re.compile(r"\s*include\s+(\S+)", re.IGNORECASE)
_KNOWN = {"switchname", "switches", "nodes", "linkspeed", "blockname", "blocksizes"}
_SHOWN = {"level", "blockindex", "blocksize", "aggregatedblock"}


def recognise(sample: str) -> int:
    return 95 if _LIKE.search(sample) else 0


def read(source: Source) -> Reading:
    notes = Notes()
    lines = one_process(plain_lines(source), _is_output, notes)
    config = _Config(notes)
    for line in _logical(lines):
        config.take(line)
    if not config.switches and not config.blocks:
        raise Unreadable(
            say("topology.conf: neither a SwitchName nor a BlockName line could be read"), code="no_topology"
        )
    if not source.text().endswith("\n"):
        notes.add("last_line_not_ended", say("the last line has no line end; the file may be cut there"))
    real_names = _real_names(lines, {part.name for part in (*config.switches, *config.blocks)})
    facts = {**_facts(config, real_names), "node_comments": node_comments(lines)}
    check(config.switches, notes)
    check_nodes(((block.name, block.nodes, block.line) for block in config.blocks), notes)
    if config.switches and config.blocks:
        notes.add("two_kinds", say("both switches and blocks are defined; Slurm uses one kind"))
    return Reading(kind=KIND, facts=facts, warnings=notes.all(), parser_version=VERSION)


def _is_output(lines: list[Line]) -> bool:
    return any(_DEFINITION.search(line.text) for line in lines)


def _logical(lines: Sequence[Line]) -> Iterator[Line]:
    """Lines without comments and blank ones, joined where a backslash ends them; numbered by the first."""
    held: Line | None = None
    for line in lines:
        text = re.split(r"(?<!\\)#", line.text, maxsplit=1)[0].rstrip()
        joined = Line(line.number, text)
        if held is not None:  # the lines touch, so that a list may go on; a key always begins anew
            between = " " if _KEY.match(text) else ""
            joined = Line(held.number, f"{held.text}{between}{text}")
        if text.endswith("\\"):
            held = Line(joined.number, joined.text[:-1])
            continue
        held = None
        if joined.text.strip():
            yield joined
    if held is not None and held.text.strip():
        yield held


class _Config:
    """What the lines define. block_sizes: None where no line says them."""

    def __init__(self, notes: Notes) -> None:
        self.notes = notes
        self.switches: list[Switch] = []
        self.blocks: list[Switch] = []
        self.block_sizes: list[int] | None = None
        self.link_speeds: dict[str, str] = {}
        self._lists = HostLists(notes)
        self._names: set[tuple[str, str]] = set()

    def take(self, line: Line) -> None:
        if (include := _INCLUDE.fullmatch(line.text)) is not None:
            self.notes.add(
                "include",
                say("the file %(include)s is included but not at hand", include=include[1]),
                at=line,
            )
            return
        values = {found[1].casefold(): found[2] or found[3] or "" for found in _PARAMETER.finditer(line.text)}
        if _PARAMETER.sub("", line.text).strip() or not values.keys() <= _KNOWN | _SHOWN:
            self.notes.add(
                "line_not_understood",
                say("this line has something that topology.conf does not know"),
                at=line,
            )
        if "switchname" in values:
            self._define(self.switches, values["switchname"], values, line)
        elif "blockname" in values:
            self._define(self.blocks, values["blockname"], values, line)
        elif ("nodes" in values or "switches" in values) and "aggregatedblock" not in values:
            self.notes.add(
                "line_not_understood", say("nodes or switches without a name that they belong to"), at=line
            )
        if "blocksizes" in values:
            self._sizes(values["blocksizes"], line)
        elif (size := count(values.get("blocksize"))) is not None and size not in (self.block_sizes or []):
            self.block_sizes = [*(self.block_sizes or []), size]

    def _define(self, defined: list[Switch], name: str, values: dict[str, str], line: Line) -> None:
        kind = "switch" if defined is self.switches else "block"
        if (kind, name) in self._names:
            self.notes.add(
                "defined_twice",
                say("the %(kind)s %(name)s is defined above; this line is not read", kind=kind, name=name),
                at=line,
            )
            return
        self._names.add((kind, name))
        part = Switch(
            name=name,
            children=self._lists.expand(values.get("switches"), at=line),
            nodes=[] if _is_upper(values) else self._lists.expand(values.get("nodes"), at=line),
            line=line.number,
        )
        if kind == "block" and not part.nodes:
            self.notes.add("empty", say("the block %(name)s has no nodes", name=name), at=line)
        if "linkspeed" in values:
            self.link_speeds[name] = values["linkspeed"]
        defined.append(part)

    def _sizes(self, text: str, line: Line) -> None:
        sizes = [size.strip() for size in text.split(",")]
        if not all(size.isascii() and size.isdigit() and len(size) < 10 for size in sizes):
            self.notes.add("value_not_understood", say("BlockSizes is no list of numbers"), at=line)
            return
        if len(set(sizes)) != len(sizes):
            self.notes.add("size_twice", say("a block size is listed twice"), at=line)
        if self.block_sizes is not None:
            self.notes.add(
                "defined_twice", say("BlockSizes stands above already; the last one counts"), at=line
            )
        self.block_sizes = [int(size) for size in sizes]


def _is_upper(values: dict[str, str]) -> bool:
    """Whether the nodes of the line are those of the switches beneath, as scontrol shows them."""
    return values.get("level", "0") != "0" and "switches" in values


def _real_names(lines: Sequence[Line], defined: set[str]) -> dict[str, str]:
    """Name in the file to the real name, from comments of the form `# name=real name`."""
    found = (_REAL_NAME.fullmatch(line.text) for line in lines)
    return {match[1]: match[2] for match in found if match is not None and match[1] in defined}


def _facts(config: _Config, real_names: dict[str, str]) -> dict[str, Any]:
    switches, blocks = config.switches, config.blocks
    nodes = [node for part in (*switches, *blocks) for node in part.nodes]
    facts: dict[str, Any] = {
        "kind": "mixed" if switches and blocks else "tree" if switches else "block",
        "nodes": len(nodes),
        "nodes_distinct": len(set(nodes)),
        "first_node": nodes[0] if nodes else None,
        "last_node": nodes[-1] if nodes else None,
        "comment_names": real_names,
        "block_sizes": config.block_sizes,
    }
    if switches:
        facts |= {
            "switches": len(switches),
            "leaf_switches": sum(bool(switch.nodes) for switch in switches),
            "roots": roots(switches),
            "levels": levels(switches),
        }
    if blocks:
        facts |= {
            "blocks": len(blocks),
            "nodes_per_block": list(dict.fromkeys(len(block.nodes) for block in blocks)),
        }
    facts["switch_list"] = [
        {
            "name": switch.name,
            "real_name": real_names.get(switch.name),
            "children": switch.children,
            "nodes": switch.nodes,
            "link_speed": config.link_speeds.get(switch.name),
        }
        for switch in switches
    ]
    facts["block_list"] = [
        {"name": block.name, "real_name": real_names.get(block.name), "nodes": block.nodes}
        for block in blocks
    ]
    return facts
