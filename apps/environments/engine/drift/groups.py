"""Nodes with identical cells, and what there is to act on."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from apps.core import digest
from apps.core.verdicts import Verdict, combine
from apps.environments.engine.drift.values import Cell, Finding, FindingKind, Group, NodeReport, Row
from apps.environments.engine.rules import Outcome, Reason

# The one cell of each node where nothing is asked of the domain.
NOTHING_ASKED = Cell(
    component="", outcome=Outcome.NOT_EVALUATED, reason=Reason.NOTHING_ASKED, expected="", found=()
)


def rows_and_groups(
    reports: Sequence[NodeReport], cells_by_node: Sequence[tuple[Cell | None, ...]]
) -> tuple[tuple[Row, ...], tuple[Group, ...]]:
    """One row for each node, and the groups of equal rows, largest first.

    Cells are shared, so two rows are equal where they hold the same objects; comparing those is what
    keeps this fast.
    """
    keys = [tuple(map(id, cells)) for cells in cells_by_node]
    names: dict[tuple[int, ...], list[str]] = defaultdict(list)
    cells_of: dict[tuple[int, ...], tuple[Cell | None, ...]] = {}
    for key, report, cells in zip(keys, reports, cells_by_node, strict=True):
        names[key].append(report.node)
        cells_of[key] = cells
    group_of = {key: _group(cells_of[key], tuple(nodes)) for key, nodes in names.items()}
    rows = tuple(
        Row(node=report.node, cells=cells, verdict=group_of[key].verdict)
        for key, report, cells in zip(keys, reports, cells_by_node, strict=True)
    )
    return rows, tuple(sorted(group_of.values(), key=lambda group: (-len(group.nodes), group.nodes)))


def _group(cells: tuple[Cell | None, ...], nodes: tuple[str, ...]) -> Group:
    present = [cell for cell in cells if cell is not None]
    texts = [
        [cell.component, cell.outcome, *cell.found, "|", *cell.declared, "|", *cell.contradicting]
        for cell in present
    ]
    doubts = [Verdict.WARN for cell in present if cell.loaded_differs or cell.contradicting]
    return Group(
        fingerprint=digest.of_value(texts)[:16],
        nodes=nodes,
        cells=cells,
        verdict=combine([cell.verdict for cell in present] + doubts),
    )


def findings_in(rows: Sequence[Row]) -> Iterator[Finding]:
    """Every cell that is not a match, every loaded version that no package declares, every contradiction.

    Where nothing is asked of a domain, that is one finding for all its nodes.
    """
    first = next((cell for row in rows for cell in row.cells), None)
    if first is NOTHING_ASKED:
        yield Finding(kind=FindingKind.NO_INTENT, node=None, cell=first, verdict=first.verdict)
        return
    for row in rows:
        if row.verdict is Verdict.PASS:
            continue
        for cell in row.cells:
            if cell is None:
                continue
            if cell.outcome is not Outcome.MATCH:
                yield Finding(kind=FindingKind.DRIFT, node=row.node, cell=cell, verdict=cell.verdict)
            if cell.loaded_differs:
                yield Finding(kind=FindingKind.LOADED_DIFFERS, node=row.node, cell=cell, verdict=Verdict.WARN)
            if cell.contradicting:
                yield Finding(kind=FindingKind.CONTRADICTION, node=row.node, cell=cell, verdict=Verdict.WARN)
