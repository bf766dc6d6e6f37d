"""Firmware of NVSwitches: the driver's files in /proc, NVOS of a switch tray, nvfwupd, and Redfish inventories.

/proc/driver/nvidia-nvswitch/devices/ADDRESS/information prints `BIOS Version: 96.10.57.00.01`; NVOS
(`nv show platform firmware`, as a table or JSON) prints the ASIC's `actual-firmware` 35.2014.1482; nvfwupd
and the management controller call the same images HGX_FW_NVSwitch_0.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any

from apps.core.texts import say
from apps.evidence.engine.parsers._dressing import one_process, plain_lines
from apps.evidence.engine.parsers._notes import Notes
from apps.evidence.engine.parsers._objects import load_objects, text_of
from apps.evidence.engine.parsers._values import known
from apps.evidence.engine.parsers._version_files import by_file, note_cut, sample_lines
from apps.evidence.engine.pci import pci_address
from apps.evidence.engine.reading import Reading, Unreadable
from apps.evidence.engine.source import Line, Source

KIND = "nvswitch_firmware"
VERSION = 1

_IMAGE = r"[0-9A-Fa-f]{2}(?:\.[0-9A-Fa-f]{2}){4}"
_ASIC = r"\d{2,3}\.\d{4}\.\d{1,4}"
_VERSION = re.compile(rf"{_IMAGE}|{_ASIC}")
_BIOS = re.compile(r"BIOS Version: (?P<value>\S{1,40})")
_BIOS_SAMPLE = re.compile(rf"^.{{0,120}}\bBIOS Version: (?:{_IMAGE}|N/A)\s*$", re.MULTILINE)
_ADDRESS = re.compile(r"/nvidia-nvswitch/devices/(?P<pci>[0-9A-Fa-f:.]{7,20})/")
_ACTUAL = re.compile(r"actual-firmware\s{1,40}(?P<value>\S{1,40})(?:\s.{0,80})?")
_RULE = re.compile(r"-{3,}(?: +-{3,})+")
_UPDATER_NAME = re.compile(r"(?:\w{1,40}_)?NVSwitch_\d{1,3}")
_UPDATER_ROW = re.compile(
    rf"(?:\S{{1,80}}\s+)?(?P<name>{_UPDATER_NAME.pattern})\s+(?P<value>\S{{1,40}})(?:\s.{{0,200}})?"
)
_JSON_SAMPLE = re.compile(
    r'"(?:AP Name|Id|Name)": ?"(?:\w{1,40}_)?NVSwitch_\d{1,3}"|"actual-firmware": ?"\d{2,3}\.\d{4}\.'
)
_MOST = 4096


def recognise(sample: str) -> int:
    if _JSON_SAMPLE.search(sample):
        return 82
    if "/nvidia-nvswitch/devices/" in sample and "BIOS Version:" in sample:
        return 90
    lines = sample_lines(sample)
    if any(_of_updater(line) for line in lines) or any(_ACTUAL.fullmatch(line) for line in lines):
        return 82
    if _is_table("\n".join(lines)):
        return 82
    return 60 if _BIOS_SAMPLE.search(sample) else 0


def read(source: Source) -> Reading:
    """Raises Unreadable where no NVSwitch is there."""
    notes = Notes()
    is_json = bool(_JSON_SAMPLE.search(source.sample))
    found = list(_from_json(source, notes) if is_json else _from_text(source, notes))[:_MOST]
    if not found:
        raise Unreadable(say("NVSwitch: no firmware version was found"), code="no_switches")
    switches = [{"name": name, "pci": pci, "version": version} for name, pci, version, _line in found]
    names = Counter(name for name, _pci, _version, _line in found if name)
    for name, count in names.items():
        if count > 1:
            notes.add("switch_repeated", say("%(name)s is listed %(count)s times", name=name, count=count))
    versions = Counter(version for _name, _pci, version, _line in found if version)
    if len(versions) > 1:
        notes.add(
            "firmware_differs", say("the switches have %(count)s versions of firmware", count=len(versions))
        )
    if not is_json:
        note_cut(source, [line for *_rest, line in found if line is not None], notes)
    facts: dict[str, Any] = {"switches": switches, "versions": dict(versions)}
    return Reading(kind=KIND, facts=facts, warnings=notes.all(), parser_version=VERSION)


_Found = tuple[str | None, str | None, str | None, Line | None]


def _from_text(source: Source, notes: Notes) -> Iterator[_Found]:
    for named in by_file(one_process(plain_lines(source), _is_output, notes)):
        address = _ADDRESS.search(named.path)
        pci = pci_address(address["pci"]) if address else None
        texts = [(line, line.text.strip()[:400]) for line in named.lines]
        for line, text in texts:
            if row := _BIOS.fullmatch(text):
                yield pci, pci, _checked(row["value"], line, notes), line
            elif row := _ACTUAL.fullmatch(text):
                # Of one component: the ASIC's; a BIOS or CPLD has a version of another form.
                if _VERSION.fullmatch(row["value"]):
                    yield "ASIC", None, row["value"], line
            elif (row := _UPDATER_ROW.fullmatch(text)) and "ERoT" not in row["name"]:
                yield row["name"], None, _checked(row["value"], line, notes), line
        yield from _from_table(named.lines, notes)


def _is_output(lines: list[Line]) -> bool:
    texts = [line.text.strip()[:400] for line in lines]
    if any(_BIOS.fullmatch(text) or _ACTUAL.fullmatch(text) or _of_updater(text) for text in texts):
        return True
    return _is_table("\n".join(texts))


def _of_updater(text: str) -> bool:
    row = _UPDATER_ROW.fullmatch(text)
    return row is not None and "ERoT" not in row["name"]


def _is_table(text: str) -> bool:
    lines = text.split("\n")
    return any(
        _RULE.fullmatch(rule.strip()) and "actual" in head.casefold() for head, rule in pairwise(lines)
    ) and any(line.startswith("ASIC") for line in lines)


def _from_table(lines: list[Line], notes: Notes) -> Iterator[_Found]:
    """Rows of ASICs in NVOS' table of all components; the rule below the head tells where columns begin."""
    spans: list[tuple[int, int]] = []
    actual = -1
    for before, line in zip([None, *lines], lines, strict=False):
        text = line.text.rstrip()
        if before is not None and _RULE.fullmatch(text.strip()):
            spans = [match.span() for match in re.finditer(r"-+", text)]
            heads = [before.text[start:end].strip().casefold() for start, end in spans]
            actual = next((place for place, head in enumerate(heads) if "actual" in head), -1)
        elif actual > 0 and text.strip().startswith("ASIC"):
            start, end = spans[actual]
            yield text.split()[0], None, _checked(text[start:end].strip(), line, notes), line


def _checked(value: str, line: Line, notes: Notes) -> str | None:
    """The version; None where the tool does not know it, with a warning where it is no version."""
    if _VERSION.fullmatch(value):
        return value
    if known(value) is not None:
        notes.add("version_not_understood", say("this is no version of an NVSwitch's firmware"), at=line)
    return None


def _from_json(source: Source, notes: Notes) -> Iterator[_Found]:
    for document in load_objects(source, notes):
        for name, held in _maps(document.value):
            title = next((text_of(held[key]) for key in ("AP Name", "Id", "Name") if key in held), None) or ""
            line = Line(document.line, title or name)
            if _UPDATER_NAME.fullmatch(title) and "ERoT" not in title:
                value = text_of(held.get("Sys Version") or held.get("Version")) or ""
                yield title, None, _checked(value, line, notes), None
            elif "actual-firmware" in held and (not name or name.startswith("ASIC")):
                value = text_of(held["actual-firmware"]) or ""
                yield name or "ASIC", None, _checked(value, line, notes), None


def _maps(value: Any, name: str = "") -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Every map in a document with the key under which it stands; elements of a list have none."""
    stack = [(name, value)]
    while stack:
        key, held = stack.pop()
        if isinstance(held, dict):
            yield key, held
            stack += reversed([(str(inner), child) for inner, child in held.items()])
        elif isinstance(held, list):
            stack += reversed([("", child) for child in held])
