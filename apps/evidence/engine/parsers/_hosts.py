"""What tools that ask many hosts at once put around the output of each, and relays of a system's log.

pdsh, clush and dsh (`sn01: line`), mpssh (`sn01 -> line`), docker compose (`sn01 | line`) and syslog
(`Nov 30 07:13:04 sn01 collector[7]: line`, `<13>1 2026-11-30T07:13:04Z sn01 collector 7 - - line`) mark every line;
Ansible (`sn01 | CHANGED | rc=0 >>`), pssh (`[1] 07:13:04 [SUCCESS] sn01`), dshbak and clush -b (the name between
two rules) put a heading above it.

Lines of other files look like these too, so nothing is taken off a line by itself: nearly all lines of a file must
bear the mark, and the registry asks whether what is left is the output of a tool.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from apps.core.texts import say
from apps.evidence.engine.reading import Unreadable

_HOST = r"(?P<host>(?!\d+\b(?![.-]))[A-Za-z0-9](?:[\w.-]{0,78}[A-Za-z0-9])?)"
_CLOCK = r"\d{2}:\d{2}:\d{2}(?:[.,]\d{1,9})?"
_ISO = rf"\d{{4}}-\d\d-\d\d[T ]{_CLOCK}(?:Z|[+-]\d\d:?\d\d)?"
_TAG = r"[\w./@-]{1,60}(?:\[\d{1,10}\])?"
_MARKS = tuple(
    re.compile(pattern)
    for pattern in (
        rf"{_HOST}:(?: |$)",
        rf"{_HOST} -> ",
        r"(?P<host>[A-Za-z]\w{0,79}) {1,20}\|(?: |$)",
        rf"(?:<\d{{1,3}}>)?(?:[A-Z][a-z]{{2}} [ \d]\d {_CLOCK}|{_ISO}) {_HOST} {_TAG}:(?: |$)",
        rf"<\d{{1,3}}>1 {_ISO} {_HOST} {_TAG} \S{{1,128}} \S{{1,32}} (?:-|\[[^\]\n]{{0,500}}\])(?: |$)",
    )
)
_HEADINGS = (
    re.compile(rf"^{_HOST} \| [A-Z]{{2,20}}!?(?: \| rc=\d{{1,3}})? (?:>>|=> *\{{?) *$", re.MULTILINE),
    re.compile(rf"^\[\d{{1,5}}\] {_CLOCK} \[[A-Z]{{2,20}}\] {_HOST} *$", re.MULTILINE),
)
_BETWEEN_RULES = re.compile(
    r"^-{8,}\n(?P<host>(?=[^\d\n]*\d)[A-Za-z][\w.,\[\]-]{0,200})\n-{8,}$", re.MULTILINE
)
# What pdsh and clush say themselves, a shell's prompt, and fences of what was pasted.
_AROUND = re.compile(r"(?:pdsh|clush)(?:@[\w.-]+)?: |\s*(?:```|~~~)|\S*[$#>%]\s+\S|[\w.-]+@[\w.-]\S*[$#] ?")
_LINES_LOOKED_AT = 2000
_SHARE_MARKED = 0.9
# A word in front of fewer lines, and of fewer than one in twenty, is no host: `Warning: …` amid the output.
_LINES_OF_A_HOST = 20
_MOST_WORDS = 50
_NUMBER = re.compile(r"\d+")


@dataclass(slots=True)
class Host:
    """A host whose name is around the lines of a file. mark: what stands in front of each line, or its heading."""

    name: str
    mark: re.Pattern[str]
    _others: dict[str, set[str]] = field(default_factory=dict)

    def without(self, text: str) -> str:
        """A line without the mark, of whatever host."""
        found = self.mark.match(text)
        return text if found is None else text[found.end() :]

    def alone(self, text: str) -> str:
        """A line of this host without the mark. Raises Unreadable where another host has printed too."""
        found = self.mark.match(text)
        if found is None or found["host"] in (None, self.name):
            return text if found is None else text[found.end() :]
        if found["host"] in self._others or len(self._others) < _MOST_WORDS:
            said = self._others.setdefault(found["host"], set())
            said.add(text)
            if len(said) >= _LINES_OF_A_HOST or _is_numbered_alike(found["host"], self.name):
                raise self.beside(found["host"])
        return text

    def beside(self, other: str) -> Unreadable:
        """The refusal of a file that another host's output is in, too."""
        message = say(
            "several hosts printed this, such as %(first)s and %(second)s; hand in one file for each host",
            first=self.name,
            second=other,
        )
        return Unreadable(message, code="several_hosts")

    def part_of(self, sample: str) -> str:
        """What the host printed of a sample, and what bears no mark."""
        return "\n".join(self._own_lines(sample))

    def _own_lines(self, sample: str) -> Iterator[str]:
        for line in sample.split("\n"):
            found = self.mark.match(line)
            if found is None or found["host"] in (None, self.name):
                yield line if found is None else line[found.end() :]


def _is_numbered_alike(one: str, other: str) -> bool:
    """Whether names differ by their numbers only, as those of nodes do."""
    return bool(_NUMBER.search(one)) and _NUMBER.sub("0", one) == _NUMBER.sub("0", other)


def hosts_in(sample: str) -> list[Host]:
    """The hosts that are named around the lines of a sample, in order; none where that is not its form."""
    for heading in _HEADINGS:
        if names := dict.fromkeys(found["host"] for found in heading.finditer(sample)):
            return [Host(name, heading) for name in names]
    if names := dict.fromkeys(found["host"] for found in _BETWEEN_RULES.finditer(sample)):
        return [Host(name, re.compile(rf"(?:-{{8,}}|(?P<host>{re.escape(name)}))$")) for name in names]
    lines = [line for line in sample.split("\n") if line.strip() and not _AROUND.match(line)]
    lines = lines[:_LINES_LOOKED_AT]
    for mark in _MARKS:
        counts = Counter(found["host"] for found in map(mark.match, lines) if found)
        if counts and counts.total() >= _SHARE_MARKED * len(lines):
            least = min(_LINES_OF_A_HOST, len(lines) / 20)
            return [Host(name, mark) for name, count in counts.items() if count >= least]
    return []
