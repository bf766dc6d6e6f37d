"""The beginning of raw evidence as numbered lines, for people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from apps.evidence import store
from apps.evidence.engine.reading import Unreadable
from apps.evidence.engine.source import Source
from apps.evidence.models import Evidence

LINES_SHOWN = 2000
CHARS_SHOWN = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class NumberedLine:
    """One line as it stands in the file; warned: a warning of the reading points at it."""

    number: int
    text: str
    warned: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Excerpt:
    """The first lines, and whether there are more."""

    lines: Sequence[NumberedLine]
    is_whole: bool


def excerpt(evidence: Evidence, warnings: Sequence[Mapping[str, Any]]) -> Excerpt | None:
    """The first 2,000 lines, cut at 1,000 characters; None where the bytes are gone, damaged or no text."""
    warned = {warning["line"] for warning in warnings}
    source = Source(lambda: store.open_bytes(evidence.sha256), size_bytes=evidence.size_bytes)
    try:
        found = list(islice(source.lines(), LINES_SHOWN + 1))
    except (*store.DAMAGED, Unreadable):
        return None
    lines = [
        NumberedLine(number=line.number, text=line.text[:CHARS_SHOWN], warned=line.number in warned)
        for line in found[:LINES_SHOWN]
    ]
    return Excerpt(lines=lines, is_whole=len(found) <= LINES_SHOWN)
