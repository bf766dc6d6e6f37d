"""What wraps a tool's output when it is pasted: code fences, prefixes, several processes at once."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterable, Iterator

from apps.core.texts import say
from apps.evidence.engine.parsers._notes import Notes
from apps.evidence.engine.parsers._prefixes import by_process
from apps.evidence.engine.reading import Unreadable
from apps.evidence.engine.source import WHOLE_LIMIT_BYTES, Line, Source

_FENCE = re.compile(r"\s*(?:```|~~~)[\w+-]*\s*")


_ENTITY = re.compile(r"&(?:lt|gt|amp|quot|apos|nbsp|#\d{1,6}|#x[0-9a-f]{1,5});", re.IGNORECASE)


def unescaped(text: str) -> str:
    """A line with the entities that a page put into it turned back, where the page was not all escaped."""
    return html.unescape(text).replace("\xa0", " ") if "&" in text and _ENTITY.search(text) else text


def plain_lines(source: Source) -> Iterator[Line]:
    """All lines without code fences and entities; prefixes stay. Raises Unreadable above 32 MiB."""
    characters = 0
    for line in source.lines():
        characters += len(line.text)
        if characters > WHOLE_LIMIT_BYTES:
            raise Unreadable(
                say("the file is too large for its format (32 MiB)"), code="too_large_for_format"
            )
        if not _FENCE.fullmatch(line.text):
            yield Line(line.number, unescaped(line.text))


def one_process(lines: Iterable[Line], is_output: Callable[[list[Line]], bool], notes: Notes) -> list[Line]:
    """Lines of the first process whose lines satisfy `is_output`, without prefixes; all where none does."""
    groups = by_process(lines)
    candidates = [name for name, group in groups.items() if is_output(group)]
    if not candidates:
        return sorted((line for group in groups.values() for line in group), key=lambda line: line.number)
    chosen, *others = candidates
    if others:
        notes.add(
            "several_processes",
            say(
                "%(count)s processes printed this; only that of %(chosen)s is read",
                count=len(candidates),
                chosen=chosen or say("the first"),
            ),
            line=groups[others[0]][0].number,
        )
    return groups[chosen]
