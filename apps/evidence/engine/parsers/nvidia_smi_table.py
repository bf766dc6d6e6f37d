"""`nvidia-smi` without options: its table of GPUs, of any driver. `nvidia-smi -q` says more; here names may be cut."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

from apps.core.texts import say
from apps.evidence.engine.parsers._box import Device, Table, device_table, leading_number, note_repeats
from apps.evidence.engine.parsers._dressing import one_process, plain_lines
from apps.evidence.engine.parsers._notes import Notes
from apps.evidence.engine.parsers._smi_values import measured
from apps.evidence.engine.parsers._values import count
from apps.evidence.engine.reading import Reading, Unreadable
from apps.evidence.engine.source import Line, Source

KIND = "nvidia_smi_table"
VERSION = 1

_TITLE = re.compile(r"[|│]\s*NVIDIA-SMI\s+(?P<version>[0-9][\w.]*)\s")
_DRIVER = re.compile(r"\bDriver Version:\s*([0-9][\w.]*)(?=[\s|│])")
_CUDA = re.compile(r"\bCUDA Version:\s*([0-9][\w.]*)(?=[\s|│])")
_THIRD_ROW = re.compile(r"[|│]\s*[|│]\s*[|│]\s*(?P<mig>[^|│]*?)\s*[|│]?\s*")  # of the header and of each GPU
_MIG_HEADING = "MIG M."
_MODES = {"On": "Enabled", "Off": "Disabled"}
_NO_MODES = frozenset({"N/A", "TCC", "WDDM", "MCDM"})  # what stands in the place of persistence mode
_MIG_MODES = frozenset({"Enabled", "Disabled", "N/A"})


def recognise(sample: str) -> int:
    return 90 if _TITLE.search(sample) else 0


def read(source: Source) -> Reading:
    notes = Notes()
    lines = one_process(plain_lines(source), _is_output, notes)
    rows, third_rows = _in_two_rows(lines)
    table = device_table(rows, "Bus-Id", notes)
    if table is None or not table.devices:
        raise Unreadable(say("nvidia-smi: there is no table of GPUs in it"), code="no_gpus")
    gpus = [_gpu(table, device, third_rows, notes) for device in table.devices]
    note_repeats([(device, gpu["index"]) for device, gpu in zip(table.devices, gpus, strict=True)], notes)
    if not any("Processes:" in line.text for line in lines):
        notes.add("no_end", say("the table of processes is missing; the output may be cut"))
    title = next((line for line in lines if _TITLE.search(line.text)), Line(0, ""))
    if not title.text.rstrip().endswith(("|", "│")):
        notes.add("cut_line", say("the line is not closed; its last value may be cut"), at=title)
    return Reading(kind=KIND, facts=_facts(title.text, gpus), warnings=notes.all(), parser_version=VERSION)


def _is_output(lines: list[Line]) -> bool:
    return any(_TITLE.search(line.text) for line in lines)


def _in_two_rows(lines: Sequence[Line]) -> tuple[list[Line], dict[int, str]]:
    """The lines without third rows of the header and of GPUs; number of the line before such a row to its MIG mode."""
    rows: list[Line] = []
    third: dict[int, str] = {}
    for line in lines:
        found = _THIRD_ROW.fullmatch(line.text.strip())
        if found is None:
            rows.append(line)
        elif rows:
            third[rows[-1].number] = found["mig"]
    return rows, third


def _gpu(table: Table, device: Device, third_rows: dict[int, str], notes: Notes) -> dict[str, Any]:
    index, rest = leading_number(table.cell(device, "Name"))
    name, _, mode = rest.rpartition(" ")
    if mode not in _MODES and mode not in _NO_MODES:
        name, mode = rest, ""
    if index is None or not name:
        notes.add("value_not_understood", say("neither number nor name of a card"), at=device.lines[0])
    elif "..." in name:
        notes.add(
            "name_cut",
            say("nvidia-smi cut the name of the card; nvidia-smi -q has it whole"),
            at=device.lines[0],
        )
    mig = third_rows.get(device.lines[1].number)
    if _MIG_HEADING in third_rows.values() and mig not in _MIG_MODES:
        heading = say("no value that fits the heading %(heading)s", heading=_MIG_HEADING)
        notes.add("value_not_understood", heading, at=device.lines[1])
    return {
        "index": index,
        "name": name if name and "..." not in name else None,
        "persistence_mode": _MODES.get(mode),
        "mig_mode": mig if mig in _MIG_MODES else None,
        "uncorrectable_ecc": count(table.cell(device, "Volatile")),
        **measured(table, device, "GPU-Util", notes),
    }


def _facts(title: str, gpus: Sequence[dict[str, Any]]) -> dict[str, Any]:
    def distinct(field: str) -> list[Any]:
        return list(dict.fromkeys(gpu[field] for gpu in gpus if gpu[field] is not None))

    driver, cuda = _DRIVER.search(title), _CUDA.search(title)
    return {
        "driver_version": driver[1] if driver else None,
        "cuda_version": cuda[1] if cuda else None,
        "gpus_listed": len(gpus),
        "bus_ids": [gpu["bus_id"] for gpu in gpus],
        "models": dict(Counter(gpu["name"] for gpu in gpus if gpu["name"])),
        "fb_total": [f"{size} MiB" for size in distinct("memory_total_mib")],
        "persistence_mode": distinct("persistence_mode"),
        "mig_mode_current": distinct("mig_mode"),
        "gpus": list(gpus),
    }
