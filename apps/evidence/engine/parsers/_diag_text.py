"""The tables that `dcgmi diag` prints: category rows, test rows, rows of single GPUs, messages beneath."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Any

from apps.core.texts import say
from apps.evidence.engine.parsers._diag_results import Result, gpu_numbers, not_passed, result_counts
from apps.evidence.engine.reading import ReadingWarning
from apps.evidence.engine.source import Line

_MOST_WARNINGS = 50
_MOST_RESULTS = 20_000
_HEADING = re.compile(r"\|? *Diagnostic +\| *Result\b")
_CATEGORY = re.compile(r"[|+]?-{3,} {1,4}([A-Za-z][\w /-]{0,40}?) {1,4}-{3,}")
_BORDER = re.compile(r"\s*\+[-]{8,}\+[-]{8,}\+\s*")
_ROW = re.compile(r"\| {0,3}(?P<left>[^|]{0,60}?) *\| ?(?P<right>[^|]*?) *(?:\||$)")
_STATUS = re.compile(r"(Pass|Fail|Warn|Skip|Not Run)\b(?: ?- ?(.*))?$", re.IGNORECASE)
_ENTITY = re.compile(r"([A-Za-z]+) ?(\d{1,4}): ?(Pass|Fail|Warn|Skip|Not Run)\b", re.IGNORECASE)
_MESSAGE = re.compile(r"(?:warning|error|info)(?:: ?([A-Za-z]+) ?(\d{1,4}))?", re.IGNORECASE)
_METADATA = {
    "dcgm version": "dcgm_version",
    "driver version detected": "driver_version",
    "gpu device ids detected": "device_ids",
}


@dataclass(slots=True)
class Table:
    """One run of the diagnostic. message_of: the result whose message the next row may go on with.

    last: line and text of its last row. borders: lines that close a table, since that row. is_cut: there is none.
    """

    metadata: dict[str, str] = field(default_factory=dict)
    results: list[Result] = field(default_factory=list)
    category: str | None = None
    categories: dict[str, None] = field(default_factory=dict)
    message_of: Result | None = None
    last: tuple[int, str] = (0, "")
    borders: int = 0
    is_cut: bool = False
    warnings: list[ReadingWarning] = field(default_factory=list)

    def facts(self) -> dict[str, Any]:
        identifiers = [
            part.strip() for part in self.metadata.get("device_ids", "").split(",") if part.strip()
        ]
        return {
            "dcgm_version": self.metadata.get("dcgm_version"),
            "driver_version": self.metadata.get("driver_version"),
            "gpus": len(identifiers) or None,
            "device_ids": list(dict.fromkeys(identifiers)),
            "result_counts": result_counts(self.results),
            "not_passed": not_passed(self.results),
        }

    def detail(self) -> dict[str, Any]:
        """Categories, and the results one by one."""
        return {
            "categories": list(self.categories),
            "is_cut": self.is_cut,
            "tests": len({(result.category, result.test) for result in self.results}),
            "results": [result.facts() for result in self.results],
        }

    def warn(self, code: str, message: str, line: int, text: str) -> None:
        if len(self.warnings) < _MOST_WARNINGS:
            self.warnings.append(ReadingWarning(code=code, message=message, line=line, text=text[:200]))


def tables_in(lines: Iterable[Line]) -> list[Table]:
    """The tables in order; each begins with its heading, or with a row where the heading is cut away."""
    tables: list[Table] = []
    has_borders = above_is_border = False
    for line in lines:
        text = line.text[:500]
        is_border = _BORDER.fullmatch(text) is not None
        has_borders |= is_border
        if _HEADING.search(text):
            if tables and above_is_border:
                tables[-1].borders -= 1  # it opens the new table
            tables.append(Table(last=(line.number, text)))
        elif is_border and tables:
            tables[-1].borders += 1
        elif "|" in text or "--" in text:
            _take(tables, line.number, text)
        above_is_border = is_border
    for table in tables if has_borders else ():
        _say_if_cut(table)
    has_content = any(table.results or table.metadata for table in tables)
    return [table for table in tables if table.results or table.metadata or (has_content and table.is_cut)]


def _say_if_cut(table: Table) -> None:
    table.is_cut = table.borders < 1
    if table.is_cut:
        message = say("the table ends without its last line; tests that are missing cannot count as passed")
        table.warn("cut_off", message, *table.last)


def _take(tables: list[Table], number: int, text: str) -> None:
    if tables:
        tables[-1].last, tables[-1].borders = (number, text), 0
    if category := _CATEGORY.search(text):
        if not tables:
            tables.append(Table())
        tables[-1].category = category.group(1)
        tables[-1].message_of = None
        if category.group(1).lower() != "metadata":
            tables[-1].categories[category.group(1)] = None
        return
    row = _ROW.search(text)
    if row and tables:
        _take_row(tables[-1], number, row["left"].strip(), row["right"])


def _take_row(table: Table, number: int, left: str, right: str) -> None:
    known = _METADATA.get(left.lower())
    status = _STATUS.match(right.strip())
    entity = _ENTITY.match(right.strip())
    if known:
        table.metadata[known] = right.strip()
        table.message_of = None
    elif message := _MESSAGE.fullmatch(left):
        _add_message(table, right, _entity_name(*message.groups()) if message[1] else None)
    elif not left and entity and table.results:
        _add_entity(table, number, entity)
    elif status and (left or table.results):
        test = left or table.results[-1].test
        _add_result(table, number, test, status.group(1), status.group(2) or "")
    elif not left and table.message_of:
        table.message_of.messages[-1] += right
    elif left and right.strip():
        table.warn(
            "row_not_understood", say("this row is no test with a known result"), number, f"{left} | {right}"
        )


def _add_result(table: Table, number: int, test: str, status: str, where: str) -> None:
    if len(table.results) >= _MOST_RESULTS:
        return
    table.message_of = None
    if any(
        r.test == test and r.category == table.category and r.entities == gpu_numbers(where)
        for r in table.results[-40:]
    ):
        table.warn("result_repeated", say("this test has a result already"), number, test)
    table.results.append(
        Result(category=table.category, test=test, status=status, entities=gpu_numbers(where), line=number)
    )


def _add_entity(table: Table, number: int, found: re.Match[str]) -> None:
    """A row of one entity (DCGM 4). The first of them replaces the summary row and takes over its messages."""
    kind, which, status = found.groups()
    last = table.results[-1]
    table.message_of = None
    messages = [] if last.entities else table.results.pop().messages
    if len(table.results) < _MOST_RESULTS:
        table.results.append(
            Result(
                category=last.category,
                test=last.test,
                status=status,
                entities=[_entity_name(kind, which)],
                messages=messages,
                line=number,
            )
        )


def _entity_name(kind: str, which: str) -> str:
    return which if kind.upper() == "GPU" else f"{kind}{which}"


def _add_message(table: Table, text: str, entity: str | None) -> None:
    """A message belongs to the result above, or to that of its entity; long ones go on in rows without a left cell."""
    if not table.results:
        return
    above = table.results[-1]
    same_test = takewhile(
        lambda result: (result.category, result.test) == (above.category, above.test), reversed(table.results)
    )
    result = next((result for result in same_test if entity in result.entities), above)
    if len(result.messages) < 50:
        result.messages.append(text)
        table.message_of = result
