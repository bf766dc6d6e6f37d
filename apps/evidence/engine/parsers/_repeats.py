"""Lines that stand in a log again, word for word, as in a log that was pasted twice.

Only lines that tell themselves apart (by a time, a process) may be asked whether they are repeated. Without such the
same words may mean that the same happened again: those are counted, and it is said that nobody can tell.
"""

from __future__ import annotations

from hashlib import blake2b

from apps.core.texts import say
from apps.evidence.engine.reading import ReadingWarning

MOST_REMEMBERED = 200_000
_DIGEST_BYTES = 8


class Repeats:
    """Remembers lines by their digests, the first MOST_REMEMBERED of them, and counts those seen again."""

    def __init__(self) -> None:
        self._seen: set[bytes] = set()
        self._now: dict[str, tuple[str, set[bytes]]] = {}
        self._remembered = 0
        self.count = 0
        self._first: tuple[int, str] | None = None
        self._alike = 0
        self._first_alike: tuple[int, str] | None = None

    def note_alike(self, number: int, text: str) -> None:
        """Remember a line that says no time, and that it is word for word as one before it."""
        digest = _digest(text)
        if digest in self._seen:
            self._alike += 1
            self._first_alike = self._first_alike or (number, text.strip()[:200])
        elif self._has_room():
            self._seen.add(digest)

    def is_repeated(self, number: int, text: str) -> bool:
        """Whether the line was there before; it is counted then, and else remembered."""
        digest = _digest(text)
        if digest in self._seen:
            return self._again(number, text)
        if self._has_room():
            self._seen.add(digest)
        return False

    def is_repeated_later(self, number: int, text: str, *, source: str, moment: str) -> bool:
        """The same where the time is too coarse to tell two lines apart.

        Lines of one moment may be equal, as in a burst. They are repeated where their source (a host, a process)
        comes back to a moment that it had left.
        """
        before, lines = self._now.get(source, (moment, set()))
        if before != moment:
            self._seen |= lines
            lines = set()
        digest = _digest(text)
        if digest in self._seen:
            return self._again(number, text)
        if self._has_room():
            lines.add(digest)
            self._now[source] = moment, lines
        return False

    def _has_room(self) -> bool:
        self._remembered += 1
        return self._remembered <= MOST_REMEMBERED

    def _again(self, number: int, text: str) -> bool:
        self.count += 1
        self._first = self._first or (number, text.strip()[:200])
        return True

    def warnings(self) -> list[ReadingWarning]:
        return [*self._warnings_of_repeats(), *self._warnings_of_alike()]

    def _warnings_of_alike(self) -> list[ReadingWarning]:
        if self._first_alike is None:
            return []
        line, text = self._first_alike
        message = say(
            "lines that are word for word like one before and say no time: %(count)s; each was counted, "
            "though the text may just stand here twice",
            count=self._alike,
        )
        return [ReadingWarning(code="lines_alike", message=message, line=line, text=text)]

    def _warnings_of_repeats(self) -> list[ReadingWarning]:
        if self._first is None:
            return []
        line, text = self._first
        message = say(
            "lines that stand here again, word for word and with the same time or process: %(count)s; "
            "each was counted once",
            count=self.count,
        )
        return [ReadingWarning(code="lines_repeated", message=message, line=line, text=text)]


def _digest(text: str) -> bytes:
    return blake2b(text.strip().encode(errors="replace"), digest_size=_DIGEST_BYTES).digest()
