"""`mx-smi`: the table of MetaX GPUs, with three columns (2.2.4) or four (2.2.9, where boards and GPUs differ).

ht-smi of the same maker prints the same table.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

from apps.core.texts import say
from apps.evidence.engine.parsers._box import Device, Table, device_table, leading_number, note_repeats, shown
from apps.evidence.engine.parsers._dressing import one_process, plain_lines
from apps.evidence.engine.parsers._notes import Notes
from apps.evidence.engine.parsers._smi_values import measured
from apps.evidence.engine.reading import Reading, Unreadable
from apps.evidence.engine.source import Line, Source

KIND = "mx_smi"
VERSION = 1

_TITLE = re.compile(r"\|\s*(?:MX|HT)-SMI\s+([^\s|]+)")
_OTHER_TITLE = re.compile(r"\b(?:mx|ht)-smi\s+version:\s*(\S+)|= MetaX System Management Interface Log")
_VERSIONS = {
    "version": _TITLE,
    "kernel_driver": re.compile(r"Kernel Mode Driver Version:\s*([^\s|]+)", re.IGNORECASE),
    "maca": re.compile(r"\bMACA Version:\s*([^\s|]+)", re.IGNORECASE),
    "bios": re.compile(r"\bBIOS Version:\s*([^\s|]+)", re.IGNORECASE),
}
_ATTACHED = re.compile(r"\bAttached GPUs\s*:\s*(\d{1,6})\b", re.IGNORECASE)


def recognise(sample: str) -> int:
    if _TITLE.search(sample):
        return 100
    return 80 if _OTHER_TITLE.search(sample) else 0


def read(source: Source) -> Reading:
    notes = Notes()
    lines = one_process(plain_lines(source), _is_output, notes)
    table = device_table(lines, "Bus-Id", notes)
    if table is None or not table.devices:
        raise Unreadable(say("mx-smi: there is no table of GPUs in it"), code="no_devices")
    gpus = [_gpu(table, device, notes) for device in table.devices]
    note_repeats([(device, gpu["index"]) for device, gpu in zip(table.devices, gpus, strict=True)], notes)
    attached = _first(_ATTACHED, lines)
    if attached is None:
        notes.add(
            "no_count", say("the line that says how many GPUs are attached is missing; the table may be cut")
        )
    elif int(attached) != len(gpus):
        notes.add(
            "count_differs",
            say("attached GPUs: %(attached)s, listed: %(count)s", attached=attached, count=len(gpus)),
        )
    facts: dict[str, Any] = {
        **{key: _first(pattern, lines) for key, pattern in _VERSIONS.items()},
        "attached_gpus": int(attached) if attached is not None else None,
        "gpus_listed": len(gpus),
        "models": dict(Counter(gpu["model"] for gpu in gpus if gpu["model"])),
        "states": dict(Counter(gpu["state"] for gpu in gpus if gpu["state"])),
        "bus_ids": [gpu["bus_id"] for gpu in gpus],
        "memory_total_mib": list(
            dict.fromkeys(gpu["memory_total_mib"] for gpu in gpus if gpu["memory_total_mib"])
        ),
        "devices": gpus,
    }
    facts["version"] = facts["version"] or _first(_OTHER_TITLE, lines)
    return Reading(kind=KIND, facts=facts, warnings=notes.all(), parser_version=VERSION)


def _first(pattern: re.Pattern[str], lines: list[Line]) -> str | None:
    return next((found[1] for line in lines if (found := pattern.search(line.text)) and found[1]), None)


def _is_output(lines: list[Line]) -> bool:
    return _first(_TITLE, lines) is not None


def _gpu(table: Table, device: Device, notes: Notes) -> dict[str, Any]:
    first, name = leading_number(table.cell(device, "Name"))
    index, _ = leading_number(table.cell(device, "GPU")) if table.has("GPU") else (first, "")
    if index is None or not name:
        notes.add("value_not_understood", say("neither number nor name of a GPU"), at=device.lines[0])
    state = shown(table.cell(device, "GPU-State"))
    if state is None:
        notes.add("value_not_understood", say("no state of the GPU"), at=device.lines[1])
    return {
        "index": index,
        "board": first if table.has("Board") else None,
        "model": name or None,
        "state": state,
        **measured(table, device, "GPU-Util", notes),
    }
