"""Lines of the journal in its longer forms, as the short one that kernel logs are read in.

`journalctl -o json`: one object for each entry, on one line. `-o verbose`: a line with the time, and beneath it,
indented, a line for each field. Everything else stays as it is.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta

from apps.evidence.engine.source import Line

_ENTRY = re.compile(r"\w{3} (?P<at>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d{1,6})?) (?P<zone>\S{1,9}) \[s=")
_FIELD = re.compile(r" {4,}(?P<name>_?[A-Z][A-Z0-9_]{0,63})=(?P<value>.*)")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MOST_DIGITS = 17


def as_short(lines: Iterable[Line]) -> Iterator[Line]:
    """Entries as `time host identifier: message`, numbered by the line that their message stands on."""
    head: str | None = None  # time of the entry that fields belong to
    held: dict[str, str] = {}
    message: Line | None = None
    for line in lines:
        if head is not None and (field := _FIELD.fullmatch(line.text)):
            held.setdefault(field["name"], field["value"])
            message = Line(line.number, field["value"]) if field["name"] == "MESSAGE" else message
            continue
        if head is not None and message is not None:
            yield Line(message.number, _short(head, held, message.text))
        head, held, message = None, {}, None
        if line.text.startswith("{") and '"MESSAGE"' in line.text:
            yield Line(line.number, _of_object(line.text))
        elif " [s=" in line.text and (entry := _ENTRY.match(line.text)):
            head = f"{entry['at']}{' UTC' if entry['zone'] == 'UTC' else ''}"
        else:
            yield line
    if head is not None and message is not None:
        yield Line(message.number, _short(head, held, message.text))


def _of_object(text: str) -> str:
    """An entry as a line; what is no whole entry stays as it is."""
    try:
        entry = json.loads(text)
        message = entry["MESSAGE"]
        if isinstance(message, list):  # bytes that are no text
            message = bytes(message).decode(errors="replace")
    except (ValueError, KeyError, TypeError, RecursionError):
        return text
    at = _time(entry.get("_SOURCE_REALTIME_TIMESTAMP") or entry.get("__REALTIME_TIMESTAMP"))
    fields = {name: value for name, value in entry.items() if isinstance(value, str)}
    return _short(at, fields, str(message).partition("\n")[0])


def _time(microseconds: object) -> str:
    digits = str(microseconds)
    if not (digits.isascii() and digits.isdigit() and len(digits) <= _MOST_DIGITS):
        return ""
    return (_EPOCH + timedelta(microseconds=int(digits))).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def _short(at: str, fields: dict[str, str], message: str) -> str:
    front = (at, fields.get("_HOSTNAME", ""), f"{fields.get('SYSLOG_IDENTIFIER') or 'kernel'}: {message}")
    return " ".join(part for part in front if part)
