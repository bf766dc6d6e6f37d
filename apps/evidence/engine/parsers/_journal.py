"""Lines of the journal in its longer forms, as the short one that kernel logs are read in.

`journalctl -o json`: one object for each entry, on one line; tools make an array of them. `-o json-pretty`: the object
over several lines. `-o verbose`: a line with the time, and beneath it, indented, a line for each field.
`-o export`: the same fields at the margin. Everything else stays as it is.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from apps.evidence.engine.source import Line

_ENTRY = re.compile(r"\w{3} (?P<at>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d{1,6})?) (?P<zone>\S{1,9}) \[s=")
_NAME = r"_{0,2}[A-Z][A-Z0-9_]{0,63}"
_FIELD = re.compile(rf"(?: {{4,}})?(?P<name>{_NAME})=(?P<value>.*)")
_MEMBER = re.compile(rf'\s+"(?P<name>{_NAME})" ?: (?P<value>".*"),?\s*')
_BEGIN = re.compile(r"\s*(?:\[\s*|\},\s*)?\{\s*")  # of an object over several lines
_BETWEEN = re.compile(r"[\[\],\s]*")  # objects of an array
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MOST_DIGITS = 17
_DECODER = json.JSONDecoder()


@dataclass(slots=True)
class _Entry:
    """An entry over several lines. at: its time, empty where a field says it. number: the line of its message."""

    begin: Line
    at: str = ""
    fields: dict[str, str] = field(default_factory=dict)
    number: int = 0

    def add(self, line: Line) -> bool:
        """Take the line where it is a field."""
        if found := _FIELD.fullmatch(line.text):
            value = found["value"]
        elif found := _MEMBER.fullmatch(line.text):
            value = _text_of(found["value"])
        else:
            return False
        if found["name"] == "MESSAGE" and not self.number:
            self.number = line.number
        self.fields.setdefault(found["name"], value)
        return True

    def short(self) -> Iterator[Line]:
        """The entry as a line; the line that it began with where no field came, none where none is the message."""
        if self.number:
            yield Line(self.number, _short(self.at or _at(self.fields), self.fields))
        elif not self.fields:
            yield self.begin


def as_short(lines: Iterable[Line], cut: list[Line] | None = None) -> Iterator[Line]:
    """Entries as `time host identifier: message`, numbered by the line that their message stands on.

    cut: takes the lines of which the end is no whole entry.
    """
    entry: _Entry | None = None
    for line in lines:
        if entry is not None:
            if entry.add(line):
                continue
            yield from entry.short()
            entry = None
        if "{" not in line.text and " [s=" not in line.text and not line.text.startswith("__CURSOR="):
            yield line  # nearly every line, and there are many
            continue
        entry = _begun(line)
        if entry is None:
            yield from _of_line(line, [] if cut is None else cut)
    if entry is not None:
        yield from entry.short()


def _begun(line: Line) -> _Entry | None:
    """The entry over several lines that begins here."""
    if " [s=" in line.text and (found := _ENTRY.match(line.text)):
        return _Entry(line, at=f"{found['at']}{' UTC' if found['zone'] == 'UTC' else ''}")
    if line.text.startswith("__CURSOR="):
        return _Entry(line)
    return _Entry(line) if line.text.rstrip().endswith("{") and _BEGIN.fullmatch(line.text) else None


def _of_line(line: Line, cut: list[Line]) -> Iterator[Line]:
    """The entries of a line, one object or an array of them, else the line; what is no whole entry stays as it is."""
    text, at = line.text, 0
    if text[:1] in ("{", "[", ",") and '"MESSAGE"' in text:
        while (at := _end(_BETWEEN, text, at)) < len(text):
            try:
                entry, at = _DECODER.raw_decode(text, at)
                message = entry["MESSAGE"]
                said = bytes(message).decode(errors="replace") if isinstance(message, list) else str(message)
            except (ValueError, KeyError, TypeError, RecursionError):
                cut.append(Line(line.number, text[at:]))
                break
            fields = {name: value for name, value in entry.items() if isinstance(value, str)}
            yield Line(line.number, _short(_at(entry), fields | {"MESSAGE": said.partition("\n")[0]}))
    if at < len(text) or not text:
        yield Line(line.number, text[at:])


def _end(pattern: re.Pattern[str], text: str, at: int) -> int:
    found = pattern.match(text, at)
    return found.end() if found else at


def _text_of(value: str) -> str:
    """A string of JSON; as it stands where it is none."""
    try:
        return str(json.loads(value)).partition("\n")[0]
    except ValueError:
        return value


def _at(entry: Mapping[str, Any]) -> str:
    return _time(entry.get("_SOURCE_REALTIME_TIMESTAMP") or entry.get("__REALTIME_TIMESTAMP"))


def _time(microseconds: object) -> str:
    digits = str(microseconds)
    if not (digits.isascii() and digits.isdigit() and len(digits) <= _MOST_DIGITS):
        return ""
    return (_EPOCH + timedelta(microseconds=int(digits))).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def _short(at: str, fields: Mapping[str, str]) -> str:
    said = f"{fields.get('SYSLOG_IDENTIFIER') or 'kernel'}: {fields['MESSAGE']}"
    return " ".join(part for part in (at, fields.get("_HOSTNAME", ""), said) if part)
