"""Tables framed with + - = |, in which each device has two lines between rules, as npu-smi, hl-smi and mx-smi print.

Columns are found by the words of the two header lines, so added, missing and moved columns do no harm.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from apps.core.texts import say
from apps.evidence.engine.parsers._notes import Notes
from apps.evidence.engine.source import Line

_ROW = re.compile(r"[|│](.*)[|│]\s*")
_OPEN_ROW = re.compile(r"[|│]([^|│]*[|│].*)")
_RULE = re.compile(r"[+|├╞╪┼│][-=+|─═╪┼┤╡]{8,}")

Cells = tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Device:
    """The two rows of one device. lines: where they stand. rows: their cells."""

    lines: tuple[Line, Line]
    rows: tuple[Cells, Cells]


@dataclass(slots=True, kw_only=True)
class Table:
    """Devices beneath a header of two rows. header: its cells."""

    header: tuple[Cells, Cells]
    devices: list[Device] = field(default_factory=list)

    def has(self, word: str) -> bool:
        return self._place(word) is not None

    def cell(self, device: Device, word: str) -> str:
        """The cell of the device that stands beneath the header cell with the word; empty without one."""
        place = self._place(word)
        return device.rows[place[0]][place[1]] if place is not None else ""

    def row(self, word: str) -> int:
        """0 or 1: the line of a device on which the column with the word stands."""
        place = self._place(word)
        return place[0] if place is not None else 0

    def heading(self, word: str) -> list[str]:
        """The words of the header cell with the word."""
        place = self._place(word)
        return self.header[place[0]][place[1]].split() if place is not None else []

    def _place(self, word: str) -> tuple[int, int] | None:
        wanted = word.casefold()
        for row, cells in enumerate(self.header):
            for column, cell in enumerate(cells):
                if wanted in cell.casefold().split():
                    return row, column
        return None


def device_table(lines: Sequence[Line], word: str, notes: Notes) -> Table | None:
    """The first table whose header has the word (such as Bus-Id); None without one.

    Later tables with it are the same devices again; they are named in a warning and not read.
    """
    tables: list[Table] = []
    group: list[tuple[Line, Cells]] = []
    current: Table | None = None
    for line, cells in (*_rows(lines), (Line(0, ""), ())):
        if cells:
            group.append((line, cells))
            continue
        header = _header(group, word)
        if header is not None:
            current = Table(header=header)
            tables.append(current)
            if len(tables) == 2:
                notes.add(
                    "repeated_table",
                    say("the table comes more than once; only the first is read"),
                    at=group[0][0],
                )
        elif (
            group
            and current is not None
            and not _take(current, group, notes if len(tables) == 1 else Notes())
        ):
            current = None
        group = []
    return tables[0] if tables else None


def _header(group: Sequence[tuple[Line, Cells]], word: str) -> tuple[Cells, Cells] | None:
    """The last two rows of a group, where the word stands in them."""
    if len(group) < 2:
        return None
    first, second = group[-2][1], group[-1][1]
    words = " ".join((*first, *second)).casefold().split()
    if len(first) < 3 or len(first) != len(second) or word.casefold() not in words:
        return None
    return first, second


def _take(table: Table, group: Sequence[tuple[Line, Cells]], notes: Notes) -> bool:
    """Add the device of a group of rows; False where the group is no longer of this table.

    Two lines that ran into one have the cells of both: they are of this table, and not read.
    """
    width = len(table.header[0])
    if not any(len(cells) == width or len(cells) >= 2 * width for _, cells in group):
        return False
    if len(group) != 2 or any(len(cells) != width for _, cells in group):
        notes.add("device_rows", say("these are not the two lines of one device; not read"), at=group[0][0])
        return True
    (first, upper), (second, lower) = group
    for line in (first, second):
        if not line.text.rstrip().endswith(("|", "│")):
            notes.add("cut_line", say("the line is not closed; its last value may be cut"), at=line)
    table.devices.append(Device(lines=(first, second), rows=(upper, lower)))
    return True


def _rows(lines: Sequence[Line]) -> Iterator[tuple[Line, Cells]]:
    """Rows with their cells, runs of blanks made one; a rule and any other text is a row without cells."""
    for line in lines:
        text = line.text.strip()
        if _RULE.fullmatch(text):
            yield line, ()
        elif (row := _ROW.fullmatch(text) or _OPEN_ROW.fullmatch(text)) is not None:
            yield line, tuple(" ".join(cell.split()) for cell in re.split(r"[|│]", row[1]))
        else:
            yield line, ()


def leading_number(cell: str) -> tuple[int | None, str]:
    """The number in front of a cell, None where another word stands there, and the rest."""
    first, _, rest = cell.partition(" ")
    return (
        (int(first), rest.strip())
        if first.isascii() and first.isdigit() and len(first) < 10
        else (None, rest.strip())
    )


def shown(cell: str) -> str | None:
    """A cell's text; None for the marks of a value that is not there."""
    return None if cell.strip().upper() in {"", "-", "NA", "N/A", "[N/A]"} else cell.strip()


def note_repeats(devices: Sequence[tuple[Device, Any]], notes: Notes) -> None:
    """Warn of devices whose identity (None: not known) came before."""
    seen: set[Any] = set()
    for device, identity in devices:
        if identity is not None and identity in seen:
            notes.add(
                "repeated_device",
                say("the device %(identity)s came before", identity=identity),
                at=device.lines[0],
            )
        seen.add(identity)
