"""The fleet as files: what comes out here goes in again unchanged."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from dataclasses import dataclass

from apps.core.errors import FieldError, Invalid
from apps.core.texts import say
from apps.fleet.engine.decoding import Form
from apps.fleet.engine.schedulers.export import as_yaml
from apps.fleet.engine.tables import SCHEMAS, Table, csv_row, plain_row
from apps.fleet.models import Cluster
from apps.fleet.queries.rows import rows_of

_MEDIA = {Form.CSV: "text/csv", Form.JSON: "application/json", Form.YAML: "application/yaml"}


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportFile:
    """A file on its way out. chunks: its bytes, in order, once."""

    name: str
    media_type: str
    chunks: Iterator[bytes]


def export(cluster: Cluster, *, form: str, table: str | None = None) -> ExportFile:
    """The rows of one table (CSV needs one), or of all. Raises Invalid (form, table)."""
    if form not in set(Form):
        raise _wrong("form", form, ", ".join(Form))
    if table is not None and table not in set(Table):
        raise _wrong("table", table, ", ".join(Table))
    if form == Form.CSV and table is None:
        raise _wrong("table", "", ", ".join(Table))
    tables = [Table(table)] if table else list(Table)
    writers = {Form.CSV: _csv, Form.JSON: _json, Form.YAML: _yaml}
    name = "-".join([cluster.slug, table or "fleet"])
    return ExportFile(
        name=f"{name}.{form}",
        media_type=_MEDIA[Form(form)],
        chunks=writers[Form(form)](cluster, tables),
    )


def _csv(cluster: Cluster, tables: list[Table]) -> Iterator[bytes]:
    table = tables[0]
    out = io.StringIO()
    names = [column.name for column in SCHEMAS[table].columns]
    writer = csv.DictWriter(out, names, lineterminator="\n")
    writer.writeheader()
    for values in rows_of(cluster, table):
        writer.writerow(csv_row(table, values))
    yield out.getvalue().encode()


def _json(cluster: Cluster, tables: list[Table]) -> Iterator[bytes]:
    """One row a line, so that the file can be compared line by line."""
    yield b"{"
    for place, table in enumerate(tables):
        rows = [json.dumps(plain_row(table, one), ensure_ascii=False) for one in rows_of(cluster, table)]
        body = ",\n    ".join(rows)
        yield f'{"," if place else ""}\n  "{table.value}": [\n    {body}\n  ]'.encode()
    yield b"\n}\n"


def _yaml(cluster: Cluster, tables: list[Table]) -> Iterator[bytes]:
    document = {table.value: [plain_row(table, one) for one in rows_of(cluster, table)] for table in tables}
    yield as_yaml([document]).encode()


def _wrong(name: str, value: str, known: str) -> Invalid:
    message = say("%(name)s=%(value)s: say one of %(known)s", name=name, value=value, known=known)
    return Invalid(message, code=name, errors=[FieldError(pointer=f"?{name}", message=message)])
