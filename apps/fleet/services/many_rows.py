"""Very many rows of plain values, written by one statement that is repeated, without an object for each row.

On SQLite nobody else writes while an import does. For 80,000 accelerators `bulk_create` takes three times as long as
`insert`, and `bulk_update`, whose statement names every row and value, fifty times as long as `change`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from django.db import connection
from django.db.models import Model


def insert(model: type[Model], fields: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Add rows. fields: attributes such as node_id, in the order of a row's values, which are stored as they are.

    Nothing fills in defaults of the model. Raises what the database raises.
    """
    marks = ", ".join(["%s"] * len(fields))
    with connection.cursor() as cursor:
        columns = ", ".join(_columns(model, fields))
        statement = f"INSERT INTO {_table(model)} ({columns}) VALUES ({marks})"  # noqa: S608  names of ours
        cursor.executemany(statement, list(rows))


def change(
    model: type[Model], fields: Sequence[str], rows: Iterable[Sequence[Any]], *, versioned: bool = False
) -> None:
    """Write these fields of rows that are there. A row: its values in the order of fields, and its id at the end.

    versioned: count the row's version up. Raises what the database raises.
    """
    wanted = [f"{column} = %s" for column in _columns(model, fields)]
    if versioned:
        (version,) = _columns(model, ("version",))
        wanted.append(f"{version} = {version} + 1")
    (key,) = _columns(model, ("id",))
    with connection.cursor() as cursor:
        statement = f"UPDATE {_table(model)} SET {', '.join(wanted)} WHERE {key} = %s"  # noqa: S608  names of ours
        cursor.executemany(statement, list(rows))


def remove(model: type[Model], ids: Iterable[int]) -> None:
    """Take rows away that nothing else refers to. Raises what the database raises."""
    (key,) = _columns(model, ("id",))
    with connection.cursor() as cursor:
        cursor.executemany(f"DELETE FROM {_table(model)} WHERE {key} = %s", [(one,) for one in ids])  # noqa: S608


def _table(model: type[Model]) -> str:
    return connection.ops.quote_name(model._meta.db_table)


def _columns(model: type[Model], fields: Sequence[str]) -> list[str]:
    """Quoted names, which come from the model: values only ever go as parameters."""
    return [connection.ops.quote_name(str(model._meta.get_field(name).column)) for name in fields]
