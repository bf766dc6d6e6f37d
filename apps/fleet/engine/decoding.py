"""Import files as rows: CSV of one table, JSON or YAML of several. Nothing is judged here but the form.

A JSON or YAML file maps tables to lists of rows; a CSV file holds one table, under a head line. Recognised by
content: a first bracket means JSON, a head line with separators or of one name CSV, anything else YAML.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, TypeAlias

from apps.core import safe_yaml
from apps.core.errors import FieldError, Invalid
from apps.core.foreign import why
from apps.core.storable import require_storable_value
from apps.core.texts import joined, say
from apps.fleet.engine.tables import SCHEMAS, Table

MAX_ROWS = 500_000
_MAX_ERRORS = 50
_SEPARATORS = (",", ";", "\t")
_ONE_NAME = re.compile(
    r'"?\w[^:,;\t]*"?'
)  # a head line of one column; a line of YAML that is one says no table

Rows: TypeAlias = Mapping[Table, Sequence[Mapping[str, object]]]


class Form(StrEnum):
    CSV = "csv"
    JSON = "json"
    YAML = "yaml"


@dataclass(frozen=True, slots=True, kw_only=True)
class Decoded:
    """rows: per table. columns: the names in the head of a CSV file, in its order; lines: the line of the file on
    which each of its rows begins. Both are empty otherwise.
    """

    form: Form
    rows: Rows
    columns: tuple[str, ...] = ()
    lines: tuple[int, ...] = ()

    @property
    def row_count(self) -> int:
        return sum(len(rows) for rows in self.rows.values())


def decode(data: bytes, *, form: Form | None = None, table: Table | None = None) -> Decoded:
    """The rows of a file. table: what a CSV file holds; found by its head line where it is not said.

    Raises Invalid: what cannot be read, what is no table or no row, more than MAX_ROWS rows.
    """
    text = _text(data)
    form = form or _form_of(text)
    if form is Form.CSV:
        decoded = _csv(text, table)
    elif form is Form.JSON:
        decoded = Decoded(form=form, rows=_tables(_json(text)))
    else:
        decoded = Decoded(form=form, rows=_tables(safe_yaml.load(text)))
    if decoded.row_count > MAX_ROWS:
        raise _invalid(
            say(
                "%(row_count)s rows; at most %(max_rows)s in one import",
                row_count=decoded.row_count,
                max_rows=MAX_ROWS,
            ),
            "too_many_rows",
        )
    return decoded


def _text(data: bytes) -> str:
    encoding = "utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as fault:
        raise _invalid(
            say(
                "byte %(start)s: the file is not %(encoding)s text",
                start=fault.start,
                encoding=encoding.removesuffix("-sig").upper(),
            ),
            "encoding",
        ) from fault
    if "\x00" in text:
        raise _invalid(say("the file holds NUL characters; it is no text"), "encoding")
    if not text.strip():
        raise _invalid(say("the file is empty"), "empty")
    return text


def _form_of(text: str) -> Form:
    start = text.lstrip()
    if start[0] in "[{":
        return Form.JSON
    head = start.partition("\n")[0]
    if _ONE_NAME.fullmatch(head.strip()):
        return Form.CSV
    return Form.CSV if any(mark in head for mark in _SEPARATORS) and ": " not in head else Form.YAML


def _json(text: str) -> Any:
    try:
        value = json.loads(text, parse_constant=_no_constant)
        if "\\u" in text:  # such a sign comes by its number only
            require_storable_value(value)
        return value
    except (ValueError, RecursionError) as fault:
        message = say("no valid JSON: %(fault)s", fault=why(fault))
        if line := getattr(fault, "lineno", None):
            message = say("line %(line)s: %(what)s", line=line, what=message)
        raise _invalid(message, "bad_json") from fault


def _no_constant(name: str) -> Any:
    raise ValueError(say("%(name)s is no number", name=name))


def _tables(value: Any) -> Rows:
    """{table: [row, …]}; every wrong table and row is named."""
    if not isinstance(value, Mapping):
        known = ", ".join(table.value for table in Table)
        raise _invalid(say("the file maps tables (%(known)s) to lists of rows", known=known), "wrong_shape")
    errors: list[FieldError] = []
    rows: dict[Table, list[Mapping[str, object]]] = {}
    for name, found in value.items():
        if name not in {table.value for table in Table}:
            known = ", ".join(table.value for table in Table)
            errors.append(
                _error(
                    f"/{name}",
                    say("there is no table %(name)s; there are %(known)s", name=name, known=known),
                    "unknown_table",
                )
            )
        elif not isinstance(found, list):
            errors.append(_error(f"/{name}", say("must be a list of rows"), "wrong_shape"))
        else:
            rows[Table(name)] = found
            errors += [
                _error(f"/{name}/{number}", say("a row is an object of columns"), "wrong_shape")
                for number, row in enumerate(found, start=1)
                if not isinstance(row, Mapping)
            ]
    _refuse(errors)
    return rows


def _csv(text: str, table: Table | None) -> Decoded:
    head = text.partition("\n")[0]
    separator = max(_SEPARATORS, key=head.count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    rows: list[dict[str, object]] = []
    errors: list[FieldError] = []
    lines: list[int] = []
    try:
        names = [name.strip() for name in next(reader)]
        errors += _head_errors(names)
        end = reader.line_num
        for cells in reader:
            line, end = end + 1, reader.line_num  # a cell in quotes may go on over several
            if not any(cell.strip() for cell in cells):
                continue
            if len(cells) != len(names):
                message = say(
                    "line %(line_num)s: cells: %(count)s, columns: %(count_2)s",
                    line_num=line,
                    count=len(cells),
                    count_2=len(names),
                )
                errors.append(_error(f"/{line}", message, "cells"))
            lines.append(line)
            rows.append(dict(zip(names, cells, strict=False)))
    except csv.Error as fault:
        raise _invalid(
            say("line %(line_num)s: no valid CSV: %(fault)s", line_num=reader.line_num, fault=fault),
            "bad_csv",
        ) from fault
    _refuse(errors)
    table = table or _table_of(names)
    return Decoded(form=Form.CSV, rows={table: rows}, columns=tuple(names), lines=tuple(lines))


def _head_errors(names: Sequence[str]) -> list[FieldError]:
    twice = [name for name, count in Counter(names).items() if count > 1]
    errors = [
        _error("/file", say("the column %(name)s is there twice", name=name), "column_twice")
        for name in twice
    ]
    if "" in names:
        errors.append(
            _error("/file", say("column %(value)s has no name", value=names.index("") + 1), "column_unnamed")
        )
    return errors


def _table_of(names: Sequence[str]) -> Table:
    """The one table of which the head names the most columns, all of its key among them."""
    fitting = {
        table: len({one.name for one in schema.columns} & set(names))
        for table, schema in SCHEMAS.items()
        if all({name, schema.instead.get(name, name)} & set(names) for name in schema.key)
    }
    most = max(fitting.values(), default=0)
    best = [table for table, count in fitting.items() if count == most]
    if len(best) != 1:
        message = say("say which table the CSV file holds; its columns do not tell")
        error = FieldError(pointer="/table", message=message, code="unknown_table")
        raise Invalid(message, code="unknown_table", errors=[error])
    return best[0]


def _error(pointer: str, message: str, code: str) -> FieldError:
    return FieldError(pointer=pointer, message=message, code=code)


def _invalid(message: str, code: str) -> Invalid:
    return Invalid(message, code=code, errors=[FieldError(pointer="/file", message=message, code=code)])


def _refuse(errors: Sequence[FieldError]) -> None:
    if errors:
        more = [say(" and %(count)s more", count=len(errors) - 1)] if len(errors) > 1 else []
        raise Invalid(joined("", [errors[0].message, *more]), code="import_file", errors=errors[:_MAX_ERRORS])
