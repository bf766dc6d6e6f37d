"""Small files that state versions: several in one text, each under a line that names it, with `key=value` lines.

`tail -n +1 A B` prints `==> A <==` above each file, `grep . A B` prints `A:` before each line; a shell session
shows the command that printed it (`# cat A`).
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field

from apps.core.texts import say
from apps.evidence.engine.parsers._notes import Notes
from apps.evidence.engine.parsers._prefixes import without_prefix
from apps.evidence.engine.source import Line, Source

_HEAD = re.compile(r"==> (?P<path>/[^<>\n]{1,300}) <==")
_CAT = re.compile(r"(?:\S{0,80}[#$] ?|\+ )cat (?P<path>/?[\w./:@-]{1,300})")
_GREP = re.compile(r"(?P<path>/(?:proc|sys|usr|etc|opt|run|var)/[\w./:@+-]{1,300}?):(?P<rest>(?!/).*)")
# A PCI address in a path holds colons too: the path ends at the last one before the text.
_GREP_PCI = re.compile(
    r"(?P<path>/[\w./+-]{1,200}/[0-9a-fA-F]{4,8}:[0-9a-fA-F]{2}:[0-9a-fA-F]{2}\.[0-7]/[\w.-]{1,80}):(?P<rest>.*)"
)

_LONGEST = 400


@dataclass(slots=True)
class Named:
    """Lines of one file. path: empty where the text does not name it."""

    path: str = ""
    lines: list[Line] = field(default_factory=list)


def sample_lines(sample: str, most: int = 4000) -> list[str]:
    """The first lines of a sample, without prefixes and indentation, for recognition; empty ones are left out."""
    lines = (without_prefix(line[:_LONGEST]).strip() for line in sample.split("\n", most)[:most])
    return [line for line in lines if line]


def by_file(lines: Iterable[Line]) -> list[Named]:
    """The files of a text in order; lines before the first name belong to one without a path."""
    found = [Named()]
    for line in lines:
        text = line.text.strip()
        if head := _HEAD.fullmatch(text) or _CAT.fullmatch(text):
            found.append(Named(head["path"]))
        elif row := _GREP_PCI.fullmatch(text) or _GREP.fullmatch(text):
            if found[-1].path != row["path"]:
                found.append(Named(row["path"]))
            found[-1].lines.append(Line(line.number, row["rest"]))
        else:
            found[-1].lines.append(line)
    return [one for one in found if any(line.text.strip() for line in one.lines)]


def note_cut(source: Source, taken: Iterable[Line], notes: Notes) -> None:
    """Warn where the last line has no end and was taken for a value: the value may be cut."""
    numbers = {line.number for line in taken}
    last = next(iter(deque(source.lines(), maxlen=1)), None)
    if last is not None and last.number in numbers and not source.text().endswith("\n"):
        notes.add("last_line_not_ended", say("the last line has no line end; its value may be cut"), at=last)
