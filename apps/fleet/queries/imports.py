"""Bulk imports that one may see, and what becomes of their rows."""

from __future__ import annotations

import gzip
import json
from typing import Any

from django.db.models import QuerySet
from django.utils.translation import gettext as _

from apps.core.actor import Actor
from apps.core.errors import Missing
from apps.core.rights import Right
from apps.fleet.models import BulkImport


def imports_visible(actor: Actor) -> QuerySet[BulkImport]:
    """Imports of clusters that the actor may read, newest first, without their bytes."""
    rows = BulkImport.objects.select_related("cluster").defer("content", "outcome")
    scopes = actor.scope_ids(Right.READ)
    return rows if scopes is None else rows.filter(cluster__scope_id__in=scopes)


def import_for(actor: Actor, import_id: int, right: Right = Right.READ) -> BulkImport:
    """One import. Raises Missing, NotAllowed."""
    row = imports_visible(actor).filter(pk=import_id).first()
    if row is None:
        raise Missing(_("there is no such import, or you may not see it"))
    actor.require(right, row.cluster.scope_id)
    return row


def outcomes(row: BulkImport, *, fate: str = "", table: str = "") -> list[dict[str, Any]]:
    """What becomes of each row, errors first; of one fate, of one table."""
    if row.outcome is None:
        return []
    found: list[dict[str, Any]] = json.loads(gzip.decompress(bytes(row.outcome)))
    return [
        one for one in found if (not fate or one["fate"] == fate) and (not table or one["table"] == table)
    ]
