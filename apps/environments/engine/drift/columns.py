"""The cells of one component down all nodes of a domain; each distinct report is judged once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from apps.catalogue.engine.components import RuleKind, component
from apps.catalogue.engine.versions import identical, parse
from apps.environments.engine.drift.values import Cell, NodeReport
from apps.environments.engine.rules import (
    Judgement,
    MatrixEntry,
    Outcome,
    Reason,
    judge,
    sameness,
)

# Loaded and declared versions, whether the report is stale, what other kinds say against it, and against which.
_Seen = tuple[tuple[str, ...], tuple[str, ...], bool, tuple[str, ...], tuple[str, ...]]


def column_of(entry: MatrixEntry, reports: Sequence[NodeReport], fresh_after: datetime) -> list[Cell | None]:
    """The cells of one component, in the order of the reports, equal ones shared."""
    name = entry.component
    seen: list[_Seen | None] = []
    for report in reports:
        held = report.reported.get(name)
        is_stale = held is not None and held.seen_at < fresh_after
        doubts = ((), ()) if held is None or is_stale else (held.contradicting, held.contradicted)
        seen.append(None if held is None else (held.loaded, held.declared, is_stale, *doubts))
    counts = Counter(seen)
    cells = {one: _cell(entry, one) for one in counts}
    if entry.rule is RuleKind.UNIFORM:
        cells = _held_against_majority(entry, cells, counts)
    return [cells[one] for one in seen]


def _cell(entry: MatrixEntry, seen: _Seen | None) -> Cell:
    loaded, declared, is_stale, contradicting, contradicted = seen or ((), (), False, (), ())
    values = loaded or declared
    judged = judge(entry, values)
    if is_stale and values:
        judged = Judgement(outcome=Outcome.STALE, reason=Reason.REPORT_TOO_OLD)
    return Cell(
        component=entry.component,
        outcome=judged.outcome,
        reason=judged.reason,
        expected=entry.expected,
        found=values,
        declared=declared,
        loaded_differs=_loaded_differs(entry, loaded, declared),
        contradicting=contradicting,
        contradicted=contradicted,
        severity=component(entry.component).severity,
    )


def _loaded_differs(entry: MatrixEntry, loaded: tuple[str, ...], declared: tuple[str, ...]) -> bool:
    """Whether some loaded version is certainly none of the declared ones."""
    packages = [parse(text, entry.scheme) for text in declared]
    return any(
        bool(packages) and all(identical(parse(text, entry.scheme), package) is False for package in packages)
        for text in loaded
    )


def _held_against_majority(
    entry: MatrixEntry, cells: Mapping[_Seen | None, Cell], counts: Mapping[_Seen | None, int]
) -> dict[_Seen | None, Cell]:
    """The cells of a uniform component: those of the majority match, others drift; without one, all drift."""
    votes: Counter[object] = Counter()
    texts: dict[object, str] = {}
    for seen, cell in cells.items():
        if cell.outcome is Outcome.MATCH:
            version = sameness(parse(cell.found[0], entry.scheme))
            votes[version] += counts[seen]
            texts[version] = min(texts.get(version, cell.found[0]), cell.found[0])
    leaders = [version for version, count in votes.items() if count == max(votes.values())]
    expected = texts[leaders[0]] if len(leaders) == 1 else ""
    return {seen: _against(entry, cell, leaders, expected) for seen, cell in cells.items()}


def _against(entry: MatrixEntry, cell: Cell, leaders: Sequence[object], expected: str) -> Cell:
    if cell.outcome is not Outcome.MATCH:
        return replace(cell, expected=expected)
    if len(leaders) > 1:
        return replace(cell, outcome=Outcome.DRIFT, reason=Reason.NO_MAJORITY)
    if sameness(parse(cell.found[0], entry.scheme)) == leaders[0]:
        return replace(cell, expected=expected)
    return replace(cell, outcome=Outcome.DRIFT, reason=Reason.NOT_THE_MAJORITY, expected=expected)


def extra_components(entries: Sequence[MatrixEntry], reports: Sequence[NodeReport]) -> list[str]:
    """Components that nodes report and the matrix leaves out, but for those that are not checked by default."""
    listed = {entry.component for entry in entries}
    reported: set[str] = set()
    for report in reports:
        reported.update(report.reported)
    return sorted(name for name in reported - listed if component(name).rule is not RuleKind.NOT_CHECKED)


def extra_column(entry: MatrixEntry, reports: Sequence[NodeReport]) -> list[Cell | None]:
    """The cells of a component that the matrix leaves out; None for nodes that do not report it."""
    cells: dict[tuple[tuple[str, ...], tuple[str, ...]] | None, Cell | None] = {None: None}
    column: list[Cell | None] = []
    for report in reports:
        held = report.reported.get(entry.component)
        key = None if held is None else (held.loaded, held.declared)
        if key not in cells and key is not None:
            cells[key] = Cell(
                component=entry.component,
                outcome=Outcome.EXTRA,
                reason=Reason.NOT_IN_MATRIX,
                expected="",
                found=key[0] or key[1],
                declared=key[1],
                loaded_differs=_loaded_differs(entry, *key),
            )
        column.append(cells[key])
    return column
