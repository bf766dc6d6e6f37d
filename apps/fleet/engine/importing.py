"""The plan of a bulk import: what each row would create or change, and every row's errors at once.

Nothing here writes. A column that a file has is taken as it stands, an empty cell as the column's empty value;
a column that it does not have stays as it is. So what was exported imports again unchanged.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import partial
from types import MappingProxyType
from typing import TypeAlias

from apps.core.errors import FieldError
from apps.core.texts import say
from apps.fleet.engine.cells import Value, as_csv
from apps.fleet.engine.import_checks import RowError, cross_check
from apps.fleet.engine.import_moves import node_moves, part_moves
from apps.fleet.engine.import_rows import column_errors, missing, or_default, read_row, renamed, whole
from apps.fleet.engine.tables import SCHEMAS, Key, Schema, Table, Values

Told: TypeAlias = Callable[[int], None]
TELL_EVERY_ROWS = 5_000


def silent(rows: int) -> None:
    """For whom does not ask how far it is."""


def _further(told: Told, done: int, rows: int) -> None:
    told(done + rows)


class Mode(StrEnum):
    """create: a row that exists already is an error. upsert: it is updated. skip: it is passed over."""

    CREATE = "create"
    UPSERT = "upsert"
    SKIP = "skip"


@dataclass(frozen=True, slots=True, kw_only=True)
class Created:
    row: int
    key: Key
    values: Values


@dataclass(frozen=True, slots=True, kw_only=True)
class Updated:
    """changes: column → (before, after). values: the whole row afterwards."""

    row: int
    key: Key
    changes: Mapping[str, tuple[Value, Value]]
    values: Values


@dataclass(frozen=True, slots=True, kw_only=True)
class Removed:
    row: int
    key: Key


@dataclass(frozen=True, slots=True, kw_only=True)
class TablePlan:
    table: Table
    created: tuple[Created, ...] = ()
    updated: tuple[Updated, ...] = ()
    removed: tuple[Removed, ...] = ()
    unchanged: tuple[Key, ...] = ()
    skipped: tuple[Key, ...] = ()
    errors: tuple[RowError, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportPlan:
    """One plan per table of the import, in the order of creation."""

    tables: tuple[TablePlan, ...]

    @property
    def errors(self) -> tuple[RowError, ...]:
        return tuple(error for table in self.tables for error in table.errors)

    @property
    def changes_nothing(self) -> bool:
        return not any(table.created or table.updated or table.removed for table in self.tables)

    def field_errors(self) -> tuple[FieldError, ...]:
        """The errors as the border shows them: /nodes/17/domain."""
        return tuple(
            FieldError(
                pointer=f"/{plan.table.value}/{error.row}/{error.column}",
                message=say("%(what)s (found %(value)s)", what=error.message, value=repr(error.value))
                if error.value
                else error.message,
                code=error.code,
            )
            for plan in self.tables
            for error in plan.errors
        )


def plan_import(
    rows: Mapping[Table, Sequence[Mapping[str, object]]],
    *,
    current: Mapping[Table, Mapping[Key, Values]],
    mode: Mode,
    columns: Mapping[Table, Mapping[str, str]] | None = None,
    held: Mapping[str, frozenset[str]] = MappingProxyType({}),
    told: Told = silent,
    lines: Sequence[int] = (),
) -> ImportPlan:
    """What an import of these rows would do to the current rows.

    rows: numbered from 1 within their table; those of a CSV file by their lines, and then 1 is its head.
    current: all rows there are.
    columns: per table, name in the file → our column (a NetBox export, say); then other names are ignored,
    while without it an unknown column is an error. held: node → kinds of its active holds. told: gets how many
    rows were read, every so often; what it raises ends the planning.
    """
    plans: dict[Table, TablePlan] = {}
    after: dict[Table, dict[Key, Values]] = {table: dict(current.get(table, {})) for table in Table}
    given: dict[Table, dict[Key, int]] = {}
    done = 0
    for table in Table:
        if table in rows:
            planner = _Planner(SCHEMAS[table], after[table], mode, partial(_further, told, done), lines)
            planner.take_all(rows[table], columns.get(table, {}) if columns is not None else None)
            plans[table] = planner.plan(table)
            given[table] = {key: number for key, (number, _) in planner.seen.items()}
            after[table].update(planner.as_if)
            for gone in planner.removed:
                del after[table][gone.key]
            done += len(rows[table])
            told(done)
    found = cross_check(after, given)
    found.setdefault(Table.NODES, []).extend(node_moves(current, after, given, held))
    found.setdefault(Table.PARTS, []).extend(part_moves(current, after, given))
    return ImportPlan(tables=tuple(_with_errors(plan, found.get(table, ())) for table, plan in plans.items()))


def _with_errors(plan: TablePlan, more: Sequence[RowError]) -> TablePlan:
    return replace(plan, errors=tuple(sorted((*plan.errors, *more), key=lambda error: error.row)))


class _Planner:
    """Goes through the rows of one table.

    seen: key → row and cells. as_if: rows as they would be, those with errors too, so that what refers to a
    faulty row is not blamed for it.
    """

    def __init__(
        self,
        schema: Schema,
        current: Mapping[Key, Values],
        mode: Mode,
        told: Told,
        lines: Sequence[int],
    ) -> None:
        self.schema, self.current, self.mode, self.told, self.lines = schema, current, mode, told, lines
        self.seen: dict[Key, tuple[int, Values]] = {}
        self.as_if: dict[Key, Values] = {}
        self.created: list[Created] = []
        self.updated: list[Updated] = []
        self.removed: list[Removed] = []
        self.unchanged: list[Key] = []
        self.skipped: list[Key] = []
        self.errors: list[RowError] = []

    def take_all(self, rows: Sequence[Mapping[str, object]], renames: Mapping[str, str] | None) -> None:
        numbers = self.lines or range(1, len(rows) + 1)
        head = 1 if self.lines else 0
        self.errors += column_errors(self.schema, rows, renames, numbers=numbers, head=head)
        for done, (number, raw) in enumerate(zip(numbers, rows, strict=True), start=1):
            if done % TELL_EVERY_ROWS == 0:
                self.told(done)
            cells, faults = read_row(self.schema, renamed(raw, renames), number)
            self.errors += faults
            if self.schema.is_named(cells):
                self._place(number, cells, faultless=not faults)

    def plan(self, table: Table) -> TablePlan:
        return TablePlan(
            table=table,
            created=tuple(self.created),
            updated=tuple(self.updated),
            removed=tuple(self.removed),
            unchanged=tuple(self.unchanged),
            skipped=tuple(self.skipped),
            errors=tuple(self.errors),
        )

    def _place(self, number: int, cells: dict[str, Value], *, faultless: bool) -> None:
        key = self.schema.key_of(cells)
        if key in self.seen:
            self.errors.append(_twice(self.schema, number, cells, *self._first(key)))
            return
        self.seen[key] = number, cells
        before = self.current.get(key)
        goes = cells.get(self.schema.counted) == 0
        if before is None and goes:
            self.unchanged.append(key)
        elif before is None:
            self._create(number, key, cells, faultless)
        elif self.mode is Mode.CREATE:
            self.errors.append(_exists(self.schema, number, key))
        elif self.mode is Mode.SKIP:
            self.skipped.append(key)
        elif goes:
            self.removed.append(Removed(row=number, key=key))
        else:
            self._update(number, key, cells, before, faultless)

    def _first(self, key: Key) -> tuple[str, Values]:
        """Where the row stands that had this key before, in words, and its cells."""
        number, cells = self.seen[key]
        return (
            say("line %(number)s", number=number) if self.lines else say("entry %(number)s", number=number)
        ), cells

    def _create(self, number: int, key: Key, cells: dict[str, Value], faultless: bool) -> None:
        columns = self.schema.columns
        values = {one.name: or_default(cells, one.name, one.default) for one in columns}
        self.as_if[key] = values
        absent = missing(self.schema, cells, number) if faultless else []
        self.errors += absent
        if faultless and not absent:
            self.created.append(Created(row=number, key=key, values=values))

    def _update(
        self, number: int, key: Key, cells: dict[str, Value], before: Values, faultless: bool
    ) -> None:
        values = {**before, **whole(self.schema, cells)}
        self.as_if[key] = values
        changes = {name: (before[name], new) for name, new in values.items() if before[name] != new}
        if not faultless:
            return
        if changes:
            self.updated.append(Updated(row=number, key=key, changes=changes, values=values))
        else:
            self.unchanged.append(key)


def _twice(schema: Schema, number: int, cells: Values, first: str, before: Values) -> RowError:
    shown = "/".join(as_csv(part) for part in schema.key_of(cells))
    if cells.get("domain") != before.get("domain"):
        homes = say(
            "%(value)s (%(first)s) and %(value_2)s",
            value=before.get("domain") or say("none"),
            first=first,
            value_2=cells.get("domain") or say("none"),
        )
        message, code, column = (
            say("%(shown)s is in two domains: %(homes)s", shown=shown, homes=homes),
            "two_domains",
            "domain",
        )
    else:
        message, code, column = (
            say("%(shown)s stands there already: %(first)s", shown=shown, first=first),
            "row_twice",
            schema.key[0],
        )
    return RowError(row=number, column=column, value=shown, message=message, code=code)


def _exists(schema: Schema, number: int, key: Key) -> RowError:
    shown = "/".join(as_csv(part) for part in key)
    return RowError(
        row=number,
        column=schema.key[0],
        value=shown,
        message=say("%(shown)s exists already", shown=shown),
        code="exists",
    )
