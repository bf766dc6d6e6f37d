"""`hl-smi`: the table of Intel Gaudi cards. It resembles nvidia-smi's; the title tells it apart."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

from apps.core.texts import say
from apps.evidence.engine.parsers._box import Device, Table, device_table, leading_number, note_repeats
from apps.evidence.engine.parsers._dressing import one_process, plain_lines
from apps.evidence.engine.parsers._notes import Notes
from apps.evidence.engine.parsers._smi_values import measured
from apps.evidence.engine.parsers._values import count
from apps.evidence.engine.reading import Reading, Unreadable
from apps.evidence.engine.source import Line, Source

KIND = "hl_smi"
VERSION = 1

_TITLE = re.compile(r"\|\s*HL-SMI Version:\s*([^\s|]+)", re.IGNORECASE)
_VERSIONS = {
    "version": _TITLE,
    "driver_version": re.compile(r"\|\s*Driver Version:\s*([^\s|]+)", re.IGNORECASE),
    "nic_driver_version": re.compile(r"\|\s*NIC Driver Version:\s*([^\s|]+)", re.IGNORECASE),
}
_FIRMWARE = re.compile(r"-fw-([0-9][\w.]*)")
_PROCESS = re.compile(r"\|\s*(\d{1,6})\s+(\d{1,10})\s+([^\s|]+)\s+([^|]+)\|")


def recognise(sample: str) -> int:
    return 100 if _TITLE.search(sample) else 0


def read(source: Source) -> Reading:
    notes = Notes()
    lines = one_process(plain_lines(source), _is_output, notes)
    table = device_table(lines, "Bus-Id", notes)
    if table is None or not table.devices:
        raise Unreadable(say("hl-smi: there is no table of cards in it"), code="no_devices")
    cards = [_card(table, device, notes) for device in table.devices]
    note_repeats([(device, card["index"]) for device, card in zip(table.devices, cards, strict=True)], notes)
    if not any("Compute Processes" in line.text for line in lines):
        notes.add("no_end", say("the table of processes is missing; the output may be cut"))
    facts: dict[str, Any] = {
        key: next((found[1] for line in lines if (found := pattern.search(line.text))), None)
        for key, pattern in _VERSIONS.items()
    }
    firmware = _FIRMWARE.search(facts["version"] or "")
    facts |= {
        "firmware_version": firmware[1] if firmware else None,
        "cards": len(cards),
        "models": dict(Counter(card["model"] for card in cards if card["model"])),
        "bus_ids": [card["bus_id"] for card in cards],
        "memory_total_mib": list(
            dict.fromkeys(card["memory_total_mib"] for card in cards if card["memory_total_mib"])
        ),
        "devices": cards,
        "processes": _processes(lines),
    }
    return Reading(kind=KIND, facts=facts, warnings=notes.all(), parser_version=VERSION)


def _is_output(lines: list[Line]) -> bool:
    return any(_TITLE.search(line.text) for line in lines)


def _card(table: Table, device: Device, notes: Notes) -> dict[str, Any]:
    index, rest = leading_number(table.cell(device, "Name"))
    words = rest.split()
    name = " ".join(words[:-1] if "Persistence-M" in table.heading("Name") else words)
    if index is None or not name:
        notes.add("value_not_understood", say("neither number nor name of a card"), at=device.lines[0])
    return {
        "index": index,
        "model": name or None,
        "uncorrectable_ecc": count(table.cell(device, "Volatile")),
        **measured(table, device, "AIP-Util", notes),
    }


def _processes(lines: list[Line]) -> list[dict[str, Any]]:
    """Rows of the table of processes; rows of cards without one have N/A in the place of a process id."""
    found: list[dict[str, Any]] = []
    for line in lines:
        if (row := _PROCESS.search(line.text)) is not None:
            name, _, memory = row[4].strip().rpartition(" ")
            memory_mib = count(memory, "MiB")
            if memory_mib is not None:
                place = {"index": int(row[1]), "pid": int(row[2]), "type": row[3]}
                found.append({**place, "name": name.strip(), "memory_mib": memory_mib})
    return found
