"""What wraps a tool's output when it is pasted: code fences, HTML, prefixes, several processes at once."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterable, Iterator

from apps.evidence.engine.parsers._notes import Notes
from apps.evidence.engine.parsers._prefixes import by_process
from apps.evidence.engine.reading import Unreadable
from apps.evidence.engine.source import WHOLE_LIMIT_BYTES, Line, Source

_FENCE = re.compile(r"\s*(?:```|~~~)[\w+-]*\s*")
_TAGS = re.compile(r"</?(?:details|summary|pre|code|br|p)(?: [^<>]{0,200})?/?>", re.IGNORECASE)
_ENTITY = re.compile(r"&(?:lt|gt|amp|quot|apos|nbsp|#\d{1,6}|#x[0-9a-f]{1,5});", re.IGNORECASE)


def unescaped(text: str) -> str:
    """The text with HTML entities turned back into characters; a non-breaking blank becomes a blank."""
    return html.unescape(text).replace("\xa0", " ") if _ENTITY.search(text) else text.replace("\xa0", " ")


def plain_lines(source: Source) -> Iterator[Line]:
    """All lines without fences, wrapping tags and entities; prefixes stay. Raises Unreadable above 32 MiB."""
    characters = 0
    for line in source.lines():
        characters += len(line.text)
        if characters > WHOLE_LIMIT_BYTES:
            raise Unreadable("the file is too large for its format (32 MiB)", code="too_large_for_format")
        if _FENCE.fullmatch(line.text):
            continue
        parts = _TAGS.split(line.text) if "<" in line.text else [line.text]
        yield from (Line(line.number, unescaped(part)) for part in parts if part or len(parts) == 1)


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
            f"{len(candidates)} processes printed this; only that of {chosen or 'the first'} is read",
            line=groups[others[0]][0].number,
        )
    return groups[chosen]
