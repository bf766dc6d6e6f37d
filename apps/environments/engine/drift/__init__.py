"""Drift of a domain: all its nodes against one matrix, and among themselves.

Nodes of a domain repeat the same few versions, so each distinct report of a component is judged once
and its cell is shared; time and memory grow with nodes × components only in the pointers.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta

from apps.catalogue.engine.components import RuleKind, component
from apps.core.verdicts import Verdict, combine
from apps.environments.engine.drift.boards import holders_of, odd_ones_of, shortest_board_of
from apps.environments.engine.drift.columns import column_of, extra_column, extra_components
from apps.environments.engine.drift.groups import NOTHING_ASKED, findings_in, rows_and_groups
from apps.environments.engine.drift.values import (
    Cell,
    DomainDrift,
    Finding,
    FindingKind,
    Group,
    NodeReport,
    OddOne,
    Reported,
    Row,
    ShortestBoard,
)
from apps.environments.engine.rules import MatrixEntry, entry_for

__all__ = [
    "Cell",
    "DomainDrift",
    "Finding",
    "FindingKind",
    "Group",
    "NodeReport",
    "OddOne",
    "Reported",
    "Row",
    "ShortestBoard",
    "evaluate",
]


def evaluate(
    *, entries: Sequence[MatrixEntry], nodes: Iterable[NodeReport], now: datetime, stale_after_s: float
) -> DomainDrift:
    """Hold every node of a domain against a matrix.

    A report older than stale_after_s is stale: it is unknown and has no vote in what the majority runs.
    No entries at all: nothing is evaluated, and the verdict is unknown. The result depends only on the
    arguments, not on the order of the nodes.
    """
    reports = sorted(nodes, key=lambda report: report.node)
    fresh_after = now - timedelta(seconds=stale_after_s)
    checked = [entry for entry in entries if entry.rule is not RuleKind.NOT_CHECKED]
    columns = [(entry, column_of(entry, reports, fresh_after)) for entry in checked]
    if checked:
        extras = [entry_for(component(name)) for name in extra_components(entries, reports)]
        columns += [(entry, extra_column(entry, reports)) for entry in extras]
    return _assemble(reports, columns)


def _assemble(
    reports: Sequence[NodeReport], columns: Sequence[tuple[MatrixEntry, list[Cell | None]]]
) -> DomainDrift:
    cells = [column for _, column in columns] or [[NOTHING_ASKED] * len(reports)]
    rows, groups = rows_and_groups(reports, list(zip(*cells, strict=True)))
    odd: list[OddOne] = []
    boards: list[ShortestBoard] = []
    failing: set[tuple[str, str]] = set()
    for entry, column in columns:
        if len(set(map(id, column))) < 2:
            continue
        failing |= {
            (entry.component, report.node)
            for report, cell in zip(reports, column, strict=True)
            if cell is not None and cell.verdict is Verdict.FAIL
        }
        for holders in holders_of(entry, reports, column):
            odd += odd_ones_of(entry, holders)
            board = shortest_board_of(entry, holders)
            if board is not None:
                boards.append(board)

    def is_fine(one: OddOne | ShortestBoard) -> bool:
        return not any((one.component, node) in failing for node in one.nodes)

    return DomainDrift(
        components=tuple(entry.component for entry, _ in columns),
        rows=rows,
        groups=groups,
        findings=tuple(findings_in(rows)),
        odd_ones=tuple(sorted(odd, key=lambda one: (is_fine(one), len(one.nodes), one.component, one.nodes))),
        shortest_boards=tuple(sorted(boards, key=is_fine)),
        verdict=combine(group.verdict for group in groups),
    )
