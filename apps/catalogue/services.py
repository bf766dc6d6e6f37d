"""Decisions about the catalogue: a figure is set with its source, or given back to what is shipped."""

from __future__ import annotations

import re

from django.utils.translation import gettext as _

from apps.audit.services import decision, record
from apps.catalogue.engine.overlays import Confidence, Kind, checked_value
from apps.catalogue.models import CatalogueEdit
from apps.core import clock
from apps.core.actor import Actor
from apps.core.errors import FieldError, Invalid, Missing
from apps.core.rights import Right, TokenScope

_ID = re.compile(r"[a-z0-9][a-z0-9._-]{1,79}")


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

    Raises Invalid (entry, path, value, source), NotAllowed.
    """
    actor.require(Right.OPERATE, scope_id)
    actor.require_token_scope(TokenScope.FLEET_WRITE)
    if not _ID.fullmatch(entry):
        message = _("small letters, digits, dots, dashes; 2 to 80 characters")
        raise Invalid(message, errors=[FieldError(pointer="/entry", message=message)])
    if not source.strip():
        raise Invalid(
            _("say where the figure is from"), errors=[FieldError(pointer="/source", message=_("needed"))]
        )
    checked = checked_value(kind, path, value)
    before = CatalogueEdit.objects.filter(scope_id=scope_id, kind=kind, entry=entry, path=path).first()
    row, _made = CatalogueEdit.objects.update_or_create(
        scope_id=scope_id,
        kind=kind.value,
        entry=entry,
        path=path,
        defaults={
            "value": checked,
            "source": source.strip()[:300],
            "confidence": confidence.value,
            "edited_by_id": actor.person_id,
            "edited_label": actor.label[:200],
            "edited_at": clock.now(),
        },
    )
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
def clear_figure(*, actor: Actor, edit_id: int) -> CatalogueEdit:
    """Give a figure back to what is shipped (or to everybody's). Raises Missing, NotAllowed."""
    row = CatalogueEdit.objects.filter(pk=edit_id).first()
    if row is None or (row.scope_id is not None and not actor.may(Right.READ, row.scope_id)):
        raise Missing(_("there is no such edit, or you may not see it"))
    actor.require(Right.OPERATE, row.scope_id)
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
