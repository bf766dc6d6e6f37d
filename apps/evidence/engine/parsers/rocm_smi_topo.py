"""`rocm-smi --showtopo`: weight, hops and link type between GPUs, and the NUMA node of each.

Any of the blocks may be missing (--showtopotype alone and the like). Hygon's hy-smi prints the same with DCU
or HCU in the place of GPU.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from apps.core.texts import say
from apps.evidence.engine.parsers._dressing import one_process, plain_lines
from apps.evidence.engine.parsers._notes import Notes
from apps.evidence.engine.reading import Reading, Unreadable
from apps.evidence.engine.source import Line, Source

KIND = "rocm_smi_topo"
VERSION = 1

_TITLES = {
    "weight": re.compile(r"\bWeight between two \w+", re.IGNORECASE),
    "hops": re.compile(r"\bHops between two \w+", re.IGNORECASE),
    "link_type": re.compile(r"\bLink Type between two \w+", re.IGNORECASE),
}
_NUMA = re.compile(
    r"\b(?:GPU|DCU|HCU)\s*\[?(\d{1,4})\]?\s*:\s*\(Topology\)\s*Numa\s+(Node|Affinity)\s*:\s*(-?\d{1,6})\s*$",
    re.IGNORECASE,
)
_NUMA_TITLE = re.compile(r"\bNuma Nodes\b", re.IGNORECASE)
_NUMA_LIKE = re.compile(r"\(Topology\)\s*Numa", re.IGNORECASE)
_NAME = re.compile(r"(?:GPU|DCU|HCU)\s?(\d{1,4})", re.IGNORECASE)
_END = re.compile(r"\bEnd of (?:ROCm )?SMI Log\b", re.IGNORECASE)
_LINK_WORDS = re.compile(r"[A-Z][A-Z0-9_]{1,15}|N/A", re.IGNORECASE)

_TITLE_LINES = 20

Matrix = dict[str, dict[str, str]]


def recognise(sample: str) -> int:
    if sample.lstrip().startswith("{"):
        return 0
    head = "\n".join(sample.split("\n", _TITLE_LINES)[:_TITLE_LINES])
    marks = (*_TITLES.values(), _NUMA_LIKE)
    if any(mark.search(head) for mark in marks):
        return 100
    # further down it is a part of a longer report, such as that of collect_env
    return 40 if any(mark.search(sample) for mark in marks) else 0


def read(source: Source) -> Reading:
    notes = Notes()
    lines = one_process(plain_lines(source), _is_output, notes)
    matrices = {kind: _matrix(lines, kind, notes) for kind in _TITLES}
    nodes, affinity = _numa(lines, notes)
    names = list(dict.fromkeys(name for matrix in matrices.values() if matrix for name in matrix)) or list(
        nodes
    )
    if not names:
        raise Unreadable(say("rocm-smi --showtopo: no GPU is in it"), code="no_devices")
    if not any(_END.search(line.text) for line in lines):
        notes.add("no_end", say("the closing line of the log is missing; the output may be cut"))
    for kind, matrix in matrices.items():
        if matrix is not None and list(matrix) != names:
            notes.add(
                "blocks_differ", say("the block of %(kind)s lists other GPUs than the first block", kind=kind)
            )
    if nodes and list(nodes) != names:
        notes.add("blocks_differ", say("the block of NUMA nodes lists other GPUs than the first block"))
    if affinity and list(affinity) != list(nodes):
        notes.add("blocks_differ", say("some GPUs have a NUMA node or a NUMA affinity but not both"))
    facts: dict[str, Any] = {
        "gpus": len(names),
        "link_types": _counted(matrices["link_type"]),
        "weights": _counted(matrices["weight"]),
        "hops": _counted(matrices["hops"]),
        "numa_nodes": nodes or None,
        "numa_affinity": affinity or None,
        "matrices": matrices,
    }
    return Reading(kind=KIND, facts=facts, warnings=notes.all(), parser_version=VERSION)


def _is_output(lines: list[Line]) -> bool:
    return any(title.search(line.text) for line in lines for title in _TITLES.values())


def _counted(matrix: Matrix | None) -> dict[str, int] | None:
    """How often each value stands between two GPUs, over ordered pairs; None without that block."""
    if matrix is None:
        return None
    return dict(
        Counter(value for row, cells in matrix.items() for column, value in cells.items() if row != column)
    )


def _matrix(lines: Sequence[Line], kind: str, notes: Notes) -> Matrix | None:
    """Row and column number to the text of the cell; None where the block is not in the file."""
    blocks = list(_blocks(lines, kind))
    if not blocks:
        return None
    if len(blocks) > 1:
        notes.add(
            "repeated_block",
            say("the block of %(kind)s comes more than once; the first is read", kind=kind),
            at=blocks[1][0],
        )
    columns: list[str] = []
    matrix: Matrix = {}
    for line in blocks[0][1:]:
        words = re.sub(r"[|*]", " ", line.text).split()
        if not words or set(line.text.strip()) <= set("|-:= "):
            continue
        names = [found[1] if (found := _NAME.fullmatch(word)) else None for word in words]
        if not columns and None not in names:
            columns = [name for name in names if name is not None]
        elif columns and names[0] is not None and None in names[1:]:
            if len(words) != len(columns) + 1 or names[0] in matrix:
                notes.add(
                    "row_not_understood",
                    say("%(count)s values of one GPU should stand here", count=len(columns)),
                    at=line,
                )
            else:
                matrix[names[0]] = dict(zip(columns, words[1:], strict=True))
        else:
            notes.add("row_not_understood", say("neither the header nor a row of the block"), at=line)
    _check(matrix, columns, kind, blocks[0][0], notes)
    return matrix


def _blocks(lines: Sequence[Line], kind: str) -> Iterator[list[Line]]:
    """The title of each block of a kind and the lines up to the next title."""
    block: list[Line] = []
    for line in lines:
        ends = any(title.search(line.text) for title in (*_TITLES.values(), _NUMA_TITLE, _NUMA_LIKE, _END))
        if ends and block:
            yield block
            block = []
        if _TITLES[kind].search(line.text):
            block = [line]
        elif block:
            block.append(line)
    if block:
        yield block


def _check(matrix: Matrix, columns: list[str], kind: str, title: Line, notes: Notes) -> None:
    if list(matrix) != columns:
        notes.add(
            "rows_missing",
            say(
                "block of %(kind)s: columns: %(count)s, rows: %(count_2)s",
                count=len(columns),
                count_2=len(matrix),
                kind=kind,
            ),
            at=title,
        )
    for row, cells in matrix.items():
        if cells.get(row, "0") not in ("0", "X"):
            notes.add(
                "diagonal",
                say("GPU %(row)s is not 0 from itself; the columns may be shifted", row=row),
                at=title,
            )
        for column, value in cells.items():
            if row < column and matrix.get(column, cells).get(row, value) != value:
                notes.add(
                    "not_symmetric",
                    say(
                        "%(kind)s of GPUs %(row)s and %(column)s differs by direction",
                        kind=kind,
                        row=row,
                        column=column,
                    ),
                    at=title,
                )
            if row != column and not (
                value.isdecimal() if kind != "link_type" else _LINK_WORDS.fullmatch(value)
            ):
                notes.add(
                    "value_not_understood",
                    say("%(value)s is no %(kind)s between GPUs", value=f"{value[:40]!r}", kind=kind),
                    at=title,
                )


def _numa(lines: Sequence[Line], notes: Notes) -> tuple[dict[str, int], dict[str, int]]:
    values: dict[str, dict[str, int]] = {"node": {}, "affinity": {}}
    for line in lines:
        found = _NUMA.search(line.text)
        if found is None:
            if _NUMA_LIKE.search(line.text):
                notes.add("value_not_understood", say("no NUMA node of a GPU"), at=line)
            continue
        known = values[found[2].lower()]
        if known.setdefault(found[1], int(found[3])) != int(found[3]):
            notes.add(
                "repeated_device",
                say(
                    "GPU %(found)s has another NUMA %(found_2)s above",
                    found=found[1],
                    found_2=found[2].lower(),
                ),
                at=line,
            )
    return values["node"], values["affinity"]
