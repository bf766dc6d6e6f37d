"""The catalogue as a team sees it: shipped figures with everybody's and its own edits laid over."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.db import DatabaseError, connection
from django.db.models import F, Q, QuerySet

from apps.catalogue.engine import overlays
from apps.catalogue.engine.accelerators import Accelerator, shipped_accelerators
from apps.catalogue.engine.components import Component, shipped_components
from apps.catalogue.engine.overlays import FIELDS, VERSION_TABLES, Edit, Kind
from apps.catalogue.engine.version_tables import VersionTables, order_of, shipped_tables
from apps.catalogue.models import CatalogueEdit
from apps.core.errors import Missing
from apps.core.texts import say


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One field of an entry. shipped: what comes with the portal. edit: who set it otherwise; None if nobody."""

    path: str
    unit: str
    value: Any
    shipped: Any
    confidence: str
    edit: CatalogueEdit | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One accelerator, supernode or component with where its figures are from."""

    kind: Kind
    id: str
    name: str
    vendor: str
    row: dict[str, Any]
    figures: tuple[Figure, ...]
    sources: tuple[str, ...]
    is_shipped: bool

    @property
    def confidences(self) -> tuple[str, ...]:
        """How far its known figures can be trusted, each word once."""
        return tuple(dict.fromkeys(figure.confidence for figure in self.figures if figure.value is not None))

    @property
    def edited(self) -> int:
        return sum(figure.edit is not None for figure in self.figures)


def edits_for(scope_id: int | None, *kinds: Kind) -> QuerySet[CatalogueEdit]:
    """Everybody's edits first, then those of the scope, which win."""
    mine = Q(scope__isnull=True) | Q(scope_id=scope_id) if scope_id is not None else Q(scope__isnull=True)
    found = CatalogueEdit.objects.filter(mine, kind__in=kinds)
    return found.order_by(F("scope_id").asc(nulls_first=True), "id")


def accelerators_for(scope_id: int | None) -> dict[str, Accelerator]:
    """Accelerators as a team has them, by id; None: as everybody has them."""
    edits = _values(edits_for(scope_id, Kind.ACCELERATOR))
    return overlays.accelerators(edits) if edits else dict(shipped_accelerators())


def edited_accelerators(scope_ids: Collection[int] | None) -> list[str]:
    """Ids of accelerators of which everybody or one of the scopes set a figure; None: any scope. In order."""
    edits = CatalogueEdit.objects.filter(kind=Kind.ACCELERATOR)
    if scope_ids is not None:
        edits = edits.filter(Q(scope__isnull=True) | Q(scope_id__in=scope_ids))
    return list(edits.order_by("entry").values_list("entry", flat=True).distinct())


def scopes_with_edits(kind: Kind) -> set[int]:
    """Scopes that set a figure of their own; what was set for everybody is of none."""
    edits = CatalogueEdit.objects.filter(kind=kind, scope__isnull=False)
    return set(edits.values_list("scope_id", flat=True))


def components_in_force() -> dict[str, Component]:
    """Components as the whole portal has them, by id; for `laid_over`."""
    edits = _values(edits_for(None, Kind.COMPONENT))
    return overlays.components(edits) if edits else dict(shipped_components())


def version_tables_for(scope_id: int | None) -> VersionTables:
    """The tables that rules between components look into, as a team has them, in one query."""
    edits: dict[Kind, list[CatalogueEdit]] = {}
    for edit in edits_for(scope_id, *VERSION_TABLES):
        edits.setdefault(Kind(edit.kind), []).append(edit)
    if not edits:
        return shipped_tables()
    return overlays.tables({kind: _values(held) for kind, held in edits.items()})


def components_at_hand() -> Mapping[str, Component]:
    """Components in force for a command; the shipped ones where no database is set up. For `laid_over`."""
    name = str(connection.settings_dict["NAME"])
    if connection.vendor == "sqlite" and not name.startswith("file:") and not Path(name).exists():
        return shipped_components()  # connecting would make an empty file
    try:
        return components_in_force()
    except DatabaseError:  # not there, or without tables
        return shipped_components()


def rows_for(scope_id: int | None, kind: Kind) -> dict[str, dict[str, Any]]:
    """Plain rows of a kind as a team has them, by id."""
    return overlays.rows(kind, _values(edits_for(scope_id, kind)))


def entries_for(scope_id: int | None, kind: Kind) -> list[Entry]:
    """All entries of a kind, by vendor and name (version tables: newest first), in one query."""
    edits = list(edits_for(scope_id, kind))
    found = overlays.rows(kind, _values(edits))
    by_field = {(edit.entry, edit.path): edit for edit in edits}
    entries = [_entry(kind, row, by_field) for row in found.values()]
    if kind in VERSION_TABLES:
        return sorted(entries, key=lambda one: order_of(one.id), reverse=True)
    return sorted(entries, key=lambda one: (one.vendor.lower(), one.name.lower()))


def entry_for(scope_id: int | None, kind: Kind, entry_id: str) -> Entry:
    """One entry. Raises Missing."""
    found = next((one for one in entries_for(scope_id, kind) if one.id == entry_id), None)
    if found is None:
        raise Missing(
            say(
                "there is no %(value)s %(entry_id)s in the catalogue",
                value=kind.value,
                entry_id=f"{entry_id!r}",
            )
        )
    return found


def _values(edits: Any) -> list[Edit]:
    return [
        Edit(
            entry=edit.entry,
            path=edit.path,
            value=edit.value,
            source=edit.source,
            confidence=edit.confidence,
        )
        for edit in edits
    ]


def _entry(kind: Kind, row: dict[str, Any], edits: dict[tuple[str, str], CatalogueEdit]) -> Entry:
    shipped = overlays.shipped_rows(kind).get(row["id"])
    confidences = row.get("field_confidence", {})
    return Entry(
        kind=kind,
        id=row["id"],
        name=row["name"] or row["id"],
        vendor=row["vendor"] or "",
        row=row,
        figures=tuple(
            Figure(
                path=path,
                unit="" if unit == "n" else unit,
                value=overlays.get_path(row, path),
                shipped=overlays.get_path(shipped or {}, path),
                confidence=confidences.get(path)
                or confidences.get(path.partition(".")[0])
                or row["confidence"],
                edit=edits.get((row["id"], path)),
            )
            for path, unit in FIELDS[kind].items()
        ),
        sources=tuple(dict.fromkeys(row["source"])),
        is_shipped=shipped is not None,
    )
