"""What changed between two versions of a matrix, component by component and part by part."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from apps.catalogue.engine.versions import compare, parse
from apps.environments.engine.rules import MatrixEntry


class ChangeKind(StrEnum):
    """added: only in the newer matrix. removed: only in the older one. changed: in both, not the same."""

    ADDED = "added"
    REMOVED = "removed"
    CHANGED = "changed"


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryChange:
    """One component that two matrices ask for differently.

    parts: names of the fields that differ (rule, values, scheme, branch_depth), all of them for added and
    removed. direction: 1 where a single version went up, -1 where it went down, 0 where it stayed or is
    written in another way, None where that cannot be told.
    """

    kind: ChangeKind
    component: str
    before: MatrixEntry | None
    after: MatrixEntry | None
    parts: tuple[str, ...]
    direction: int | None = None


_PARTS = ("rule", "values", "scheme", "branch_depth")


def compare_entries(older: Iterable[MatrixEntry], newer: Iterable[MatrixEntry]) -> tuple[EntryChange, ...]:
    """The changes from one matrix to another, by component; an empty tuple where both ask for the same."""
    before = {entry.component: entry for entry in older}
    after = {entry.component: entry for entry in newer}
    changes = (
        _change(name, before.get(name), after.get(name)) for name in sorted(before.keys() | after.keys())
    )
    return tuple(change for change in changes if change is not None)


def _change(name: str, old: MatrixEntry | None, new: MatrixEntry | None) -> EntryChange | None:
    if old is None or new is None:
        kind = ChangeKind.ADDED if old is None else ChangeKind.REMOVED
        return EntryChange(kind=kind, component=name, before=old, after=new, parts=_PARTS)
    parts = tuple(part for part in _PARTS if getattr(old, part) != getattr(new, part))
    if not parts:
        return None
    return EntryChange(
        kind=ChangeKind.CHANGED,
        component=name,
        before=old,
        after=new,
        parts=parts,
        direction=_direction(old, new),
    )


def _direction(old: MatrixEntry, new: MatrixEntry) -> int | None:
    if len(old.values) != 1 or len(new.values) != 1:
        return None
    return compare(parse(new.values[0], new.scheme), parse(old.values[0], old.scheme))
