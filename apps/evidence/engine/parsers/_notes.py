"""Collects a parser's warnings; their number is bounded, so that a hopeless file does not fill the store."""

from __future__ import annotations

from collections import Counter

from apps.core.texts import say
from apps.evidence.engine.reading import ReadingWarning
from apps.evidence.engine.source import Line

LIMIT_PER_CODE = 20
_LIMIT_TEXT_CHARS = 200


class Notes:
    """Warnings in the order in which they came up, at most 20 of one code and a count of the rest."""

    def __init__(self) -> None:
        self._kept: list[ReadingWarning] = []
        self._counts: Counter[str] = Counter()

    def add(self, code: str, message: str, *, at: Line | None = None, line: int | None = None) -> None:
        """at: the line found wrong, with its text. line: its number alone, where there is no text to show."""
        self._counts[code] += 1
        if self._counts[code] > LIMIT_PER_CODE:
            return
        number = at.number if at is not None else line
        text = at.text.strip()[:_LIMIT_TEXT_CHARS] if at is not None else ""
        self._kept.append(ReadingWarning(code=code, message=message, line=number, text=text))

    def all(self) -> tuple[ReadingWarning, ...]:
        more = [
            ReadingWarning(
                code=code, message=say("more warnings of this kind: %(count)s", count=count - LIMIT_PER_CODE)
            )
            for code, count in self._counts.items()
            if count > LIMIT_PER_CODE
        ]
        return (*self._kept, *more)
