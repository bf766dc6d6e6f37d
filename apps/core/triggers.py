"""Triggers that hold what must never be, on both engines, put in place after each migration.

They are no migrations themselves: SQLite rebuilds a table whenever one of its columns changes, which loses the
table's triggers and trips over those of others. So all of them go before a migration that changes something,
and all of them come back after it. Each app lists its own in `guards.py`; `missing()` says what is not there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from django.apps import apps as installed
from django.db import DEFAULT_DB_ALIAS, connections, transaction
from django.db.models import Model, Q, UniqueConstraint
from django.db.models.sql import Query

_Shape = tuple[object, ...]
# The bits of pg_trigger.tgtype, as in PostgreSQL's catalog/pg_trigger.h.
_EACH_ROW, _BEFORE = 1, 2
_EVENTS = {"INSERT": 4, "DELETE": 8, "UPDATE": 16, "TRUNCATE": 32}


@dataclass(frozen=True, slots=True, kw_only=True)
class Guard:
    """One trigger that refuses something.

    name: unique in the database. table: what it watches. event: such as "DELETE" or "UPDATE OF state".
    when: a condition on NEW and OLD in the SQL that both engines share; empty refuses always.
    only_on: the engine that has need of it; empty for both.
    """

    name: str
    table: str
    event: str
    message: str
    when: str = ""
    only_on: str = ""

    def statements(self, vendor: str) -> list[str]:
        """The statements that put it in place, or in the place of an older one; none on another engine than its own."""
        if self.only_on not in ("", vendor):
            return []
        if vendor == "sqlite":
            return [f"DROP TRIGGER IF EXISTS {self.name}", self.kept_as(vendor)]
        each = "STATEMENT" if self.event == "TRUNCATE" else "ROW"
        return [
            f"CREATE OR REPLACE FUNCTION {self.name}() RETURNS trigger LANGUAGE plpgsql AS "
            f"$guard${self.kept_as(vendor)}$guard$",
            f"CREATE OR REPLACE TRIGGER {self.name} BEFORE {self.event} ON {self.table} "
            f"FOR EACH {each} EXECUTE FUNCTION {self.name}()",
        ]

    def shape(self, vendor: str) -> _Shape:
        """What the database keeps of it: on PostgreSQL its table, when it is asked, and the text of its function."""
        text = self.kept_as(vendor)
        if vendor == "sqlite":
            return self.name, text
        event, _, columns = self.event.partition(" OF ")
        asked = _BEFORE | _EVENTS[event] | (0 if event == "TRUNCATE" else _EACH_ROW)
        return self.name, self.table, asked, ",".join(sorted(columns.replace(" ", "").split(","))), text

    def kept_as(self, vendor: str) -> str:
        """The text by which the database keeps it: on SQLite of the trigger, on PostgreSQL of its function."""
        if vendor == "sqlite":
            when = f"WHEN {self.when} " if self.when else ""
            refuse = f"BEGIN SELECT RAISE(ABORT, '{self.message}'); END"
            return f"CREATE TRIGGER {self.name} BEFORE {self.event} ON {self.table} {when}{refuse}"
        refuse = f"RAISE EXCEPTION '{self.message}';"
        row = "OLD" if self.event == "DELETE" else "NEW"
        body = f"IF {self.when} THEN {refuse} END IF; RETURN {row};" if self.when else refuse
        return f" BEGIN {body} END "


def all_guards() -> Iterator[Guard]:
    """The guards of every installed app, and what goes with each of their tables without a line in `guards.py`."""
    for config in installed.get_app_configs():
        if config.name.startswith("apps.") and find_spec(f"{config.name}.guards"):
            guards: Sequence[Guard] = import_module(f"{config.name}.guards").GUARDS
            yield from guards
            for table, message in {guard.table: guard.message for guard in guards}.items():
                yield from _against_ways_past(table, message)


def _against_ways_past(table: str, message: str) -> Iterator[Guard]:
    """No row of a table goes without a DELETE, nor becomes another one by an INSERT or by its primary key.

    SQLite's REPLACE removes a row by an INSERT or UPDATE of another one with the same key, and UPDATE OF a key does not
    see it set by the name rowid. PostgreSQL asks the guard of TRUNCATE also where the table would be emptied along
    with one that it refers to.
    """
    model = next(model for model in installed.get_models() if model._meta.db_table == table)
    pk = model._meta.pk.column
    taken = f"EXISTS (SELECT 1 FROM {table} AS kept WHERE ({_has_a_key_of_the_new_row(model)})"  # noqa: S608 - names of ours
    for name, event, when, engine in (
        ("no_renumber", "UPDATE", f"NEW.{pk} <> OLD.{pk}", ""),
        ("no_replace", "INSERT", f"{taken})", "sqlite"),
        ("no_replace_by_update", "UPDATE", f"{taken} AND kept.{pk} <> OLD.{pk})", "sqlite"),
        ("no_truncate", "TRUNCATE", "", "postgresql"),
    ):
        yield Guard(
            name=f"{table}_{name}", table=table, event=event, when=when, message=message, only_on=engine
        )


def _has_a_key_of_the_new_row(model: type[Model]) -> str:
    """Whether the row `kept` has a key in common with NEW; one of some rows only counts where both are such rows."""
    columns = {field.name: field.column for field in model._meta.local_concrete_fields}
    keys: list[tuple[Sequence[str], Q | None]] = [
        ([field.name], None) for field in model._meta.local_concrete_fields if field.unique
    ]
    unique = [one for one in model._meta.constraints if isinstance(one, UniqueConstraint)]
    keys += [(one.fields, one.condition) for one in unique]
    alike = []
    for names, condition in keys:
        parts = [f"kept.{columns[name]} = NEW.{columns[name]}" for name in names]
        if condition is not None:
            parts += [_fulfils(row, model, condition) for row in ("kept", "NEW")]
        alike.append(" AND ".join(parts))
    return " OR ".join(alike)


def _fulfils(row: str, model: type[Model], condition: Q) -> str:
    """The condition of a constraint, asked of one row of a trigger."""
    connection = connections[DEFAULT_DB_ALIAS]
    query = Query(model, alias_cols=False)
    where, values = query.build_where(condition).as_sql(query.get_compiler(connection=connection), connection)
    literals = [f"'{value}'" if isinstance(value, str) else str(value) for value in values]
    return re.sub(r'"(\w+)"', rf'{row}."\1"', where) % tuple(literals)


def missing(using: str = DEFAULT_DB_ALIAS) -> list[str]:
    """Names of guards that are not in the database, are switched off there, or refuse something else."""
    connection = connections[using]
    present, vendor = set(_present(connection)), connection.vendor
    wanted = [guard for guard in all_guards() if guard.statements(vendor)]
    return sorted(guard.name for guard in wanted if guard.shape(vendor) not in present)


def lift(*, using: str, plan: Sequence[Any] = (), **_signal: Any) -> None:
    """Before a migration that changes something: on SQLite all triggers go."""
    connection = connections[using]
    if connection.vendor == "sqlite" and plan:
        with connection.cursor() as cursor:
            for name, _text in _present(connection):
                cursor.execute(f'DROP TRIGGER IF EXISTS "{name}"')


def put_in_place(*, using: str, **_signal: Any) -> None:
    """After a migration: every guard whose table exists is put in place."""
    connection = connections[using]
    tables = set(connection.introspection.table_names())
    with transaction.atomic(using=using), connection.cursor() as cursor:
        for guard in all_guards():
            for statement in guard.statements(connection.vendor) if guard.table in tables else ():
                cursor.execute(statement)


def _present(connection: Any) -> list[_Shape]:
    """The shapes of the triggers that are on."""
    query = {
        "sqlite": "SELECT name, sql FROM sqlite_master WHERE type = 'trigger'",
        "postgresql": """SELECT tgname, relname, tgtype::int, (SELECT coalesce(string_agg(attname, ',' ORDER BY
                attname COLLATE "C"), '') FROM pg_attribute WHERE attrelid = tgrelid AND attnum = ANY (tgattr)), prosrc
            FROM pg_trigger JOIN pg_proc ON pg_proc.oid = tgfoid JOIN pg_class ON pg_class.oid = tgrelid
            WHERE NOT tgisinternal AND tgenabled IN ('O', 'A') AND tgqual IS NULL
                AND pg_table_is_visible(tgrelid)""",
    }[connection.vendor]
    with connection.cursor() as cursor:
        cursor.execute(query)
        found: list[_Shape] = cursor.fetchall()
    return found
