"""Values as hl-smi and mx-smi write them in their tables: 30C, 84W / 600W, 768MiB / 98304MiB, 2%."""

from __future__ import annotations

import re
from typing import Any

from apps.core.texts import say
from apps.evidence.engine.parsers._box import Device, Table
from apps.evidence.engine.parsers._notes import Notes

_NONE = r"N/?A|-"
_REAL = r"\d{1,9}(?:\.\d{1,9})?"
_WHOLE = r"\d{1,9}"
_TEMP = re.compile(rf"(?<![\w.])(?:(-?{_REAL})\s*°?C|{_NONE})(?![\w.])")
_POWER = re.compile(rf"(?<![\w.])(?:({_REAL})W|{_NONE})\s*/\s*(?:({_REAL})W|{_NONE})(?![\w.])")
_MEMORY = re.compile(
    rf"(?<![\w.])(?:({_WHOLE})\s*(?:MiB)?|{_NONE})\s*/\s*(?:({_WHOLE})\s*MiB|{_NONE})(?![\w.])", re.IGNORECASE
)
_PERCENT = re.compile(rf"(?<![\w.])(?:({_REAL})\s*%|{_NONE})(?!\w)")
_BUS_ID = re.compile(r"(?<![\w:.])([0-9A-Fa-f]{4,8}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}\.[0-7])(?![\w:.])")


def measured(table: Table, device: Device, utilisation: str, notes: Notes) -> dict[str, Any]:
    """bus_id, temp_c, power_w, power_cap_w, memory_used_mib, memory_total_mib, utilisation_percent of a device.

    utilisation: heading of that column. None where the table has N/A or no such column; a warning where the
    cell is not understood.
    """
    values: dict[str, Any] = {}
    for heading, pattern, keys, convert in (
        ("Bus-Id", _BUS_ID, ("bus_id",), str),
        ("Temp", _TEMP, ("temp_c",), float),
        ("Pwr:Usage/Cap", _POWER, ("power_w", "power_cap_w"), float),
        ("Memory-Usage", _MEMORY, ("memory_used_mib", "memory_total_mib"), int),
        (utilisation, _PERCENT, ("utilisation_percent",), float),
    ):
        found = _best(pattern, table.cell(device, heading))
        if found is None and table.has(heading):
            notes.add(
                "value_not_understood",
                say("no value that fits the heading %(heading)s", heading=heading),
                at=device.lines[table.row(heading)],
            )
        groups = found.groups() if found is not None else (None,) * len(keys)
        values |= {
            key: convert(text) if text is not None else None for key, text in zip(keys, groups, strict=True)
        }
    return values


def _best(pattern: re.Pattern[str], cell: str) -> re.Match[str] | None:
    """The first value in a cell that neighbours may share; an N/A only where there is no value."""
    found = list(pattern.finditer(cell))
    return next((match for match in found if any(match.groups())), found[0] if found else None)
