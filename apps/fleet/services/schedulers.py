"""What a scheduler's file says, brought in as an import that is looked at like any other."""

from __future__ import annotations

import json

from django.utils.translation import gettext as _

from apps.core.actor import Actor
from apps.core.errors import Conflict
from apps.core.rights import Right
from apps.fleet.engine.decoding import Form
from apps.fleet.engine.description_rows import rows_of
from apps.fleet.engine.importing import Mode
from apps.fleet.models import BulkImport, Cluster
from apps.fleet.queries.schedulers import comparison_of
from apps.fleet.services.imports import receive_import


def import_from_file(*, actor: Actor, cluster_id: int, receipt_id: int) -> BulkImport:
    """An import, not applied yet, of everything that a delivered file says of the fleet.

    Raises Conflict (file_problems) where the file contradicts itself, and what comparing and receiving raise.
    """
    cluster = Cluster.objects.get(pk=cluster_id)
    actor.require(Right.OPERATE, cluster.scope_id)
    found = comparison_of(actor, cluster, receipt_id)
    if found.has_problems:
        raise Conflict(
            _("the file contradicts itself; nothing of it can be brought in"), code="file_problems"
        )
    rows = rows_of(found.seen, aliases=found.aliases, recorded=found.recorded)
    return receive_import(
        actor=actor,
        cluster_id=cluster.pk,
        data=json.dumps(rows).encode(),
        file_name=found.receipt.file_name or found.receipt.kind,
        mode=Mode.UPSERT,
        form=Form.JSON,
    )
