"""`dcgmi discovery -l`: the GPUs and NVSwitches that DCGM sees, in tables below the number of each."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

from apps.core.texts import say
from apps.evidence.engine.parsers._dressing import one_process, plain_lines
from apps.evidence.engine.parsers._notes import Notes
from apps.evidence.engine.parsers._version_files import sample_lines
from apps.evidence.engine.pci import pci_address
from apps.evidence.engine.reading import Reading, Unreadable
from apps.evidence.engine.source import Line, Source

KIND = "dcgmi_discovery"
VERSION = 1

_FOUND = re.compile(
    r"(?P<count>\d{1,5}) (?P<what>GPU|NvSwitch|ConnectX|CPU)(?:s|es)? found(?: \([\w ,]+\))?\."
)
_HEAD = re.compile(r"\|\s*(?P<what>GPU ID|Switch ID|ConnectX|CPU ID)\s*\|.*")
_ROW = re.compile(r"\|\s*(?P<id>\d{0,5})\s*\|(?:\s*(?P<key>[A-Z][\w ]{1,30}): (?P<value>[^|]{1,200}?)\s*\|)?")
_RULE = re.compile(r"\+(?:-+\+)+")
_FIELDS = {"Name": "name", "PCI Bus ID": "bus_id", "Device UUID": "uuid"}


def recognise(sample: str) -> int:
    lines = sample_lines(sample, 400)
    heads = any(_HEAD.fullmatch(line) for line in lines)
    return 92 if heads and any(_FOUND.fullmatch(line) for line in lines) else 0


def read(source: Source) -> Reading:
    """Raises Unreadable where neither a number nor a row is there."""
    notes = Notes()
    lines = one_process(plain_lines(source), _is_output, notes)
    stated: dict[str, int] = {}
    gpus: list[dict[str, Any]] = []
    switches: list[int] = []
    section = ""
    for line in lines:
        text = line.text.strip()[:400]
        if found := _FOUND.fullmatch(text):
            section = found["what"]
            if stated.setdefault(section, int(found["count"])) != int(found["count"]):
                notes.add("count_differs", say("another number of the same was printed before"), at=line)
        elif _HEAD.fullmatch(text) or _RULE.fullmatch(text) or not text:
            continue
        elif row := _ROW.fullmatch(text):
            _take(section, row, gpus, switches, line, notes)
        elif text.startswith("|"):
            notes.add("line_not_understood", say("this row of the table was not understood"), at=line)
    if not stated and not gpus:
        raise Unreadable(say("dcgmi discovery: no number of devices was found"), code="no_devices_listed")
    _check("GPU", stated, len(gpus), notes)
    _check("NvSwitch", stated, len(switches), notes)
    return Reading(
        kind=KIND, facts=_facts(stated, gpus, switches), warnings=notes.all(), parser_version=VERSION
    )


def _is_output(lines: list[Line]) -> bool:
    return any(_FOUND.fullmatch(line.text.strip()[:400]) for line in lines)


def _take(
    section: str,
    row: re.Match[str],
    gpus: list[dict[str, Any]],
    switches: list[int],
    line: Line,
    notes: Notes,
) -> None:
    if section == "NvSwitch" and row["id"] and not row["key"]:
        switches.append(int(row["id"]))
    elif section == "GPU":
        if row["id"]:
            if any(gpu["id"] == int(row["id"]) for gpu in gpus):
                notes.add("gpu_repeated", say("GPU %(index)s is listed again", index=row["id"]), at=line)
            gpus.append({"id": int(row["id"]), "name": None, "bus_id": None, "uuid": None})
        if not gpus:
            notes.add("foreign_line", say("the line belongs to a GPU whose own line is missing"), at=line)
        elif (key := _FIELDS.get(row["key"] or "")) is not None:
            value = row["value"]
            gpus[-1][key] = (pci_address(value) or value) if key == "bus_id" else value


def _check(what: str, stated: dict[str, int], listed: int, notes: Notes) -> None:
    if what in stated and stated[what] != listed:
        message = say(
            "%(stated)s %(what)s are said to be found, %(listed)s are listed",
            stated=stated[what],
            what=what,
            listed=listed,
        )
        notes.add("gpus_missing", message)


def _facts(stated: dict[str, int], gpus: list[dict[str, Any]], switches: list[int]) -> dict[str, Any]:
    return {
        "gpus_found": stated.get("GPU"),
        "nvswitches_found": stated.get("NvSwitch"),
        "connectx_found": stated.get("ConnectX"),
        "cpus_found": stated.get("CPU"),
        "models": dict(Counter(gpu["name"] for gpu in gpus if gpu["name"])),
        "devices": gpus,
        "nvswitches": switches,
    }
