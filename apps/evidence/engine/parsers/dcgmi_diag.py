"""Results of `dcgmi diag`, as its tables or as its JSON (-j), of DCGM 2 to 4; several runs in one file."""

from __future__ import annotations

import re

from apps.core.texts import say
from apps.evidence.engine.parsers import _diag_json, _diag_text
from apps.evidence.engine.parsers._dressing import plain_lines
from apps.evidence.engine.parsers._prefixes import unprefixed
from apps.evidence.engine.reading import Reading, ReadingWarning, Unreadable
from apps.evidence.engine.source import Source

KIND = "dcgmi_diag"
VERSION = 3

_HEADING = re.compile(r"\| *Diagnostic +\| *Result +\|")


def recognise(sample: str) -> int:
    if _diag_json.ROOT.search(sample) and '"test' in sample:
        return 95
    return 90 if _HEADING.search(sample) else 0


def read(source: Source) -> Reading:
    """Raises Unreadable where no diagnostic is there, or its JSON is damaged."""
    lines = list(unprefixed(plain_lines(source)))
    text = "\n".join(line.text for line in lines)
    if documents := _diag_json.documents_in(text):
        read_runs = [_diag_json.facts_of(document, lines[line - 1].number) for document, line in documents]
        facts, warnings = dict(read_runs[0][0]), [w for _, found in read_runs for w in found]
        facts["format"] = "json"
        if len(read_runs) > 1:
            facts["runs"] = [run for run, _ in read_runs]
            warnings.insert(0, _several(len(read_runs)))
        return Reading(kind=KIND, facts=facts, warnings=tuple(warnings), parser_version=VERSION)
    tables = _diag_text.tables_in(lines)
    if not tables:
        raise Unreadable(say("no diagnostic of DCGM was found"), code="no_diagnostic")
    warnings = [warning for table in tables for warning in table.warnings]
    if len(tables) > 1:
        warnings.insert(0, _several(len(tables)))
    facts = {
        "format": "text",
        "runs": [table.facts() for table in tables],
        "details": [table.detail() for table in tables],
    }
    return Reading(kind=KIND, facts=facts, warnings=tuple(warnings), parser_version=VERSION)


def _several(count: int) -> ReadingWarning:
    return ReadingWarning(
        code="several_runs", message=say("the file holds %(count)s diagnostics", count=count)
    )
