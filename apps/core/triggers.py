"""Triggers that hold what must never be, on both engines, put in place after each migration.

They are no migrations themselves: SQLite rebuilds a table whenever one of its columns changes, which loses the
table's triggers and trips over those of others. So all of them go before a migration that changes something,
and all of them come back after it. Each app lists its own in `guards.py`; `missing()` says what is not there.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from django.apps import apps as installed
from django.db import DEFAULT_DB_ALIAS, connections


@dataclass(frozen=True, slots=True, kw_only=True)
class Guard:
    """One trigger that refuses something.

    name: unique in the database. table: what it watches. event: such as "DELETE" or "UPDATE OF state".
    Two events pass by the triggers of DELETE, and need no line in `guards.py`, because every table with a guard
    of DELETE gets one of each: REPLACE (SQLite removes a row by an INSERT) and TRUNCATE (PostgreSQL).
    when: a condition on NEW and OLD in the SQL that both engines share; empty refuses always.
    """

    name: str
    table: str
    event: str
    message: str
    when: str = ""

    def statements(self, vendor: str) -> list[str]:
        """The statements that put it in place, which may run again; none where the engine has no such event."""
        if vendor == "sqlite":
            when = f"WHEN {self.when} " if self.when else ""
            refuse = f"BEGIN SELECT RAISE(ABORT, '{self.message}'); END"
            event = "INSERT" if self.event == "REPLACE" else self.event
            create = f"CREATE TRIGGER IF NOT EXISTS {self.name} BEFORE {event} ON {self.table} {when}{refuse}"
            return [] if self.event == "TRUNCATE" else [create]
        if self.event == "REPLACE":
            return []
        refuse = f"RAISE EXCEPTION '{self.message}';"
        row = "OLD" if self.event == "DELETE" else "NEW"
        body = f"IF {self.when} THEN {refuse} END IF; RETURN {row};" if self.when else refuse
        each = "STATEMENT" if self.event == "TRUNCATE" else "ROW"
        return [
            f"CREATE OR REPLACE FUNCTION {self.name}() RETURNS trigger LANGUAGE plpgsql AS "
            f"$guard$ BEGIN {body} END $guard$",
            f"CREATE OR REPLACE TRIGGER {self.name} BEFORE {self.event} ON {self.table} "
            f"FOR EACH {each} EXECUTE FUNCTION {self.name}()",
        ]


def all_guards() -> Iterator[Guard]:
    """The guards of every installed app."""
    for config in installed.get_app_configs():
        if config.name.startswith("apps.") and find_spec(f"{config.name}.guards"):
            guards: Sequence[Guard] = import_module(f"{config.name}.guards").GUARDS
            yield from guards
            kept = {guard.table: guard for guard in guards if guard.event == "DELETE"}
            for guard in kept.values():
                yield from (_against_replacing(guard), _against_truncating(guard))


def _against_replacing(guard: Guard) -> Guard:
    """The guard beside one of DELETE: no new row takes the place of one with the same key."""
    model = next(model for model in installed.get_models() if model._meta.db_table == guard.table)
    fields = {field.name: field for field in model._meta.local_concrete_fields}
    keys = [[name] for name, field in fields.items() if field.unique]
    keys += [list(constraint.fields) for constraint in model._meta.total_unique_constraints]
    alike = [" AND ".join(f"kept.{fields[n].column} = NEW.{fields[n].column}" for n in key) for key in keys]
    return Guard(
        name=f"{guard.table}_no_replace",
        table=guard.table,
        event="REPLACE",
        when=f"EXISTS (SELECT 1 FROM {guard.table} AS kept WHERE {' OR '.join(alike)})",  # noqa: S608 - names of ours
        message=guard.message,
    )


def _against_truncating(guard: Guard) -> Guard:
    """The guard beside one of DELETE: the table is not emptied past the triggers of its rows.

    PostgreSQL asks it also where the table would be emptied along with one that it refers to.
    """
    return Guard(
        name=f"{guard.table}_no_truncate", table=guard.table, event="TRUNCATE", message=guard.message
    )


def missing(using: str = DEFAULT_DB_ALIAS) -> list[str]:
    """Names of guards that are not in the database."""
    connection = connections[using]
    wanted = {guard.name for guard in all_guards() if guard.statements(connection.vendor)}
    return sorted(wanted - _present(connection))


def lift(*, using: str, plan: Sequence[Any] = (), **_signal: Any) -> None:
    """Before a migration that changes something: on SQLite all triggers go."""
    connection = connections[using]
    if connection.vendor == "sqlite" and plan:
        with connection.cursor() as cursor:
            for name in sorted(_present(connection)):
                cursor.execute(f'DROP TRIGGER IF EXISTS "{name}"')


def put_in_place(*, using: str, **_signal: Any) -> None:
    """After a migration: every guard whose table exists is put in place."""
    connection = connections[using]
    tables = set(connection.introspection.table_names())
    with connection.cursor() as cursor:
        for guard in all_guards():
            for statement in guard.statements(connection.vendor) if guard.table in tables else ():
                cursor.execute(statement)


def _present(connection: Any) -> set[str]:
    query = {
        "sqlite": "SELECT name FROM sqlite_master WHERE type = 'trigger'",
        "postgresql": "SELECT tgname FROM pg_trigger WHERE NOT tgisinternal",
    }[connection.vendor]
    with connection.cursor() as cursor:
        cursor.execute(query)
        return {row[0] for row in cursor.fetchall()}
