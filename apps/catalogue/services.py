"""Decisions about the catalogue: a figure is set with its source, or given back to what is shipped."""

from __future__ import annotations

import re
from typing import Any

from django.utils.translation import gettext as _

from apps.audit.services import decision, record
from apps.catalogue import queries
from apps.catalogue.engine import version_tables
from apps.catalogue.engine.component_files import from_yaml
from apps.catalogue.engine.overlays import (
    VERSION_TABLES,
    Confidence,
    Kind,
    checked_value,
    right_to_set,
)
from apps.catalogue.models import CatalogueEdit
from apps.core import clock, digest
from apps.core.actor import Actor
from apps.core.errors import FieldError, Invalid, Missing
from apps.core.rights import Right, TokenScope

_ID = re.compile(r"[a-z0-9][a-z0-9._-]{1,79}")
_COMPONENT_ID = re.compile(r"[a-z][a-z0-9_]{1,59}")


@decision
def set_figure(
    *,
    actor: Actor,
    scope_id: int | None,
    kind: Kind,
    entry: str,
    path: str,
    value: object,
    source: str,
    confidence: Confidence,
) -> CatalogueEdit:
    """Set one figure for a team (scope None: for everybody). An id that is new makes a new entry.

    Components are one vocabulary of all teams: they are set for everybody only.
    Version tables need the right to administrate, as the rules that look into them do.
    Raises Invalid (entry, path, value, source, scope), NotAllowed.
    """
    actor.require(right_to_set(kind), scope_id)
    actor.require_token_scope(TokenScope.FLEET_WRITE)
    _require_id(kind, entry)
    _require_shared(kind, scope_id)
    _require_source(source)
    checked = checked_value(kind, path, value)
    before = CatalogueEdit.objects.filter(scope_id=scope_id, kind=kind, entry=entry, path=path).first()
    said = {"value": checked, "source": source.strip()[:300], "confidence": confidence.value}
    row = _write(actor, scope_id, kind, entry, path, said)
    record(
        actor=actor,
        action="catalogue.figure.set",
        on=row,
        scope_id=scope_id,
        before={"value": before.value, "source": before.source} if before else None,
        after={"value": checked, "source": row.source, "confidence": row.confidence},
    )
    return row


@decision
def import_components(*, actor: Actor, text: str, source: str) -> list[CatalogueEdit]:
    """Set every field in which a file of components differs from what is in force, for everybody.

    source: where the file is from; it becomes that of each field. Returns what was set; nothing where the file
    says what is in force already. Raises Invalid with every fault by row and field, NotAllowed.
    """
    actor.require(Right.OPERATE, None)
    actor.require_token_scope(TokenScope.FLEET_WRITE)
    _require_source(source)
    changes = from_yaml(text, queries.rows_for(None, Kind.COMPONENT))
    for entry, _path, _value in changes:
        _require_id(Kind.COMPONENT, entry)
    said = {"source": source.strip()[:300], "confidence": Confidence.VENDOR_DOC.value}
    edits = [
        _write(actor, None, Kind.COMPONENT, entry, path, said | {"value": value})
        for entry, path, value in changes
    ]
    if edits:
        record(
            actor=actor,
            action="catalogue.components.imported",
            on=edits[-1],
            after={
                "fields": [[entry, path, value] for entry, path, value in changes],
                "digest": digest.of_text(text),
                "source": said["source"],
            },
        )
    return edits


def _require_id(kind: Kind, entry: str) -> None:
    message = ""
    if kind is Kind.COMPONENT and not _COMPONENT_ID.fullmatch(entry):
        message = _("small letters, digits and _; 2 to 60 characters")
    elif kind in VERSION_TABLES:
        message = version_tables.fault_of_id(kind, entry)
    elif not _ID.fullmatch(entry):
        message = _("small letters, digits, dots, dashes; 2 to 80 characters")
    if message:
        raise Invalid(message, errors=[FieldError(pointer="/entry", message=message)])


def _require_source(source: str) -> None:
    if not source.strip():
        raise Invalid(
            _("say where the figure is from"), errors=[FieldError(pointer="/source", message=_("needed"))]
        )


def _write(
    actor: Actor, scope_id: int | None, kind: Kind, entry: str, path: str, said: dict[str, Any]
) -> CatalogueEdit:
    row, _made = CatalogueEdit.objects.update_or_create(
        scope_id=scope_id,
        kind=kind.value,
        entry=entry,
        path=path,
        defaults={
            **said,
            "edited_by_id": actor.person_id,
            "edited_label": actor.label[:200],
            "edited_at": clock.now(),
        },
    )
    return row


def _require_shared(kind: Kind, scope_id: int | None) -> None:
    if kind is Kind.COMPONENT and scope_id is not None:
        message = _("components are the same for every cluster; what one wants otherwise its matrix says")
        raise Invalid(message, code="scope", errors=[FieldError(pointer="/scope", message=message)])


@decision
def clear_figure(*, actor: Actor, edit_id: int) -> CatalogueEdit:
    """Give a figure back to what is shipped (or to everybody's). Raises Missing, NotAllowed."""
    row = CatalogueEdit.objects.filter(pk=edit_id).first()
    if row is None or (row.scope_id is not None and not actor.may(Right.READ, row.scope_id)):
        raise Missing(_("there is no such edit, or you may not see it"))
    actor.require(right_to_set(Kind(row.kind)), row.scope_id)
    actor.require_token_scope(TokenScope.FLEET_WRITE)
    record(
        actor=actor,
        action="catalogue.figure.cleared",
        on=row,
        scope_id=row.scope_id,
        before={"value": row.value, "source": row.source},
    )
    CatalogueEdit.objects.filter(pk=edit_id).delete()
    return row
