"""One row of the table that nccl-tests and its relatives print: its grammar, and what a column header says.

A row is size, count, type, perhaps redop and root, then two groups (out-of-place, in-place) of time,
algbw, busbw and wrong. A blank redop cell is no cell at all once the line is split, so the groups are
found from the right. Sizes are bytes, times microseconds, bandwidths 10^9 bytes per second.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Any

_NUMBER = r"(?:\d+(?:[.,]\d+)?(?:[eE][+-]?\d+)?|-?nan|-?inf)"
_WRONG = r"(?:N/A|\d+(?:\.\d+)?[eE][+-]?\d+|\d+)"
_GROUP = rf" ({_NUMBER}) ({_NUMBER}) ({_NUMBER}) ({_WRONG})\*?"
_PER_ITERATION = rf"(?: {_NUMBER}){{4}}"
_LEAD = r"(?<![\w.,+-])(\d{1,18}) (\d{1,18}) ([A-Za-z]\w*)(?: ([A-Za-z]\w*))?"
_END = r"(?: \d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d)?$"

_HEADER = re.compile(r"\bsize count type\b.{0,40}?\b(cpu)?time algbw busbw\b", re.IGNORECASE)

ELEMENT_BYTES = {
    "int8": 1, "char": 1, "uint8": 1, "fp8_e4m3": 1, "fp8_e5m2": 1, "f8e4m3": 1, "f8e5m2": 1,
    "half": 2, "float16": 2, "fp16": 2, "bfloat16": 2, "bf16": 2,
    "int32": 4, "int": 4, "uint32": 4, "float": 4, "float32": 4, "fp32": 4,
    "int64": 8, "uint64": 8, "double": 8, "float64": 8, "fp64": 8,
}  # fmt: skip

_ROW_START = re.compile(rf"(?<![\w.,+-])\d+ \d+ (?:{'|'.join(ELEMENT_BYTES)})(?: |$)")
_ROW_REST = re.compile(rf"{_GROUP}{_GROUP}$")
_LONGEST = 1000
_DECIMAL_COMMA = re.compile(r"\d,\d")


def _row_pattern(*, root: str, per_iteration: bool) -> re.Pattern[str]:
    group = _GROUP + (_PER_ITERATION if per_iteration else "")
    return re.compile(_LEAD + root + group + group + _END)


@dataclass(frozen=True, slots=True, kw_only=True)
class Header:
    """What the line of column names says: whether there is a root column, four more cells for each
    iteration, and whether the time is that of the CPU (then bandwidths mean nothing)."""

    root: bool
    per_iteration: bool
    cpu_time: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """One half of a row. None: printed nan, inf or N/A; wrong is a count, or a delta in old versions."""

    time_us: float | None
    algbw_gbps: float | None
    busbw_gbps: float | None
    wrong: float | int | None

    def facts(self) -> dict[str, float | int | None]:
        return {
            "time_us": self.time_us,
            "algbw_gbps": self.algbw_gbps,
            "busbw_gbps": self.busbw_gbps,
            "wrong": self.wrong,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One measured size. count: elements, None where only the size is told; before: what stood in front of
    the row; decimal_comma: numbers like 12,34."""

    line: int
    size_bytes: int
    count: int | None
    dtype: str
    redop: str | None
    root: int | None
    out_of_place: Group
    in_place: Group
    before: str = ""
    decimal_comma: bool = False

    def facts(self) -> dict[str, Any]:
        return {
            "line": self.line,
            "size_bytes": self.size_bytes,
            "count": self.count,
            "dtype": self.dtype,
            "redop": self.redop,
            "root": self.root,
            "out_of_place": self.out_of_place.facts(),
            "in_place": self.in_place.facts(),
        }


_ROOT_NEEDED = r" (-?\d{1,9})"
_ROOT_ABSENT = r"()"
_ROOT_PERHAPS = r"(?: (-1))?"
_PATTERNS = {
    (root, per_iteration): _row_pattern(root=text, per_iteration=per_iteration)
    for root, text in ((True, _ROOT_NEEDED), (False, _ROOT_ABSENT), (None, _ROOT_PERHAPS))
    for per_iteration in (False, True)
}


def squeezed(text: str) -> str:
    """The line with every run of blanks made one; what the functions here expect. Cut to 1000 characters."""
    return " ".join(text.split())[:_LONGEST]


def read_header(text: str) -> Header | None:
    """The column names, or None where the line is something else."""
    found = _HEADER.search(text)
    if found is None:
        return None
    before_time = found.group(0)
    return Header(
        root=bool(re.search(r" root ", before_time, re.IGNORECASE)),
        per_iteration="i_min" in text,
        cpu_time=bool(found.group(1)),
    )


def read_row(line: int, text: str, header: Header | None) -> Row | None:
    """The row that ends the line, or None where there is none."""
    for pattern in _patterns_for(header):
        found = pattern.search(text)
        if found:
            return _row(line, text, found)
    return None


def _patterns_for(header: Header | None) -> list[re.Pattern[str]]:
    if header is None:
        return [_PATTERNS[None, False], _PATTERNS[True, False], _PATTERNS[None, True]]
    return [_PATTERNS[header.root, header.per_iteration]]


def _row(line: int, text: str, found: re.Match[str]) -> Row:
    size, count, dtype, redop, root, *cells = found.groups()
    return Row(
        line=line,
        size_bytes=int(size),
        count=int(count),
        dtype=dtype,
        redop=redop,
        root=int(root) if root else None,
        out_of_place=_group(cells[:4]),
        in_place=_group(cells[4:]),
        before=text[: found.start()],
        decimal_comma=bool(_DECIMAL_COMMA.search(found.group(0))),
    )


def _group(cells: list[str]) -> Group:
    return Group(
        time_us=number(cells[0]),
        algbw_gbps=number(cells[1]),
        busbw_gbps=number(cells[2]),
        wrong=_wrong(cells[3]),
    )


def _wrong(cell: str) -> float | int | None:
    return int(cell) if cell.isdigit() else number(cell)


def number(cell: str) -> float | None:
    """A printed number; None for N/A, nan and inf. A decimal comma counts as a point."""
    try:
        value = float(cell.replace(",", "."))
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def looks_like_row(text: str) -> bool:
    """Whether a line that could not be read as a row seems to be a damaged one."""
    return bool(_ROW_START.search(text) or _ROW_REST.search(text))
