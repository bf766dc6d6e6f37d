"""What changed between two values, key by key."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyChange:
    """One key: kind is added, removed, changed or same; old and new are shown as text."""

    key: str
    kind: str
    old: str
    new: str


def key_changes(before: Mapping[str, Any] | None, after: Mapping[str, Any] | None) -> list[KeyChange]:
    """The changes by key, nested keys joined with dots; what stayed the same comes last."""
    old, new = _flat(before or {}), _flat(after or {})
    found = [_change(key, old, new) for key in dict.fromkeys([*old, *new])]
    return sorted(found, key=lambda change: (change.kind == "same", change.key))


def _change(key: str, old: Mapping[str, str], new: Mapping[str, str]) -> KeyChange:
    if key not in old:
        kind = "added"
    elif key not in new:
        kind = "removed"
    else:
        kind = "same" if old[key] == new[key] else "changed"
    return KeyChange(key=key, kind=kind, old=old.get(key, ""), new=new.get(key, ""))


def _flat(value: Mapping[str, Any], prefix: str = "") -> dict[str, str]:
    flat: dict[str, str] = {}
    for key, item in value.items():
        name = f"{prefix}{key}"
        if isinstance(item, Mapping) and item:
            flat.update(_flat(item, f"{name}."))
        elif isinstance(item, list) and any(isinstance(part, Mapping) for part in item):
            flat.update(_flat({str(index): part for index, part in enumerate(item)}, f"{name}."))
        else:
            flat[name] = item if isinstance(item, str) else json.dumps(item, ensure_ascii=False)
    return flat
