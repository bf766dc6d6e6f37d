"""What the pages of matrices and drift show, as plain values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.http import urlencode
from django.utils.translation import gettext as _

from apps.catalogue.engine.components import component, components
from apps.catalogue.engine.versions import Scheme, parse
from apps.core import clock
from apps.core.speech import listed
from apps.core.verdicts import Verdict
from apps.environments import queries
from apps.environments.engine import drift
from apps.environments.engine.plain import plain_group
from apps.environments.engine.rules import MatrixEntry as Asked
from apps.environments.models import DriftCheck, DriftFinding, MatrixVersion
from apps.environments.words import (
    AREAS,
    DRAFT_NOTES,
    FINDING_KINDS,
    REASONS,
    RULES,
    SCHEMES,
    Word,
    label_of,
    remedies_of,
)
from apps.fleet.models import Domain

MOST_COLUMNS = 8
MOST_NAMES = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """Nodes with identical versions. names: the first few, for a heading; more: how many others."""

    nodes: Sequence[str]
    verdict: str
    fingerprint: str

    @property
    def count(self) -> int:
        return len(self.nodes)

    @property
    def names(self) -> Sequence[str]:
        return self.nodes[:3]


@dataclass(frozen=True, slots=True, kw_only=True)
class CellShown:
    """One component of one group of nodes: raw text, verdict, and why, in words."""

    text: str
    verdict: str
    outcome: str
    why: Word
    read_as: str
    declared: str
    loaded_differs: bool
    contradicting: Sequence[str]

    @property
    def is_plain(self) -> bool:
        """Whether there is nothing to say beside the version."""
        return self.outcome == "match" and not self.loaded_differs and not self.contradicting


@dataclass(frozen=True, slots=True, kw_only=True)
class RowShown:
    """One component across the groups, beside what is asked of it (asked: None where the matrix leaves it out)."""

    component: str
    label: Word
    area: Word
    asked: Asked | None
    rule: Word
    intended: str
    read_as: str
    is_undecided: bool
    notes: Sequence[dict[str, Any]]
    cells: Sequence[CellShown | None]

    @property
    def differs(self) -> bool:
        """Whether the nodes differ among themselves, or one of them from what is asked."""
        return len({cell.text if cell else "" for cell in self.cells}) > 1 or any(
            cell is not None and not cell.is_plain for cell in self.cells
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Components by groups of identical nodes. hidden_groups: how many groups have no column of their own.

    asked_rows: components that the matrix states, shown or not.
    """

    columns: Sequence[Column]
    rows: Sequence[RowShown]
    hidden_groups: int
    asked_rows: int


def read_as(text: str, scheme: Scheme) -> str:
    """How a version was understood: its scheme and canonical form, or that it is of an unknown form."""
    if not text.strip():
        return ""
    version = parse(text, scheme)
    return f"{SCHEMES[scheme.value]}: {version.canonical if version.is_known else '?'}"


def version_table(version: MatrixVersion, *, only_differences: bool) -> Table:
    """A version beside what the nodes of its domain report; for a matrix of a whole cluster, what it asks for."""
    entries = queries.entries_of(version.entries.all())
    names, groups = _groups_for(version, entries)
    groups = _failing_first(groups)
    rows = [
        _row(entry, _cells(names, groups, entry.component), version.draft_notes)
        for entry in _in_order(entries)
    ]
    asked = {entry.component for entry in entries}
    rows += [_extra_row(name, _cells(names, groups, name)) for name in names if name and name not in asked]
    return _table(rows, groups, only_differences=only_differences)


def left_out(version: MatrixVersion) -> list[dict[str, Any]]:
    """What a draft from reports asks nothing of: components with who reports them, as noted when it was drafted."""
    asked = set(version.entries.values_list("component", flat=True))
    return [
        {**note, "label": label_of(note["component"]), "word": DRAFT_NOTES.get(note["kind"], note["kind"])}
        for note in version.draft_notes
        if note["component"] not in asked and note["kind"] in ("few", "unknown_form")
    ]


def heat_map(check: DriftCheck, entries: Sequence[Asked], *, only_differences: bool) -> Table:
    """A check as it was written down: components by groups of identical nodes, those that differ first."""
    asked, groups = {entry.component: entry for entry in entries}, _failing_first(check.groups)
    rows = []
    for name in check.components:
        cells = _cells(check.components, groups, name)
        rows.append(_row(asked[name], cells, ()) if name in asked else _extra_row(name, cells))
    rows.sort(key=lambda row: not row.differs)
    return _table(rows, groups, only_differences=only_differences)


def map_rows(table: Table, nodes: Mapping[str, int]) -> list[dict[str, Any]]:
    """The table turned over: a row for each group, its cells in the order of the table's components.

    nodes: name to id, for links.
    """
    rows = []
    for place, column in enumerate(table.columns):
        named = [{"name": name, "pk": nodes[name]} for name in column.nodes if name in nodes]
        rows.append(
            {
                "count": column.count,
                "verdict": column.verdict,
                "links": named[:MOST_NAMES],
                "more": max(0, len(named) - MOST_NAMES),
                "cells": [row.cells[place] for row in table.rows],
            }
        )
    return rows


def finding_row(row: DriftFinding) -> dict[str, Any]:
    """A finding in words, with what to do and the query that fills in a change."""
    node = {"domain": row.domain_id, "node": row.node.name if row.node else ""}
    return {
        "row": row,
        "label": label_of(row.component),
        "kind": FINDING_KINDS.get(row.kind, row.kind),
        "reason": REASONS.get(row.reason, row.reason),
        "remedy": remedies_of(row.kind, row.reason),
        "change_query": urlencode({**node, "component": row.component}),
        "node_query": urlencode(node),
    }


def only_link(*, only_differences: bool) -> dict[str, Any]:
    """The link between all rows and those that differ."""
    if only_differences:
        return {"only_url": "?", "only_action": _("All components")}
    return {"only_url": "?only=differences", "only_action": _("Only differences")}


def _groups_for(
    version: MatrixVersion, entries: Sequence[Asked]
) -> tuple[Sequence[str], Sequence[Mapping[str, Any]]]:
    domain: Domain | None = version.matrix.domain
    if domain is None:
        return [], []
    check = queries.newest_check(domain)
    if check is not None and check.matrix_version_id == version.pk:
        return check.components, check.groups
    _nodes, reports = queries.reported_by_domain(domain)
    stale_after_s = queries.policy_of(domain.cluster).stale_after_s
    result = drift.evaluate(entries=entries, nodes=reports, now=clock.now(), stale_after_s=stale_after_s)
    return result.components, [plain_group(group) for group in result.groups] if reports else []


def _failing_first(groups: Sequence[Mapping[str, Any]]) -> Sequence[Mapping[str, Any]]:
    """Where not all have a column: the largest group, those that fail, then the others; else as they are, by size."""
    if len(groups) <= MOST_COLUMNS:
        return groups
    return [*groups[:1], *sorted(groups[1:], key=lambda group: group["verdict"] != Verdict.FAIL.value)]


def _in_order(entries: Iterable[Asked]) -> list[Asked]:
    place = {name: index for index, name in enumerate(components())}
    return sorted(entries, key=lambda entry: (place.get(entry.component, len(place)), entry.component))


def _cells(
    names: Sequence[str], groups: Sequence[Mapping[str, Any]], component_id: str
) -> list[CellShown | None]:
    if component_id not in names:
        return [None for _group in groups[:MOST_COLUMNS]]
    index = list(names).index(component_id)
    return [_cell(group["cells"][index]) for group in groups[:MOST_COLUMNS]]


def _cell(cell: Mapping[str, Any] | None) -> CellShown | None:
    if cell is None:
        return None
    found = [str(text) for text in cell["found"]]
    return CellShown(
        text=" | ".join(found),
        verdict=cell["verdict"],
        outcome=cell["outcome"],
        why=REASONS.get(cell["reason"], cell["reason"]),
        read_as=listed((read_as(text, component(cell["component"]).scheme) for text in found), "; "),
        declared=" | ".join(cell["declared"]),
        loaded_differs=cell["loaded_differs"],
        contradicting=cell.get("contradicting") or (),
    )


def _row(entry: Asked, cells: Sequence[CellShown | None], notes: Iterable[Mapping[str, Any]]) -> RowShown:
    known = component(entry.component)
    return RowShown(
        component=entry.component,
        label=label_of(entry.component),
        area=AREAS.get(known.area, known.area),
        asked=entry,
        rule=RULES.get(entry.rule.value, entry.rule.value),
        intended=entry.expected,
        read_as=listed((read_as(text, entry.scheme) for text in entry.values), "; "),
        is_undecided=bool(queries.undecided([entry])),
        notes=[
            {**note, "word": DRAFT_NOTES.get(note["kind"], note["kind"])}
            for note in notes
            if note["component"] == entry.component
        ],
        cells=cells,
    )


def _extra_row(component_id: str, cells: Sequence[CellShown | None]) -> RowShown:
    known = component(component_id)
    return RowShown(
        component=component_id,
        label=label_of(component_id),
        area=AREAS.get(known.area, known.area),
        asked=None,
        rule="",
        intended="",
        read_as="",
        is_undecided=False,
        notes=(),
        cells=cells,
    )


def _table(rows: Sequence[RowShown], groups: Sequence[Mapping[str, Any]], *, only_differences: bool) -> Table:
    columns = [
        Column(nodes=group["nodes"], verdict=group["verdict"], fingerprint=group["fingerprint"])
        for group in groups[:MOST_COLUMNS]
    ]
    shown = [row for row in rows if row.differs or row.is_undecided] if only_differences else list(rows)
    return Table(
        columns=columns,
        rows=shown,
        hidden_groups=max(0, len(groups) - MOST_COLUMNS),
        asked_rows=sum(row.asked is not None for row in rows),
    )
