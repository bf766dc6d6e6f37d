"""The plan of a bulk import: what each row would create or change, and every row's errors at once.

Nothing here writes. A column that a file has is taken as it stands, an empty cell as the column's empty value;
a column that it does not have stays as it is. So what was exported imports again unchanged.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from apps.core.errors import FieldError
from apps.fleet.engine.cells import BadCell, Value, as_csv
from apps.fleet.engine.import_checks import RowError, cross_check
from apps.fleet.engine.tables import SCHEMAS, Key, Schema, Table, Values


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
class TablePlan:
    table: Table
    created: tuple[Created, ...] = ()
    updated: tuple[Updated, ...] = ()
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
        return not any(table.created or table.updated for table in self.tables)

    def field_errors(self) -> tuple[FieldError, ...]:
        """The errors as the border shows them: /nodes/17/domain."""
        return tuple(
            FieldError(
                pointer=f"/{plan.table.value}/{error.row}/{error.column}",
                message=f"{error.message} (found {error.value!r})" if error.value else error.message,
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
) -> ImportPlan:
    """What an import of these rows would do to the current rows.

    rows: numbered from 1 within their table, as decoded from CSV, JSON or YAML. current: all rows there are.
    columns: per table, name in the file → our column (a NetBox export, say); then other names are ignored,
    while without it an unknown column is an error.
    """
    plans: dict[Table, TablePlan] = {}
    after: dict[Table, dict[Key, Values]] = {table: dict(current.get(table, {})) for table in Table}
    given: dict[Table, dict[Key, int]] = {}
    for table in Table:
        if table in rows:
            planner = _Planner(SCHEMAS[table], after[table], mode)
            planner.take_all(rows[table], columns.get(table, {}) if columns is not None else None)
            plans[table] = planner.plan(table)
            given[table] = {key: number for key, (number, _) in planner.seen.items()}
            after[table].update(planner.as_if)
    found = cross_check(after, given)
    return ImportPlan(tables=tuple(_with_errors(plan, found.get(table, ())) for table, plan in plans.items()))


def _with_errors(plan: TablePlan, more: Sequence[RowError]) -> TablePlan:
    return TablePlan(
        table=plan.table,
        created=plan.created,
        updated=plan.updated,
        unchanged=plan.unchanged,
        skipped=plan.skipped,
        errors=tuple(sorted((*plan.errors, *more), key=lambda error: error.row)),
    )


class _Planner:
    """Goes through the rows of one table.

    seen: key → row and cells. as_if: rows as they would be, those with errors too, so that what refers to a
    faulty row is not blamed for it.
    """

    def __init__(self, schema: Schema, current: Mapping[Key, Values], mode: Mode) -> None:
        self.schema, self.current, self.mode = schema, current, mode
        self.seen: dict[Key, tuple[int, Values]] = {}
        self.as_if: dict[Key, Values] = {}
        self.created: list[Created] = []
        self.updated: list[Updated] = []
        self.unchanged: list[Key] = []
        self.skipped: list[Key] = []
        self.errors: list[RowError] = []

    def take_all(self, rows: Sequence[Mapping[str, object]], renames: Mapping[str, str] | None) -> None:
        self.errors += _column_errors(self.schema, rows, renames)
        for number, raw in enumerate(rows, start=1):
            cells, faults = _read_row(self.schema, _renamed(raw, renames), number)
            self.errors += faults
            if all(name in cells for name in self.schema.key):
                self._place(number, cells, faultless=not faults)

    def plan(self, table: Table) -> TablePlan:
        return TablePlan(
            table=table,
            created=tuple(self.created),
            updated=tuple(self.updated),
            unchanged=tuple(self.unchanged),
            skipped=tuple(self.skipped),
            errors=tuple(self.errors),
        )

    def _place(self, number: int, cells: dict[str, Value], *, faultless: bool) -> None:
        key = tuple(cells[name] for name in self.schema.key)
        if key in self.seen:
            self.errors.append(_twice(self.schema, number, cells, *self.seen[key]))
            return
        self.seen[key] = number, cells
        before = self.current.get(key)
        if before is None:
            self._create(number, key, cells, faultless)
        elif self.mode is Mode.CREATE:
            self.errors.append(_exists(self.schema, number, key))
        elif self.mode is Mode.SKIP:
            self.skipped.append(key)
        else:
            self._update(number, key, cells, before, faultless)

    def _create(self, number: int, key: Key, cells: dict[str, Value], faultless: bool) -> None:
        columns = self.schema.columns
        values = {one.name: _or_default(cells, one.name, one.default) for one in columns}
        self.as_if[key] = values
        missing = _missing(self.schema, cells, number) if faultless else []
        self.errors += missing
        if faultless and not missing:
            self.created.append(Created(row=number, key=key, values=values))

    def _update(
        self, number: int, key: Key, cells: dict[str, Value], before: Values, faultless: bool
    ) -> None:
        values = {**before, **_whole(self.schema, cells)}
        self.as_if[key] = values
        changes = {name: (before[name], new) for name, new in values.items() if before[name] != new}
        if not faultless:
            return
        if changes:
            self.updated.append(Updated(row=number, key=key, changes=changes, values=values))
        else:
            self.unchanged.append(key)


def _renamed(raw: Mapping[str, object], renames: Mapping[str, str] | None) -> Mapping[str, object]:
    if renames is None:
        return raw
    return {renames[name]: cell for name, cell in raw.items() if name in renames}


def _column_errors(
    schema: Schema, rows: Sequence[Mapping[str, object]], renames: Mapping[str, str] | None
) -> Iterator[RowError]:
    """Columns that are unknown, each told once, at the first row that has it."""
    known = [one.name for one in schema.columns]
    told: set[str] = set()
    if renames is not None:
        for theirs, ours in renames.items():
            if ours not in known:
                message = f"{theirs} is mapped to {ours}, which is not one of {', '.join(known)}"
                yield RowError(row=0, column=ours, code="unknown_column", message=message)
        return
    for number, raw in enumerate(rows, start=1):
        for name in raw.keys() - set(known) - told:
            told.add(name)
            close = difflib.get_close_matches(str(name), known, n=1)
            hint = f"; {close[0]} may be meant" if close else f"; there are {', '.join(known)}"
            message = f"unknown column {name}{hint}"
            yield RowError(row=number, column=str(name), code="unknown_column", message=message)


def _read_row(
    schema: Schema, raw: Mapping[str, object], number: int
) -> tuple[dict[str, Value], list[RowError]]:
    """The cells that the row has, read; and what is wrong with them."""
    cells: dict[str, Value] = {}
    faults: list[RowError] = []
    for column in schema.columns:
        if column.name not in raw:
            if column.name in schema.key:
                faults.append(_required(column.name, number))
            continue
        try:
            value = column.read(raw[column.name])
        except BadCell as fault:
            faults.append(
                RowError(
                    row=number,
                    column=column.name,
                    value=str(raw[column.name])[:80],
                    message=f"{column.name} must be {fault}",
                    code="bad_value",
                )
            )
            continue
        if column.required and value in ("", None):
            faults.append(_required(column.name, number))
        else:
            cells[column.name] = value
    return cells, faults


def _missing(schema: Schema, cells: Mapping[str, Value], number: int) -> list[RowError]:
    """Required columns that a new row does not have at all."""
    return [
        _required(one.name, number)
        for one in schema.columns
        if one.required and one.name not in schema.key and one.name not in cells
    ]


def _required(column: str, number: int) -> RowError:
    return RowError(row=number, column=column, code="required", message=f"{column} is required")


def _or_default(cells: Mapping[str, Value], name: str, default: Value) -> Value:
    value = cells.get(name)
    return default if value in ("", None) else value


def _whole(schema: Schema, cells: Mapping[str, Value]) -> dict[str, Value]:
    """The cells of the row, empty ones as the column's default."""
    return {
        one.name: _or_default(cells, one.name, one.default) for one in schema.columns if one.name in cells
    }


def _twice(schema: Schema, number: int, cells: Values, first: int, before: Values) -> RowError:
    shown = "/".join(as_csv(cells[name]) for name in schema.key)
    if cells.get("domain") != before.get("domain"):
        homes = f"{before.get('domain') or 'none'} (row {first}) and {cells.get('domain') or 'none'}"
        message, code, column = f"{shown} is in two domains: {homes}", "two_domains", "domain"
    else:
        message, code, column = f"{shown} stands in row {first} already", "row_twice", schema.key[0]
    return RowError(row=number, column=column, value=shown, message=message, code=code)


def _exists(schema: Schema, number: int, key: Key) -> RowError:
    shown = "/".join(as_csv(part) for part in key)
    return RowError(
        row=number, column=schema.key[0], value=shown, message=f"{shown} exists already", code="exists"
    )
