"""A log held against the knowledge: what was seen in which lines, and the causes, likeliest first."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from apps.evidence.engine.source import Line, Source
from apps.health.engine.knowledge import Cause, KnowledgeItem, Phrase, knowledge

SIGHTINGS_KEPT = 20
TEXT_KEPT = 200
_LINE_SEARCHED = 4000
_WORD = re.compile(r"[^\W\d]+")
_XID = re.compile(r"\bxid \((?:pci:)?[0-9a-f:.]{5,20}[^)]{0,40}\): (\d{1,4})\b")


@dataclass(frozen=True, slots=True, kw_only=True)
class Sighting:
    """One line that shows a symptom. line: 1-based. text: the line, cut. shown_by: the words or code that match."""

    line: int
    text: str
    shown_by: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RankedCause:
    """One cause of one symptom. score: only good for order. evidence: lines that speak for it."""

    cause: Cause
    score: float
    evidence: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Symptom:
    """One item of the knowledge that was seen. count: lines that show it; sightings: the first ones."""

    item: KnowledgeItem
    count: int
    sightings: tuple[Sighting, ...]
    causes: tuple[RankedCause, ...]

    @property
    def score(self) -> float:
        return self.causes[0].score if self.causes else 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnosis:
    """What a log shows, most likely first; nothing seen is no proof of health. lines: how many were read."""

    symptoms: tuple[Symptom, ...]
    lines: int


def diagnose_text(text: str) -> Diagnosis:
    """Diagnose a pasted text."""
    return _diagnose(Line(number, line) for number, line in enumerate(text.splitlines(), start=1))


def diagnose_source(source: Source) -> Diagnosis:
    """Diagnose a file of any size; it is streamed. Raises Unreadable for an empty or binary file."""
    return _diagnose(source.lines())


def _diagnose(lines: Iterable[Line]) -> Diagnosis:
    """Memory does not grow with the log."""
    seen = [_Seen(item) for item in knowledge()]
    index = _index(seen)
    count = 0
    for line in lines:
        count += 1
        text = line.text[:_LINE_SEARCHED].casefold()
        if "xid (" in text:
            _take_code(line, text, seen)
        words = index.keys() & _WORD.findall(text)
        if words:
            _take_phrases(line, text, [entry for word in sorted(words) for entry in index[word]])
    symptoms = [one.symptom() for one in seen if one.count]
    symptoms.sort(key=lambda symptom: (-symptom.score, symptom.sightings[0].line, symptom.item.id))
    return Diagnosis(symptoms=tuple(symptoms), lines=count)


def _take_code(line: Line, text: str, seen: Iterable[_Seen]) -> None:
    code = _xid_in(text)
    for one in seen:
        if code is not None and code in one.item.xids:
            one.add_sighting(line, f"Xid {code}")


def _take_phrases(line: Line, text: str, entries: Iterable[_Entry]) -> None:
    for seen, cause, phrase in entries:
        if all(word in text for word in phrase):
            if cause is None:
                seen.add_sighting(line, " … ".join(phrase))
            else:
                seen.evidence[cause.id].setdefault(phrase, line.number)


def _xid_in(text: str) -> int | None:
    if "xid (" not in text or "sxid (" in text:
        return None
    match = _XID.search(text)
    return int(match[1]) if match else None


class _Seen:
    """What of one item has been seen so far."""

    def __init__(self, item: KnowledgeItem) -> None:
        self.item = item
        self.count = 0
        self.last_line = 0
        self.sightings: list[Sighting] = []
        self.evidence: dict[str, dict[Phrase, int]] = {cause.id: {} for cause in item.causes}

    def add_sighting(self, line: Line, shown_by: str) -> None:
        """Count the line once, however many phrases it holds."""
        if line.number == self.last_line:
            return
        self.last_line = line.number
        self.count += 1
        if len(self.sightings) < SIGHTINGS_KEPT:
            cut = line.text.strip()[:TEXT_KEPT]
            self.sightings.append(Sighting(line=line.number, text=cut, shown_by=shown_by))

    def symptom(self) -> Symptom:
        causes = [self._ranked(cause) for cause in self.item.causes]
        causes.sort(key=lambda ranked: (-ranked.score, ranked.cause.id))
        return Symptom(
            item=self.item, count=self.count, sightings=tuple(self.sightings), causes=tuple(causes)
        )

    def _ranked(self, cause: Cause) -> RankedCause:
        """Weight, doubled by the first piece of evidence and raised by half of it for each further one."""
        lines = tuple(sorted(set(self.evidence[cause.id].values())))
        pieces = len(self.evidence[cause.id])
        factor = 1.0 if not pieces else 2.0 + 0.5 * (pieces - 1)
        return RankedCause(cause=cause, score=cause.weight * factor, evidence=lines)


# What a phrase speaks for: the item itself (cause None) or one of its causes.
_Entry = tuple[_Seen, Cause | None, Phrase]


def _index(seen: Iterable[_Seen]) -> dict[str, list[_Entry]]:
    """Phrases by their longest word, so that a line is only held against phrases of which it has that word."""
    index: dict[str, list[_Entry]] = {}
    for one in seen:
        entries: list[tuple[Cause | None, Phrase]] = [(None, phrase) for phrase in one.item.phrases]
        entries += [(cause, phrase) for cause in one.item.causes for phrase in cause.phrases]
        for cause, phrase in entries:
            index.setdefault(key_word(phrase), []).append((one, cause, phrase))
    return index


def key_word(phrase: Phrase) -> str:
    """The longest run of letters in a phrase; it must stand whole in the line."""
    words: list[str] = _WORD.findall(" ".join(phrase))
    return max(words, key=len)
