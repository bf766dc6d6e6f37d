"""What the firmware says of the machine (DMI): `dmidecode -t system -t baseboard`, or files of /sys/class/dmi/id.

Serial numbers are for root only; what was refused or is a maker's placeholder is not known.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from apps.core.texts import say
from apps.evidence.engine.parsers._dressing import one_process, plain_lines
from apps.evidence.engine.parsers._notes import Notes
from apps.evidence.engine.parsers._values import known
from apps.evidence.engine.parsers._version_files import by_file, note_cut
from apps.evidence.engine.reading import Reading, Unreadable
from apps.evidence.engine.source import Line, Source

KIND = "dmi"
VERSION = 1

_HANDLE = re.compile(r"Handle 0x[0-9A-Fa-f]{4,8}, DMI type (?P<type>\d{1,3}), \d{1,5} bytes")
_SECTIONS = {0: "bios", 1: "system", 2: "board", 3: "chassis"}
_PAIR = re.compile(r"(?P<key>[A-Z][\w ]{1,30}): ?(?P<value>.{0,200})")
_KEYS = {
    "Vendor": "manufacturer",
    "Manufacturer": "manufacturer",
    "Product Name": "product",
    "Version": "version",
    "Serial Number": "serial",
    "UUID": "uuid",
    "SKU Number": "sku",
    "Family": "family",
    "Release Date": "date",
    "Type": "type",
}
_FILE = re.compile(
    r"/(?:[\w.-]{1,40}/){0,8}(?P<section>sys|product|board|chassis|bios)_"
    r"(?P<key>vendor|name|version|serial|uuid|sku|family|date)"
)
_FILE_SECTIONS = {"sys": "system", "product": "system"}
_FILE_KEYS = {"vendor": "manufacturer", "name": "product"}
_DENIED = re.compile(r".*?(?P<path>/\S{1,200}): Permission denied")
_PLACEHOLDER = re.compile(
    r"to be filled.*|default string|not (?:specified|present|applicable|settable)|none|empty|invalid|unknown|"
    r"(?:system|chassis|base ?board|product)? ?(?:serial|asset|part) ?(?:number|tag)?|"
    r"o\.?e\.?m\.?|x{3,}|0123456789|1234567890?|\.+",
    re.IGNORECASE,
)
_ONE_CHARACTER = re.compile(r"[0fF-]+|(.)\1{2,}")  # such as 000000 and a UUID of Fs
_MOST_BOARDS = 64
_MAIN_BOARDS = ("Motherboard", "System Board", "Server Blade", "Processor+Memory Module")


def recognise(sample: str) -> int:
    if re.search(r"^.{0,80}Handle 0x[0-9A-Fa-f]{4,8}, DMI type [0-3],", sample, re.MULTILINE):
        return 88
    return 88 if re.search(r"/sys/(?:class|devices/virtual)/dmi/id/\w", sample) else 0


def read(source: Source) -> Reading:
    """Raises Unreadable where nothing of the machine or its board is there."""
    notes = Notes()
    lines = one_process(plain_lines(source), _is_output, notes)
    parts, taken = _of_tables(lines, notes)
    if not parts:
        parts, taken = _of_files(lines, notes)
    refused = [found["path"] for line in lines if (found := _DENIED.fullmatch(line.text.strip()[:400]))]
    if refused:
        notes.add("refused", say("serial numbers are for root only; what was refused is not known"))
    if not parts:
        raise Unreadable(say("DMI: neither a system nor a board was found"), code="no_machine")
    boards = [_values(held, notes) for name, held in parts if name == "board"][:_MOST_BOARDS]
    facts: dict[str, Any] = {
        name: next((_values(held, notes) for part, held in parts if part == name), None)
        for name in ("system", "chassis", "bios")
    }
    facts["board"] = _main_board(boards, notes)
    facts["boards"] = len(boards)
    facts["bios_version"] = (facts["bios"] or {}).get("version")
    facts["refused"] = refused[:20]
    note_cut(source, taken, notes)
    return Reading(kind=KIND, facts=facts, warnings=notes.all(), parser_version=VERSION)


def _is_output(lines: list[Line]) -> bool:
    return any(
        _HANDLE.fullmatch(line.text.strip()) or "/dmi/id/" in line.text or "/dmi/" in line.text[:80]
        for line in lines
    )


_Part = tuple[str, dict[str, tuple[str, Line]]]


def _main_board(boards: list[dict[str, str | None]], notes: Notes) -> dict[str, str | None] | None:
    """The board that the machine is built on; risers and the like say that they are something else."""
    main = [one for one in boards if one.get("type") in _MAIN_BOARDS]
    unsaid = [one for one in boards if one.get("type") is None]
    if boards and not main and not unsaid:
        notes.add("main_board_missing", say("none of the boards says that it is the main one"))
    return next(iter([*main, *unsaid]), None)


def _of_tables(lines: Iterable[Line], notes: Notes) -> tuple[list[_Part], list[Line]]:
    """Structures of dmidecode in order, and the lines that were taken. Each begins with its handle."""
    parts: list[_Part] = []
    taken: list[Line] = []
    current: dict[str, tuple[str, Line]] | None = None
    for line in lines:
        text = line.text.strip()[:400]
        if head := _HANDLE.fullmatch(text):
            name = _SECTIONS.get(int(head["type"]))
            current = {} if name else None
            if name and current is not None:
                parts.append((name, current))
        elif current is not None and (pair := _PAIR.fullmatch(text)) and pair["key"] in _KEYS:
            value = pair["value"].strip()
            if current.setdefault(_KEYS[pair["key"]], (value, line))[0] != value:
                said = say("%(key)s comes again with another value", key=pair["key"])
                notes.add("key_repeated", said, at=line)
            taken.append(line)
    return parts, taken


def _of_files(lines: Iterable[Line], notes: Notes) -> tuple[list[_Part], list[Line]]:
    """The same of the files of /sys/class/dmi/id, whose first line is the value."""
    parts: dict[str, dict[str, tuple[str, Line]]] = {}
    taken: list[Line] = []
    for named in by_file(lines):
        found = _FILE.fullmatch(named.path)
        held = [
            line for line in named.lines if line.text.strip() and not _DENIED.fullmatch(line.text.strip())
        ]
        first = held[0] if held else None
        if found is None or first is None:
            continue
        section = _FILE_SECTIONS.get(found["section"], found["section"])
        key = _FILE_KEYS.get(found["key"], found["key"])
        parts.setdefault(section, {}).setdefault(key, (first.text.strip()[:200], first))
        taken.append(first)
        if len(held) > 1:
            notes.add("more_lines", say("the file has one line; these are several"), at=first)
    return list(parts.items()), taken


def _values(held: dict[str, tuple[str, Line]], notes: Notes) -> dict[str, str | None]:
    """Key to value; None for placeholders, with a word where a serial number is one."""
    values: dict[str, str | None] = {}
    for key, (value, line) in held.items():
        is_empty = known(value) is None or _PLACEHOLDER.fullmatch(value) is not None
        if key in ("serial", "uuid"):
            is_empty = is_empty or _ONE_CHARACTER.fullmatch(value) is not None
        values[key] = None if is_empty else value
        if is_empty and value and key in ("serial", "uuid"):
            notes.add(
                "placeholder", say("the %(key)s is a placeholder of the maker, not known", key=key), at=line
            )
    return values
