"""Facts as an outline that people can read: values, tables of alike things, and groups, cut to a page's size."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

ITEMS_SHOWN = 40
ROWS_SHOWN = 200
COLUMNS_SHOWN = 24
DEPTH_SHOWN = 6
_NAMES = ("name", "id", "index", "host", "bus_id", "uuid", "key")


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A list of alike things: one row each. left_out: rows beyond ROWS_SHOWN."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    left_out: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One named part of the facts: a text, a table, or parts of its own.

    text: None where the file does not say it, empty where it says that there is none.
    """

    name: str
    text: str | None = None
    is_value: bool = False
    table: Table | None = None
    parts: tuple[Part, ...] = field(default=())
    left_out: int = 0


def outline(facts: Mapping[str, Any]) -> tuple[Part, ...]:
    """The parts of a reading's facts, in their own order; plain values before groups."""
    parts = [_part(str(name), value, depth=1) for name, value in facts.items()]
    return tuple(sorted(parts, key=lambda part: not part.is_value))


def _part(name: str, value: Any, *, depth: int) -> Part:
    if isinstance(value, Mapping | Sequence) and len(value) == 0:
        return Part(name=name, text="", is_value=True)
    if isinstance(value, Mapping):
        return _group(name, [(str(key), item) for key, item in value.items()], depth)
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        return _of_list(name, value, depth)
    return Part(name=name, text=_text(value), is_value=True)


def _of_list(name: str, items: Sequence[Any], depth: int) -> Part:
    if all(_is_scalar(item) for item in items):
        shown = ", ".join(_text(item) or "—" for item in items[:ITEMS_SHOWN])
        more = len(items) - ITEMS_SHOWN
        return Part(name=name, text=shown, is_value=True, left_out=max(0, more))
    if all(isinstance(item, Mapping) and _is_flat(item) for item in items):
        return Part(name=name, table=_table(items))
    return _group(name, [(_name_of(item, place), item) for place, item in enumerate(items)], depth)


def _group(name: str, items: Sequence[tuple[str, Any]], depth: int) -> Part:
    if depth > DEPTH_SHOWN:
        return Part(name=name, left_out=len(items))
    shown = [_part(key, item, depth=depth + 1) for key, item in items[:ITEMS_SHOWN]]
    return Part(
        name=name,
        parts=tuple(sorted(shown, key=lambda part: not part.is_value)),
        left_out=max(0, len(items) - ITEMS_SHOWN),
    )


def _table(items: Sequence[Mapping[str, Any]]) -> Table:
    columns = list(dict.fromkeys(str(key) for item in items for key in item))[:COLUMNS_SHOWN]
    rows = tuple(tuple(_cell(item.get(column)) for column in columns) for item in items[:ROWS_SHOWN])
    return Table(columns=tuple(columns), rows=rows, left_out=max(0, len(items) - ROWS_SHOWN))


def _cell(value: Any) -> str:
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        return ", ".join(_text(item) or "—" for item in value)
    return _text(value) or "—"


def _name_of(item: Any, place: int) -> str:
    """What a thing in a list calls itself, else its place."""
    if isinstance(item, Mapping):
        for key in _NAMES:
            if item.get(key) not in (None, ""):
                return str(item[key])
    return str(place)


def _is_flat(item: Mapping[str, Any]) -> bool:
    return all(_is_scalar(value) or _is_short_list(value) for value in item.values())


def _is_short_list(value: Any) -> bool:
    is_list = isinstance(value, Sequence) and not isinstance(value, str | bytes)
    return is_list and len(value) <= 8 and all(_is_scalar(item) for item in value)


def _is_scalar(value: Any) -> bool:
    return value is None or isinstance(value, str | int | float | bool)


def _text(value: Any) -> str | None:
    """A value as JSON would show it, without quotes; None for what the file does not say."""
    if value is None:
        return None
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)
