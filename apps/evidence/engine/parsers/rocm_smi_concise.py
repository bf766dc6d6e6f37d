"""`rocm-smi` without options: one row per GPU beneath a header, from ROCm 2 to 7, and Hygon's hy-smi.

Columns came, went and were renamed (AvgPwr, Power; Device, GPU, HCU); cells are matched to the header by their
number, and a row that does not fit its header gives no values but a warning.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

from apps.core.texts import say
from apps.evidence.engine.parsers._dressing import one_process, plain_lines
from apps.evidence.engine.parsers._notes import Notes
from apps.evidence.engine.parsers._values import count, known, quantity
from apps.evidence.engine.reading import Reading, Unreadable
from apps.evidence.engine.source import Line, Source

KIND = "rocm_smi_concise"
VERSION = 2

_LIKE_HEADER = re.compile(
    r"\b(?:GPU|Device|DCU|HCU)\s[^|\n]{0,60}\bTemp\b[^|\n]{0,120}\bPerf\b", re.IGNORECASE
)
_HEADER = re.compile(rf"\s*{_LIKE_HEADER.pattern}", re.IGNORECASE)
_TITLE = re.compile(r"[=.]{4}\s{0,40}(?:ROCm )?System Management Interface", re.IGNORECASE)
_END = re.compile(r"\bEnd of (?:ROCm )?SMI Log\b", re.IGNORECASE)
_RULE = re.compile(r"[=.\s-]*")
_ROW = re.compile(r"\s*\d{1,4}\s{2,}\S")
_WHICH = re.compile(r" \([\w, ]+\)$")  # Temp (DieEdge): ROCm 4 and 5 say in the heading which sensor it is
_CELLS = re.compile(r"\s{2,}|\t")
_DEVICE_ID = re.compile(r"0x[0-9a-fA-F]{1,8}")
# heading in lower case to key and unit; the first heading that the table has is used
_QUANTITIES = (
    ("temp_c", ("temp",), ("°C", "C")),
    ("power_w", ("power", "avgpwr"), ("W",)),
    ("power_cap_w", ("pwrcap",), ("W",)),
    ("sclk_mhz", ("sclk",), ("Mhz",)),
    ("mclk_mhz", ("mclk",), ("Mhz",)),
    ("fan_percent", ("fan",), ("%",)),
    ("vram_percent", ("vram%",), ("%",)),
    ("utilisation_percent", ("gpu%", "dcu%", "hcu%"), ("%",)),
)


def recognise(sample: str) -> int:
    if not _LIKE_HEADER.search(sample):
        return 0
    return 100 if _TITLE.search(sample) else 60


def read(source: Source) -> Reading:
    notes = Notes()
    lines = one_process(plain_lines(source), _is_output, notes)
    starts = [index for index, line in enumerate(lines) if _HEADER.match(line.text)]
    if not starts:
        raise Unreadable(say("rocm-smi: the header of the concise table is missing"), code="no_header")
    if len(starts) > 1:
        notes.add(
            "repeated_table", say("the table comes more than once; the first is read"), at=lines[starts[1]]
        )
    gpus = _gpus(lines[starts[0] : starts[1] if len(starts) > 1 else None], notes)
    if not gpus:
        raise Unreadable(say("rocm-smi: no GPU stands beneath the header"), code="no_devices")
    names = [gpu["name"] for gpu in gpus if gpu["name"]]
    facts: dict[str, Any] = {
        "gpus": len(gpus),
        "models": dict(Counter(names)) or None,
        "device_ids": list(dict.fromkeys(gpu["device_id"] for gpu in gpus if gpu["device_id"])),
        "partitions": list(dict.fromkeys(gpu["partitions"] for gpu in gpus if gpu["partitions"])),
        "temps_c": [gpu["temp_c"] for gpu in gpus],
        "power_w": [gpu["power_w"] for gpu in gpus],
        "devices": gpus,
    }
    return Reading(kind=KIND, facts=facts, warnings=notes.all(), parser_version=VERSION)


def _is_output(lines: list[Line]) -> bool:
    return any(_HEADER.match(line.text) for line in lines)


def _gpus(lines: Sequence[Line], notes: Notes) -> list[dict[str, Any]]:
    headings = [_WHICH.sub("", heading.casefold()) for heading in _CELLS.split(lines[0].text.strip())]
    if len(headings) < 4:
        notes.add("blanks_lost", say("the header has lost the blanks between its columns"), at=lines[0])
    gpus: list[dict[str, Any]] = []
    ended = False
    for line in lines[1:]:
        text = line.text.strip()
        if _END.search(text):
            ended = True
            break
        if _ROW.match(line.text) or (len(headings) < 4 and text[:1].isdecimal()):
            gpus.append(_gpu(headings, line, notes))
        elif gpus and line.text[:1].isspace() and text and gpus[-1]["name"] is None:
            gpus[-1]["name"] = text
        elif gpus and text and not _RULE.fullmatch(text):
            notes.add("row_not_understood", say("neither a GPU nor its name"), at=line)
    if len({gpu["name"] is None for gpu in gpus}) > 1:
        notes.add("name_missing", say("some GPUs have a name beneath and others do not"), at=lines[0])
    if len({gpu["index"] for gpu in gpus}) != len(gpus):
        notes.add("repeated_device", say("a GPU number stands twice"), at=lines[0])
    if not ended:
        notes.add("no_end", say("the closing line of the log is missing; the output may be cut"))
    return gpus


def _gpu(headings: Sequence[str], line: Line, notes: Notes) -> dict[str, Any]:
    """One GPU. Values are None where the table has N/A, no such column, or a row that does not fit."""
    # IDs are printed as `0x74a1,   28851`
    cells = _CELLS.split(re.sub(r",\s+", ", ", line.text.strip()))
    fits = len(cells) == len(headings)
    if not fits:
        notes.add(
            "row_not_understood",
            say("values: %(count)s, headings: %(count_2)s", count=len(cells), count_2=len(headings)),
            at=line,
        )
    row = dict(zip(headings, cells, strict=True)) if fits else {}
    gpu: dict[str, Any] = {"index": count(cells[0].split()[0]), "name": None}
    for key, names, units in _QUANTITIES:
        text = next((row[name] for name in names if name in row), None)
        gpu[key] = quantity(text, *units)
        if text is not None and gpu[key] is None and known(text) and text not in ("None", "Unsupported"):
            notes.add(
                "value_not_understood",
                say("%(text)s does not fit its heading", text=f"{text[:40]!r}"),
                at=line,
            )
    device_id = _DEVICE_ID.search(row.get("ids") or row.get("[model : revision]") or "")
    modes = [mode.strip() for mode in (row.get("partitions") or "").split(",")][:2]
    gpu["device_id"] = device_id[0] if device_id else None
    gpu["partitions"] = ", ".join(modes) if any(known(mode) for mode in modes) else None
    gpu["perf_level"] = known(row.get("perf"))
    gpu["kfd_node"] = count(row.get("node"))
    return gpu
