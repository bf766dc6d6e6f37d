"""`nvidia-smi --query-gpu=… --format=csv`: the fields that were asked for, named in the first line.

Each row becomes the tree of a GPU as `nvidia-smi -q` prints it, so both give the same facts.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence

from apps.core.texts import say
from apps.evidence.engine.parsers._dressing import one_process, plain_lines
from apps.evidence.engine.parsers._gpu_fields import Path
from apps.evidence.engine.parsers._gpu_report import report_facts
from apps.evidence.engine.parsers._not_answering import driver_error, gpus_without_handle, is_error
from apps.evidence.engine.parsers._notes import Notes
from apps.evidence.engine.parsers._tree import Branch
from apps.evidence.engine.pci import pci_address
from apps.evidence.engine.reading import Reading, Unreadable
from apps.evidence.engine.source import Line, Source

KIND = "nvidia_smi_query"
VERSION = 2

_ECC_KINDS = (("corrected", "single_bit"), ("uncorrected", "double_bit"))
# The name of a field to where `nvidia-smi -q` has it.
_PLACES: dict[str, Path] = {
    "name": ("product_name",),
    "gpu_name": ("product_name",),
    "uuid": ("gpu_uuid",),
    "gpu_uuid": ("gpu_uuid",),
    "serial": ("serial_number",),
    "gpu_serial": ("serial_number",),
    "vbios_version": ("vbios_version",),
    "inforom.img": ("inforom_version", "image_version"),
    "inforom.image": ("inforom_version", "image_version"),
    "persistence_mode": ("persistence_mode",),
    "compute_mode": ("compute_mode",),
    "pstate": ("performance_state",),
    "mig.mode.current": ("mig_mode", "current"),
    "mig.mode.pending": ("mig_mode", "pending"),
    "ecc.mode.current": ("ecc_mode", "current"),
    "ecc.mode.pending": ("ecc_mode", "pending"),
    "fabric.state": ("fabric", "state"),
    "fabric.status": ("fabric", "status"),
    "fabric.cluster_uuid": ("fabric", "clusteruuid"),
    "fabric.clique_id": ("fabric", "cliqueid"),
    "gpu_recovery_action": ("gpu_recovery_action",),
    "platform.chassis_serial_number": ("platform_info", "chassis_serial_number"),
    "platform.slot_number": ("platform_info", "slot_number"),
    "platform.tray_index": ("platform_info", "tray_index"),
    "platform.host_id": ("platform_info", "host_id"),
    "platform.module_id": ("platform_info", "module_id"),
    "pcie.link.gen.current": ("pci", "gpu_link_info", "pcie_generation", "current"),
    "pcie.link.gen.gpucurrent": ("pci", "gpu_link_info", "pcie_generation", "current"),
    "pcie.link.gen.max": ("pci", "gpu_link_info", "pcie_generation", "max"),
    "pcie.link.width.current": ("pci", "gpu_link_info", "link_width", "current"),
    "pcie.link.width.max": ("pci", "gpu_link_info", "link_width", "max"),
    "memory.total": ("fb_memory_usage", "total"),
    "memory.used": ("fb_memory_usage", "used"),
    "temperature.gpu": ("temperature", "gpu_current_temp"),
    "temperature.memory": ("temperature", "memory_current_temp"),
    "power.draw": ("gpu_power_readings", "power_draw"),
    "power.draw.instant": ("gpu_power_readings", "instantaneous_power_draw"),
    "power.draw.average": ("gpu_power_readings", "average_power_draw"),
    "power.limit": ("gpu_power_readings", "current_power_limit"),
    "enforced.power.limit": ("gpu_power_readings", "enforced_power_limit"),
    "utilization.gpu": ("utilization", "gpu"),
    "retired_pages.single_bit_ecc.count": ("retired_pages", "single_bit_ecc"),
    "retired_pages.double_bit.count": ("retired_pages", "double_bit_ecc"),
    "retired_pages.pending": ("retired_pages", "pending"),
    "remapped_rows.correctable": ("remapped_rows", "correctable_error"),
    "remapped_rows.uncorrectable": ("remapped_rows", "uncorrectable_error"),
    "remapped_rows.pending": ("remapped_rows", "pending"),
    "remapped_rows.failure": ("remapped_rows", "remapping_failure_occurred"),
    **{
        f"ecc.errors.{kind}.{span}.total": ("ecc_errors", span, old, "total")
        for span in ("volatile", "aggregate")
        for kind, old in _ECC_KINDS
    },
}
_TOP = {"driver_version": "driver_version", "count": "attached_gpus", "timestamp": "timestamp"}
_BUS_IDS = ("pci.bus_id", "gpu_bus_id")
_IDENTITIES = ("uuid", "gpu_uuid", *_BUS_IDS, "index")
_KNOWN = {*_PLACES, *_TOP, *_IDENTITIES}
_NAME = re.compile(r"(?P<name>[a-z][a-z0-9_]*(?:\.[a-z0-9_]+)*)(?: \[(?P<unit>[A-Za-z%/]{1,8})\])?")
_NUMBER = re.compile(r"[+-]?\d+(?:\.\d+)?")
_UNITS = {"pcie.link.width.current": "x", "pcie.link.width.max": "x"}  # which CSV leaves out
# Of fewer fields an error in some says nothing of the GPU, but for those that a GPU which answers always has.
_TELLING_FIELDS = 8
_SAY_LOSS = frozenset({"name", "gpu_name", "uuid", "gpu_uuid"})
_AFTER_NUMBER = frozenset({"MiB", "W", "C", "%", "MHz", "x"})

Field = tuple[str, str]  # name and unit


def recognise(sample: str) -> int:
    lines = [line.strip() for line in sample.split("\n") if line.strip()]
    return 85 if any(_fields(line) for line in lines[:40]) else 0


def read(source: Source) -> Reading:
    notes = Notes()
    lines = one_process(plain_lines(source), _is_output, notes)
    start = next((place for place, line in enumerate(lines) if _fields(line.text)), None)
    if start is None:
        raise Unreadable(
            say("nvidia-smi --query-gpu: the line that names the fields is missing"), code="no_header"
        )
    fields = _fields(lines[start].text)
    rows = list(_rows(lines[start + 1 :], fields, notes))
    unopened, no_driver = gpus_without_handle(lines), driver_error(lines)
    if not rows and not unopened and not no_driver:
        raise Unreadable(say("nvidia-smi --query-gpu: there is no GPU in it"), code="no_gpus")
    gpus = [(_bus_id(row, line), _branch(line, row, dict(fields))) for line, row in rows]
    facts = report_facts(gpus, _top(rows, notes), notes, unopened=unopened)
    facts["bus_ids"] = [bus_id for bus_id in facts["bus_ids"] if pci_address(bus_id)]
    facts["driver_error"] = no_driver.text.strip() if no_driver else None
    if no_driver:
        notes.add("driver_not_answering", say("the driver does not answer"), at=no_driver)
    return Reading(kind=KIND, facts=facts, warnings=notes.all(), parser_version=VERSION)


def _is_output(lines: list[Line]) -> bool:
    return any(_fields(line.text) for line in lines)


def _cells(text: str) -> list[str]:
    return [
        cell.strip()
        for cell in next(csv.reader([" ".join(text.splitlines()).strip()], skipinitialspace=True), [])
    ]


def _fields(text: str) -> list[Field]:
    """The fields that a header names; none for a line that is no header.

    One word alone is a header only where no other text has it.
    """
    if len(text) > 4000 or not text.strip()[:1].islower():
        return []
    found = [_NAME.fullmatch(cell) for cell in _cells(text)]
    names = [one["name"] for one in found if one]
    known = [name for name in names if name in _KNOWN]
    telling = len(known) > 1 or any("." in name or "_" in name for name in known)
    if len(names) < len(found) or not telling:
        return []
    return [(one["name"], one["unit"] or "") for one in found if one]


def _rows(lines: Sequence[Line], fields: Sequence[Field], notes: Notes) -> list[tuple[Line, dict[str, str]]]:
    """Rows with as many values as there are fields; of a GPU that comes again (`-l`) the first is read.

    Where other fields are named further down, the file holds another report.
    """
    found: list[tuple[Line, dict[str, str]]] = []
    seen: set[str] = set()
    repeated: Line | None = None
    for line in lines:
        header = _fields(line.text)
        if header and header != fields:
            repeated = repeated or line
            break
        cells = _cells(line.text)
        if header or len(cells) != len(fields):
            if not header and "," in line.text and len(fields) > 1:
                notes.add("cut_line", say("the line has not as many values as there are fields"), at=line)
            continue
        row = _row(line, fields, cells, notes)
        identity = next((row[name] for name in _IDENTITIES if name in row), None)
        if identity in seen:
            repeated = repeated or line
            continue
        if identity is not None:
            seen.add(identity)
        found.append((line, row))
    if repeated:
        notes.add(
            "several_reports", say("the file holds several reports; only the first is read"), at=repeated
        )
    return found


def _row(line: Line, fields: Sequence[Field], cells: Sequence[str], notes: Notes) -> dict[str, str]:
    """Field to value; one that was asked for twice and has two values says nothing."""
    row: dict[str, str] = {}
    for (name, _unit), cell in zip(fields, cells, strict=True):
        if row.setdefault(name, cell) != cell:
            notes.add(
                "contradictory_value", say("%(path)s is printed with several values", path=name), at=line
            )
            row[name] = "N/A"
    return row


def _bus_id(row: dict[str, str], line: Line) -> str:
    """The address of a GPU; where it was not asked for, something else that tells it from the others."""
    return next((row[name] for name in (*_BUS_IDS, *_IDENTITIES) if name in row), f"of line {line.number}")


def _top(rows: Sequence[tuple[Line, dict[str, str]]], notes: Notes) -> dict[str, str | None]:
    """What holds for the node; every row repeats it."""
    top: dict[str, str | None] = {}
    for name, key in _TOP.items():
        values = list(dict.fromkeys(row[name] for _line, row in rows if name in row))
        if len(values) > 1 and name != "timestamp":
            notes.add("contradictory_value", say("%(path)s is printed with several values", path=name))
        if len(values) == 1 or name == "timestamp":
            top[key] = values[0] if values else None
    return top


def _branch(line: Line, row: dict[str, str], units: dict[str, str]) -> Branch:
    root = Branch(key="gpu", line=line.number)
    is_little = len(row) < _TELLING_FIELDS
    for name, value in row.items():
        if name not in _PLACES:
            continue
        *headings, key = _PLACES[name]
        parent = root
        for heading in headings:
            if not (below := parent.named(heading)):
                below = [Branch(key=heading, line=line.number)]
                parent.children += below
            parent = below[0]
        text = _with_unit(name, value, units[name])
        if is_little and is_error(text) and name not in _SAY_LOSS:
            text = "N/A"
        parent.children.append(Branch(key=key, text=text, line=line.number))
    return root


def _with_unit(name: str, value: str, unit: str) -> str:
    """The value as `nvidia-smi -q` writes it: with its unit, which nounits leaves to the header, and N/A bare."""
    bare = value[1:-1] if value.startswith("[") and value.endswith("]") else value
    unit = unit or _UNITS.get(name) or ("C" if name.startswith("temperature.") else "")
    if unit not in _AFTER_NUMBER or not _NUMBER.fullmatch(bare):
        return bare
    return f"{bare}x" if unit == "x" else f"{bare} {unit}"
