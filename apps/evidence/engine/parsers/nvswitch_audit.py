"""`nvswitch-audit`: over how many NVLinks each GPU of a baseboard reaches each other one, as the switches route.

GPUs of different partitions do not reach each other on purpose, so a zero is no fault by itself.
"""

from __future__ import annotations

import re
from typing import Any

from apps.core.texts import say
from apps.evidence.engine.parsers._dressing import one_process, plain_lines
from apps.evidence.engine.parsers._notes import Notes
from apps.evidence.engine.reading import Reading, Unreadable
from apps.evidence.engine.source import Line, Source

KIND = "nvswitch_audit"
VERSION = 1

_TITLE = "GPU Reachability Matrix"
_HEAD = re.compile(r"GPU(?: Physical Id)?(?P<ids>(?:[\s,]+\d{1,4})+)", re.IGNORECASE)
_ROW = re.compile(r"(?P<id>\d{1,4})(?P<cells>(?:[\s,]+(?:\d{1,4}|X|N/A))+)")


def recognise(sample: str) -> int:
    return 95 if _TITLE in sample else 0


def read(source: Source) -> Reading:
    """Raises Unreadable where no matrix is there."""
    notes = Notes()
    lines = one_process(plain_lines(source), _is_output, notes)
    columns: list[int] = []
    rows: dict[int, list[int | None]] = {}
    for line in lines:
        text = line.text.strip()[:2000]
        if head := _HEAD.fullmatch(text):
            if columns:
                notes.add(
                    "several_reports", say("the file holds several matrices; only the first is read"), at=line
                )
                break
            columns = [int(one) for one in re.findall(r"\d+", head["ids"])]
        elif columns and (row := _ROW.fullmatch(text)):
            _add_row(rows, row, columns, line, notes)
        elif columns and text[:1].isdigit():
            notes.add("line_not_understood", say("this row of the matrix was not understood"), at=line)
    if not columns or not rows:
        raise Unreadable(say("nvswitch-audit: no matrix of GPUs was found"), code="no_matrix")
    if missing := [one for one in columns if one not in rows]:
        names = ", ".join(map(str, missing))
        notes.add("cut_off", say("the matrix has no row for GPU %(names)s", names=names))
    return Reading(kind=KIND, facts=_facts(columns, rows), warnings=notes.all(), parser_version=VERSION)


def _is_output(lines: list[Line]) -> bool:
    return any(_TITLE in line.text for line in lines)


def _add_row(
    rows: dict[int, list[int | None]], row: re.Match[str], columns: list[int], line: Line, notes: Notes
) -> None:
    cells = [int(one) if one.isdigit() else None for one in re.findall(r"\d+|X|N/A", row["cells"])]
    gpu = int(row["id"])
    if len(cells) != len(columns) or gpu not in columns:
        notes.add("line_not_understood", say("the row does not fit the head of the matrix"), at=line)
    elif rows.setdefault(gpu, cells) != cells:
        notes.add("gpu_repeated", say("GPU %(index)s is listed again", index=gpu), at=line)


def _facts(columns: list[int], rows: dict[int, list[int | None]]) -> dict[str, Any]:
    links = {
        (gpu, other): count
        for gpu, cells in rows.items()
        for other, count in zip(columns, cells, strict=True)
    }
    pairs = [(one, other) for place, one in enumerate(columns) for other in columns[place + 1 :]]
    counts = [count for pair in pairs if (count := links.get(pair)) is not None]
    both = [pair for pair in pairs if pair in links and pair[::-1] in links]
    return {
        "gpus": columns,
        "links": {str(gpu): dict(zip(map(str, columns), cells, strict=True)) for gpu, cells in rows.items()},
        "most_links": max(counts, default=None),
        "pairs_unreachable": [list(pair) for pair in pairs if links.get(pair) == 0],
        "pairs_unequal": [list(pair) for pair in both if links[pair] != links[pair[::-1]]],
    }
