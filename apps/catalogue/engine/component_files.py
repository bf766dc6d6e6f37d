"""Components as a file: the form of components.yaml, out and in again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import yaml

from apps.catalogue.engine.overlays import FIELDS, Kind, checked_value, get_path
from apps.core import safe_yaml
from apps.core.errors import FieldError, Invalid
from apps.core.texts import say

_PATHS = tuple(FIELDS[Kind.COMPONENT])
_LIMIT_ROWS = 500


def to_yaml(rows: Iterable[Mapping[str, Any]]) -> str:
    """Rows of components, as `overlays.rows` gives them, with where each is from."""
    held = [
        {"id": row["id"], **{path: row[path] for path in _PATHS}, "source": row["source"]} for row in rows
    ]
    return yaml.safe_dump({"components": held}, allow_unicode=True, sort_keys=False, width=110)


def from_yaml(text: str, held: Mapping[str, Mapping[str, Any]]) -> list[tuple[str, str, Any]]:
    """(id, field, value) of everything in which a file differs from the rows that are held.

    A row may leave fields out: they stay as they are. Raises Invalid with every fault by row and field.
    """
    faults: list[FieldError] = []
    changed: list[tuple[str, str, Any]] = []
    for place, row in enumerate(_rows(text)):
        name = row.get("id") if isinstance(row, Mapping) else None
        if not isinstance(name, str) or not isinstance(row, Mapping):
            message = say("a row with an id")
            faults.append(FieldError(pointer=f"/components/{place}", message=message, code="bad_row"))
            continue
        found, wrong = _changes(name, row, held.get(name, {}), f"/components/{place}")
        changed += found
        faults += wrong
    if faults:
        raise Invalid(faults[0].message, code="bad_components", errors=faults)
    return changed


def _rows(text: str) -> list[Any]:
    try:
        loaded = safe_yaml.load(text)
    except safe_yaml.UnsafeYaml as error:
        message = error.message
        raise Invalid(message, errors=[FieldError(pointer="/text", message=message)]) from error
    rows = loaded.get("components") if isinstance(loaded, Mapping) else None
    if not isinstance(rows, list) or not 1 <= len(rows) <= _LIMIT_ROWS:
        message = say("a map with 1 to %(most)s components", most=_LIMIT_ROWS)
        raise Invalid(message, errors=[FieldError(pointer="/text", message=message)])
    return rows


def _changes(
    name: str, row: Mapping[str, Any], held: Mapping[str, Any], pointer: str
) -> tuple[list[tuple[str, str, Any]], list[FieldError]]:
    changed: list[tuple[str, str, Any]] = []
    faults: list[FieldError] = []
    for path, raw in row.items():
        if path in ("id", "source"):
            continue
        try:
            value = checked_value(Kind.COMPONENT, str(path), raw)
        except Invalid as error:
            faults.append(FieldError(pointer=f"{pointer}/{path}", message=error.message, code=error.code))
            continue
        if value != (get_path(held, path) or None) or not held:
            changed.append((name, path, value))
    return changed, faults
