"""Kernel logs (dmesg, journal, syslog): Xids of GPUs and SXids of NVSwitches.

Streams: memory does not grow with the file. A text that quotes Xids (source code, documentation) is refused.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from apps.core.texts import say
from apps.evidence.engine.parsers._journal import as_short
from apps.evidence.engine.parsers._kernel_events import Events
from apps.evidence.engine.parsers._kernel_lines import Front, front, read_sxid, read_xid
from apps.evidence.engine.parsers._prefixes import untag
from apps.evidence.engine.parsers._repeats import Repeats
from apps.evidence.engine.reading import Reading, ReadingWarning, Unreadable
from apps.evidence.engine.source import Line, Source

KIND = "kernel_log"
VERSION = 7

_MOST_WARNINGS = 50
_MOST_PROCESSES = 10_000
_STYLE_LINES = 1000
_WEIGHED_CHARS = 500
_FRACTION = re.compile(r"\d[.,]\d{6,9}\b")  # of a second: no two lines have the same microsecond
_MESSAGE = ("NVRM: Xid (", "SXid (")

_KERNEL_LINE = re.compile(
    r"(?:NVRM|nvidia-[\w-]+|CPU|Hardware name|Call Trace|RIP|Code|Modules linked in)\b.{0,20}?:|"
    r"(?:\? )?\w[\w.]*\+0x[0-9a-f]+/0x[0-9a-f]+|</?TASK>"
)
_CODE_LINE = re.compile(
    r"\s*(?:import |from \w+ import|def |class |func |package |return\b|const |var |let |static |struct |type |"
    r"#include|#define|assert|if ?\(|for ?\(|if err|\}|\{|//|/\*|\* |@\w|[\"'`])|.*[{;\\]\s*$|.*[\"'`],\s*$"
)
_PROSE_LINE = re.compile(
    r"\s*(?:#{1,6} |[-*+] |\d{1,2}\. |\||[=~^-]{4,}$|<(?:p|td|th|tr|li|ul|h\d|div|table|body)\b)"
)
_SENTENCE = re.compile(r"\s*[A-Z][\w'’-]*(?: [\w'’(),/-]+){5,}.*[.:?!]\s*$")


def recognise(sample: str) -> int:
    lines = _lines_of(sample)
    kernel, quoting, events = _weigh(lines)
    if events and quoting <= kernel:
        return 85
    stamped = sum(1 for line in lines if front(line).style == "uptime" or " kernel: " in line)
    return 25 if stamped >= 3 and stamped > len(lines) / 2 else 0


def _lines_of(sample: str) -> list[str]:
    numbered = (Line(number, text) for number, text in enumerate(sample.splitlines(), start=1))
    return [line.text for line in as_short(numbered)]


def _weigh(lines: Sequence[str]) -> tuple[int, int, int]:
    """Lines that a kernel writes, lines of source code or prose, and Xid lines among the former."""
    kernel = quoting = events = 0
    for line in (whole[:_WEIGHED_CHARS] for whole in lines):
        if not line.strip() or line.lstrip().startswith("```"):
            continue
        before = front(line)
        event = any(message in line[before.end : before.end + 30] for message in _MESSAGE)
        if event and (read_xid(line, before.end) or read_sxid(line, before.end)):
            events += 1
            kernel += 1
        elif before.style or _KERNEL_LINE.match(line, before.end):
            kernel += 1
        elif _CODE_LINE.match(line) or _PROSE_LINE.match(line) or _SENTENCE.match(line):
            quoting += 1
    return kernel, quoting, events


def read(source: Source) -> Reading:
    """Raises Unreadable for source code and documentation, and where nothing of a kernel log is there."""
    kernel, quoting, _ = _weigh(_lines_of(source.sample))
    if quoting > kernel:
        raise Unreadable(
            say("this is source code or prose that quotes Xids, no kernel log"), code="quoted_xids"
        )
    events, repeats, processes = Events(), Repeats(), _Processes()
    warnings: list[ReadingWarning] = []
    style: str | None = None
    number = 0
    cut: list[Line] = []
    for line in as_short(source.lines(), cut):
        number = line.number
        text = line.text
        if "Xid (" in text:
            before = front(text)
            if not before.is_plain:
                processes.add(line)
            _take_event(line, before, events, repeats, warnings)
            style = before.style or style
        elif "NVRM: GPU " in text:
            events.add_identity(text, front(text).end)
        elif "Rate limiting" in text and "NVRM: " in text and len(warnings) < _MOST_WARNINGS:
            warnings.append(
                _warning("rate_limited", say("the driver left out further messages"), number, text)
            )
        elif style is None and number <= _STYLE_LINES:
            style = front(text).style
    if not (kernel or events.xid_counts or events.sxid_lines):
        raise Unreadable(say("no line of a kernel log was found"), code="no_kernel_log")
    warnings += [
        _warning("entry_not_understood", say("from here on the line is no whole entry"), one.number, one.text)
        for one in cut[: _MOST_WARNINGS - len(warnings)]
    ]
    return Reading(
        kind=KIND,
        facts=_facts(events, number, style),
        warnings=(*warnings, *processes.warnings(), *repeats.warnings(), *events.warnings()),
        parser_version=VERSION,
    )


class _Processes:
    """Tasks, pods and containers that a launcher or collector names in front of the lines of events."""

    def __init__(self) -> None:
        self._names: set[str] = set()
        self._second: Line | None = None

    def add(self, line: Line) -> None:
        tagged = untag(line.text)
        name = tagged.source if tagged.task is None else str(tagged.task)
        if not name or name in self._names or len(self._names) >= _MOST_PROCESSES:
            return
        if self._names and self._second is None:
            self._second = line
        self._names.add(name)

    def warnings(self) -> list[ReadingWarning]:
        if self._second is None:
            return []
        message = say(
            "the log is that of %(count)s processes, perhaps of several nodes; their Xids are counted together",
            count=len(self._names),
        )
        return [_warning("several_processes", message, self._second.number, self._second.text)]


def _take_event(
    line: Line, before: Front, events: Events, repeats: Repeats, warnings: list[ReadingWarning]
) -> None:
    """Adds the Xid or SXid of the line, unless the line was there before."""
    number, text, start = line.number, line.text, before.end
    if _was_there(line, before, repeats):
        return
    if xid := read_xid(text, start):
        events.add_xid(number, before, xid)
    elif sxid := read_sxid(text, start):
        events.add_sxid(number, before, sxid)
    elif len(warnings) < _MOST_WARNINGS:
        damaged = text.startswith(("NVRM: Xid", "nvidia-nvswitch"), start)
        warnings.append(
            _warning("xid_not_understood", say("the Xid of this line could not be read"), number, text)
            if damaged
            else _warning(
                "xid_quoted", say("an Xid amid other text was not taken for an event"), number, text
            )
        )


def _was_there(line: Line, before: Front, repeats: Repeats) -> bool:
    """Whether the same line with the same time was there before. Equal ones within a second may be a burst."""
    if before.at is None:
        repeats.note_alike(line.number, line.text)
        return False
    if _FRACTION.search(line.text, 0, before.end):
        return repeats.is_repeated(line.number, line.text)
    source = line.text[: before.end].replace(before.at, "")
    return repeats.is_repeated_later(line.number, line.text, source=source, moment=before.at)


def _facts(events: Events, lines: int, style: str | None) -> dict[str, object]:
    return {
        "xid_counts": dict(events.xid_counts),
        "xid_by_pci": {pci: dict(counts) for pci, counts in events.xid_by_pci.items()},
        "sxid_lines": dict(events.sxid_lines),
        "sxid_link_faults": events.sxid_link_faults,
        "lines": lines,
        "timestamp_style": style,
        "events": events.xid_events(),
        "sxid_events": list(events.sxids.values()),
        "gpus": events.gpus,
    }


def _warning(code: str, message: str, line: int, text: str) -> ReadingWarning:
    return ReadingWarning(code=code, message=message, line=line, text=text[:200])
