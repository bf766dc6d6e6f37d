"""What becomes of each row of an import, as plain values that can be kept, shown and compared."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import Any

from apps.core import digest
from apps.core.texts import kept
from apps.fleet.engine.cells import Value
from apps.fleet.engine.importing import ImportPlan, TablePlan
from apps.fleet.engine.tables import Key


class Fate(StrEnum):
    """In the order in which they are shown."""

    ERROR = "error"
    CREATED = "created"
    UPDATED = "updated"
    REMOVED = "removed"
    SKIPPED = "skipped"
    UNCHANGED = "unchanged"


def outcomes_of(plan: ImportPlan) -> list[dict[str, Any]]:
    """One entry per row that creates or changes something or is passed over, and one per error; errors first."""
    order = {fate.value: place for place, fate in enumerate(Fate)}
    found = [one for table in plan.tables for one in _of_table(table)]
    return sorted(found, key=lambda one: order[one["fate"]])


def counts_of(plan: ImportPlan) -> dict[str, dict[str, int]]:
    """Per table: how many rows of each fate; rows with errors count once."""
    return {table.table.value: _counts(table) for table in plan.tables}


def digest_of(plan: ImportPlan) -> str:
    """Of what the plan would write; equal plans do the same to the same fleet."""
    return digest.of_value(
        [
            [
                table.table.value,
                [[*one.key, _plain(one.values)] for one in table.created],
                [[*one.key, _changes(one.changes)] for one in table.updated],
                [[*one.key] for one in table.removed],
            ]
            for table in plan.tables
        ]
    )


def _counts(plan: TablePlan) -> dict[str, int]:
    wrong = {error.row for error in plan.errors}
    return {
        "created": sum(one.row not in wrong for one in plan.created),
        "updated": sum(one.row not in wrong for one in plan.updated),
        "removed": sum(one.row not in wrong for one in plan.removed),
        "unchanged": len(plan.unchanged),
        "skipped": len(plan.skipped),
        "errors": len(wrong),
    }


def _of_table(plan: TablePlan) -> Iterator[dict[str, Any]]:
    table, wrong = plan.table.value, {error.row for error in plan.errors}
    for error in plan.errors:
        yield {
            "table": table,
            "row": error.row,
            "fate": Fate.ERROR.value,
            "column": error.column,
            "value": error.value,
            "message": error.message,
            "code": error.code,
            **kept(error.message),
        }
    for made in (one for one in plan.created if one.row not in wrong):
        yield {"table": table, "row": made.row, "fate": Fate.CREATED.value, "key": _shown(made.key)}
    for changed in (one for one in plan.updated if one.row not in wrong):
        yield {
            "table": table,
            "row": changed.row,
            "fate": Fate.UPDATED.value,
            "key": _shown(changed.key),
            "changes": _changes(changed.changes),
        }
    for gone in (one for one in plan.removed if one.row not in wrong):
        yield {"table": table, "row": gone.row, "fate": Fate.REMOVED.value, "key": _shown(gone.key)}
    for fate, keys in ((Fate.SKIPPED, plan.skipped), (Fate.UNCHANGED, plan.unchanged)):
        for key in keys:
            yield {"table": table, "row": None, "fate": fate.value, "key": _shown(key)}


def _changes(changes: Mapping[str, tuple[Value, Value]]) -> dict[str, list[Any]]:
    return {name: [_cell(before), _cell(after)] for name, (before, after) in changes.items()}


def _plain(values: Mapping[str, Value]) -> dict[str, Any]:
    return {name: _cell(value) for name, value in values.items()}


def _cell(value: Value) -> Any:
    return list(value) if isinstance(value, tuple) else value


def _shown(key: Key) -> str:
    return "/".join(str(part) for part in key)
