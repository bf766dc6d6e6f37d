"""`npu-smi info`: the table of Ascend NPUs, two lines per chip.

910 has one chip per NPU and an HBM column, A3 two dies per NPU and a Phy-ID column, 310P a Device column and
no HBM. Sizes are as printed: the tool writes MB.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

from apps.core.texts import say
from apps.evidence.engine.parsers._box import Device, Table, device_table, leading_number, note_repeats, shown
from apps.evidence.engine.parsers._dressing import one_process, plain_lines
from apps.evidence.engine.parsers._notes import Notes
from apps.evidence.engine.parsers._values import count, quantity
from apps.evidence.engine.reading import Reading, Unreadable
from apps.evidence.engine.source import Line, Source

KIND = "npu_smi"
VERSION = 1

_TITLE = re.compile(r"\|\s*npu-smi\s+\S+\s+Version:\s*(\S+)", re.IGNORECASE)
_HEADER = re.compile(r"\|\s*NPU\s+Name\s*\|\s*Health\s*\|", re.IGNORECASE)
_USAGE = re.compile(r"(?<![\w.])(\d+|NA|-) ?/ ?(\d+|NA|-)")
_PROCESS = re.compile(r"\|\s*(\d{1,10})\s+(\d{1,10})\s*\|\s*(\d{1,10})\s*\|([^|]*)\|\s*(\d{1,10})\s*\|")
_BUS_ID = re.compile(r"[0-9A-Fa-f]{4,8}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}\.[0-7]")
_HEALTH = ("OK", "Warning", "Alarm", "Critical", "UNKNOWN")
_TITLE_LINES = 40


def recognise(sample: str) -> int:
    head = "\n".join(sample.split("\n", _TITLE_LINES)[:_TITLE_LINES])
    if _TITLE.search(head):
        return 100
    return 40 if _TITLE.search(sample) or _HEADER.search(sample) else 0


def read(source: Source) -> Reading:
    notes = Notes()
    lines = one_process(plain_lines(source), _is_output, notes)
    table = device_table(lines, "Bus-Id", notes)
    if table is None or not table.devices:
        raise Unreadable(say("npu-smi: there is no table of NPUs in it"), code="no_devices")
    chips = [_chip(table, device, notes) for device in table.devices]
    version = next((found[1] for line in lines if (found := _TITLE.search(line.text))), None)
    if not any("Process id" in line.text for line in lines):
        notes.add("no_end", say("the table of processes is missing; the output may be cut"))
    facts: dict[str, Any] = {
        "version": version,
        "npus": len({chip["npu"] for chip in chips}),
        "chips": len(chips),
        "names": dict(Counter(chip["name"] for chip in chips if chip["name"])),
        "health": dict(Counter(chip["health"] for chip in chips if chip["health"])),
        "bus_ids": [chip["bus_id"] for chip in chips],
        "hbm_total_mb": list(dict.fromkeys(chip["hbm_total_mb"] for chip in chips if chip["hbm_total_mb"])),
        "hbm_used_mb": [chip["hbm_used_mb"] for chip in chips],
        "power_w": [chip["power_w"] for chip in chips],
        "phy_ids": [chip["phy_id"] for chip in chips] if table.has("Phy-ID") else None,
        "devices": chips,
        "processes": _processes(lines),
    }
    places = [f"NPU {chip['npu']} chip {chip['chip']}" for chip in chips]
    note_repeats(list(zip(table.devices, places, strict=True)), notes)
    return Reading(kind=KIND, facts=facts, warnings=notes.all(), parser_version=VERSION)


def _is_output(lines: list[Line]) -> bool:
    return any(_HEADER.search(line.text) for line in lines)


def _chip(table: Table, device: Device, notes: Notes) -> dict[str, Any]:
    """One chip; None where the table shows - or NA, a warning where it shows something else."""
    npu, name = leading_number(table.cell(device, "NPU"))
    chip, second = leading_number(table.cell(device, "Chip"))
    upper = _after(table, "Power(W)", table.cell(device, "Power(W)"))
    lower = _after(table, "AICore(%)", table.cell(device, "AICore(%)"))
    bus_id = table.cell(device, "Bus-Id")
    facts: dict[str, Any] = {
        "npu": npu,
        "chip": chip,
        "phy_id": count(second) if table.has("Phy-ID") else None,
        "device": count(second) if table.has("Device") else None,
        "name": shown(name),
        "health": shown(table.cell(device, "Health")),
        "bus_id": bus_id if _BUS_ID.fullmatch(bus_id) else None,
        "power_w": quantity(upper.get("power(w)")),
        "temp_c": quantity(upper.get("temp(c)")),
        "aicore_percent": quantity(lower.get("aicore(%)")),
    }
    for key, values, heading in (
        ("hugepages", upper, "hugepages-usage(page)"),
        ("memory", lower, "memory-usage(mb)"),
        ("hbm", lower, "hbm-usage(mb)"),
    ):
        unit = "pages" if key == "hugepages" else "mb"
        used, _, total = (values.get(heading) or "").partition("/")
        facts[f"{key}_used_{unit}"], facts[f"{key}_total_{unit}"] = count(used), count(total)
    if facts["health"] not in _HEALTH:
        notes.add("health_not_known", say("no known state of health"), at=device.lines[0])
    for line, broken in (
        (device.lines[0], npu is None or not name or not _all_read(upper)),
        (device.lines[1], chip is None or facts["bus_id"] is None or not _all_read(lower)),
    ):
        if broken:
            notes.add("value_not_understood", say("a value of this line does not fit its heading"), at=line)
    return facts


def _after(table: Table, word: str, cell: str) -> dict[str, str]:
    """Heading to value for a cell with several columns; empty where their number does not match."""
    headings = [heading.casefold() for heading in table.heading(word)]
    values = _USAGE.sub(lambda found: f"{found[1]}/{found[2]}", cell).split()
    return dict(zip(headings, values, strict=True)) if len(values) == len(headings) else {}


def _all_read(values: dict[str, str]) -> bool:
    """Whether there are values and each is a number, a pair of numbers or the mark of a missing one."""
    parts = [part for value in values.values() for part in value.split("/")]
    return bool(parts) and all(shown(part) is None or quantity(part) is not None for part in parts)


def _processes(lines: list[Line]) -> list[dict[str, Any]]:
    rows = (_PROCESS.search(line.text) for line in lines)
    return [
        {
            "npu": int(row[1]),
            "chip": int(row[2]),
            "pid": int(row[3]),
            "name": row[4].strip(),
            "memory_mb": int(row[5]),
        }
        for row in rows
        if row is not None
    ]
