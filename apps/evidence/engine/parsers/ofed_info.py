"""`ofed_info -s` (one line), and the title of `ofed_info` above its list of packages: OFED of NVIDIA networking."""

from __future__ import annotations

import re

from apps.core.texts import say
from apps.evidence.engine.parsers._dressing import plain_lines
from apps.evidence.engine.parsers._notes import Notes
from apps.evidence.engine.parsers._prefixes import unprefixed
from apps.evidence.engine.parsers._version_files import note_cut, sample_lines
from apps.evidence.engine.reading import Reading, Unreadable
from apps.evidence.engine.source import Line, Source

KIND = "ofed_info"
VERSION = 1

_NAME = r"MLNX_OFED_LINUX|MLNX_OFED|OFED-internal|MLNX_EN|DOCA-OFED|OFED"
_TITLE = re.compile(
    rf"(?P<version>(?:{_NAME})-\d{{1,2}}\.\d{{1,2}}-\d{{1,4}}(?:\.\d{{1,5}}){{1,4}})"
    rf"(?: \((?P<source>[\w.-]{{1,80}})\))?:?"
)
_LIKE_TITLE = re.compile(rf"(?:{_NAME})-\d")
_TITLE_LINES = 60


def recognise(sample: str) -> int:
    if any(_TITLE.fullmatch(text) for text in sample_lines(sample, _TITLE_LINES)):
        return 85
    return 20 if re.search(rf"^.{{0,80}}\s(?:{_NAME})-\d\S{{3,40}}:?\s*$", sample, re.MULTILINE) else 0


def read(source: Source) -> Reading:
    """Raises Unreadable where no version of OFED is there."""
    notes = Notes()
    titles: list[tuple[str, str | None, Line]] = []
    for line in unprefixed(plain_lines(source)):
        text = line.text.strip()[:200]
        if found := _TITLE.fullmatch(text):
            titles.append((found["version"], found["source"], line))
        elif _LIKE_TITLE.match(text):
            notes.add("version_not_understood", say("this looks like a version of OFED and is none"), at=line)
    if not titles:
        raise Unreadable(say("ofed_info: no version of OFED was found"), code="no_version")
    distinct = list(dict.fromkeys(version for version, _source, _line in titles))
    if len(distinct) > 1:
        notes.add(
            "versions_differ", say("it names %(count)s versions", count=len(distinct)), at=titles[-1][2]
        )
    # The colon ends the title in all releases; without it the last number may be cut.
    for _version, _source, line in titles:
        if not line.text.rstrip().endswith(":"):
            notes.add("title_not_ended", say("the colon behind the version is missing"), at=line)
    note_cut(source, [line for *_rest, line in titles if not line.text.rstrip().endswith(":")], notes)
    facts = {"versions": distinct, "sources": [source for _v, source, _l in titles if source]}
    return Reading(kind=KIND, facts=facts, warnings=notes.all(), parser_version=VERSION)
