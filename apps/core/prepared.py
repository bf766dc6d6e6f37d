"""Statements whose SQL is made once in a process, for the few that almost every request of the API runs.

Django makes the text of a query anew each time, which takes several times as long as a small query itself, and
PostgreSQL reads and plans it anew each time. Here the text is made from stand-ins for the values at the first call,
later calls only fill them in, and a connection to PostgreSQL keeps the plan.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from functools import lru_cache
from typing import Any

from django.db import connection, models
from django.db.backends.utils import CursorWrapper
from django.db.models import QuerySet
from django.db.models.expressions import Expression
from django.db.models.query import RawQuerySet
from django.db.models.sql import Query, RawQuery, UpdateQuery

_SHAPES = 32  # kept of one statement: lists of another length need a text of their own
_Build = Callable[..., QuerySet[Any, Any]]


class Given(Expression):
    """Stands in a query for a value of a call, or for the one at a place of its list."""

    def __init__(self, name: str, place: int | None = None) -> None:
        super().__init__(output_field=models.Field())  # what it is compared with has a type
        self.name, self.place = name, place

    def as_sql(self, _compiler: Any, _connection: Any) -> tuple[str, list[Any]]:
        return "%s", [self]

    def of(self, values: dict[str, Any]) -> Any:
        """Its value, as the database's driver takes it."""
        value = values[self.name] if self.place is None else values[self.name][self.place]
        return connection.ops.adapt_datetimefield_value(value) if isinstance(value, datetime) else value


class _Statement:
    """build makes a queryset from a Given in place of each value of a call, and a list of them in place of a list."""

    def __init__(self, build: _Build) -> None:
        self._build = build
        self._made = lru_cache(_SHAPES)(self._make)

    def _filled(self, values: dict[str, Any]) -> tuple[type[models.Model], str, list[Any]]:
        """The table, the text, and what goes into it."""
        lengths = tuple(
            (name, len(value) if isinstance(value, list) else None) for name, value in values.items()
        )
        model, text, held = self._made(lengths)
        return model, text, [one.of(values) if isinstance(one, Given) else one for one in held]

    def _make(
        self, lengths: tuple[tuple[str, int | None], ...]
    ) -> tuple[type[models.Model], str, tuple[Any, ...]]:
        stand_ins = {
            name: Given(name) if length is None else [Given(name, place) for place in range(length)]
            for name, length in lengths
        }
        queryset = self._build(**stand_ins)
        return queryset.model, *self._query(queryset).sql_with_params()

    def _query(self, queryset: QuerySet[Any, Any]) -> Query:
        return queryset.query


def _cursor() -> CursorWrapper:
    """A cursor; with PostgreSQL one that leaves the values to the server, which needs no new plan for them then."""
    cursor = connection.cursor()
    if connection.vendor == "postgresql":
        from psycopg import Cursor  # not loaded with SQLite

        cursor.cursor = Cursor(connection.connection)
    return cursor


class _Planned(RawQuery):
    """Django's query of a text, by such a cursor."""

    def _execute_query(self) -> None:
        self.cursor = _cursor()
        self.cursor.execute(self.sql, self.params)


class Prepared(_Statement):
    """A query. A call gives its values by name: numbers, texts, times, and lists of them that are not empty."""

    def objects(self, **values: Any) -> list[Any]:
        """The rows of the queryset's model. What it annotates comes as the driver has it (see rows)."""
        model, text, filled = self._filled(values)
        return list(RawQuerySet(text, model, _Planned(text, connection.alias, filled)))

    def rows(self, **values: Any) -> list[tuple[Any, ...]]:
        """What its values_list says, as the driver has it: leave it at numbers and texts; SQLite's truth is 0 or 1."""
        _model, text, filled = self._filled(values)
        with _cursor() as cursor:
            cursor.execute(text, filled)
            return cursor.fetchall()


class PreparedUpdate(_Statement):
    """An update of the queryset's rows; moved: field to its new value, with a Given for each that a call gives."""

    def __init__(self, build: _Build, **moved: Expression) -> None:
        super().__init__(build)
        self._moved = moved

    def __call__(self, **values: Any) -> int:
        """How many rows there were."""
        _model, text, filled = self._filled(values)
        with _cursor() as cursor:
            cursor.execute(text, filled)
            return cursor.rowcount

    def _query(self, queryset: QuerySet[Any, Any]) -> Query:
        query: UpdateQuery = queryset.query.chain(UpdateQuery)
        query.add_update_values(self._moved)
        return query
