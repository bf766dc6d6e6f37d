"""One row of an import as cells: its columns by our names, each cell read, and everything that is wrong with it."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping, Sequence

from apps.core.texts import say
from apps.fleet.engine.cells import BadCell, Value
from apps.fleet.engine.import_checks import RowError
from apps.fleet.engine.tables import Schema


def renamed(raw: Mapping[str, object], renames: Mapping[str, str] | None) -> Mapping[str, object]:
    """The row under our names; without a mapping they are ours already."""
    if renames is None:
        return raw
    return {renames[name]: cell for name, cell in raw.items() if name in renames}


def column_errors(
    schema: Schema,
    rows: Sequence[Mapping[str, object]],
    renames: Mapping[str, str] | None,
    *,
    numbers: Sequence[int],
    head: int,
) -> Iterator[RowError]:
    """Columns that are unknown, each told once: at the head if all rows have it, as in a CSV file, else at the first.

    numbers: of the rows. head: the number of the head.
    """
    known = [one.name for one in schema.columns]
    told: set[str] = set()
    if renames is not None:
        for theirs, ours in renames.items():
            if ours not in known:
                message = say(
                    "%(theirs)s is mapped to %(ours)s, which is not one of %(known)s",
                    theirs=theirs,
                    ours=ours,
                    known=", ".join(known),
                )
                yield RowError(row=head, column=ours, code="unknown_column", message=message)
        return
    for number, raw in zip(numbers, rows, strict=True):
        for name in raw.keys() - set(known) - told:
            told.add(name)
            close = difflib.get_close_matches(str(name), known, n=1)
            message = (
                say("unknown column %(name)s; %(close)s may be meant", name=str(name), close=close[0])
                if close
                else say(
                    "unknown column %(name)s; there are %(known)s", name=str(name), known=", ".join(known)
                )
            )
            row = head if all(name in one for one in rows) else number
            yield RowError(row=row, column=str(name), code="unknown_column", message=message)


def read_row(
    schema: Schema, raw: Mapping[str, object], number: int
) -> tuple[dict[str, Value], list[RowError]]:
    """The cells that the row has, read; and what is wrong with them."""
    cells: dict[str, Value] = {}
    faults: list[RowError] = []
    for column in schema.columns:
        if column.name not in raw:
            if column.name in schema.key and column.name not in schema.instead:
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
                    message=say("%(column)s must be %(what)s", column=column.name, what=fault.args[0]),
                    code="bad_value",
                )
            )
            continue
        if column.required and value in ("", None):
            faults.append(_required(column.name, number))
        else:
            cells[column.name] = value
    if schema.instead and not faults and not schema.is_named(cells):
        faults += [
            _required(say("%(one)s or %(other)s", one=name, other=other), number, column=name)
            for name, other in schema.instead.items()
        ]
    return cells, faults


def missing(schema: Schema, cells: Mapping[str, Value], number: int) -> list[RowError]:
    """Required columns that a new row does not have at all."""
    return [
        _required(one.name, number)
        for one in schema.columns
        if one.required and one.name not in schema.key and one.name not in cells
    ]


def _required(what: str, number: int, *, column: str = "") -> RowError:
    return RowError(
        row=number, column=column or what, code="required", message=say("%(what)s is required", what=what)
    )


def or_default(cells: Mapping[str, Value], name: str, default: Value) -> Value:
    """A cell, or what stands for an empty or missing one."""
    value = cells.get(name)
    return default if value in ("", None) else value


def whole(schema: Schema, cells: Mapping[str, Value]) -> dict[str, Value]:
    """The cells of the row, empty ones as the column's default."""
    return {one.name: or_default(cells, one.name, one.default) for one in schema.columns if one.name in cells}
