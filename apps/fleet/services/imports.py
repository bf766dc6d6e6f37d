"""Bulk imports: looked at first (a dry run), applied whole or not at all."""

from __future__ import annotations

import gzip
import hashlib
from dataclasses import replace
from typing import Any

from django.db import transaction
from django.db.models import F
from django.urls import reverse
from django.utils.translation import gettext as _

from apps.audit.services import decision, record
from apps.core import clock
from apps.core.actor import Actor
from apps.core.errors import Conflict, Invalid, PortalError, Stale, TooLarge
from apps.core.rights import Right, TokenScope
from apps.core.texts import say
from apps.fleet.engine.decoding import Form
from apps.fleet.engine.importing import Mode
from apps.fleet.engine.tables import Table
from apps.fleet.models import BulkImport, Cluster, ImportState
from apps.fleet.queries.imports import import_for
from apps.fleet.services.import_looks import MAX_ERRORS, Look, Prepared, before_of, look, note, prepare
from apps.fleet.services.writing_rows import write
from apps.jobs.services import enqueue

LIMIT_BYTES = 64 * 2**20
AT_ONCE_BYTES = 256 * 2**10  # above this, a worker does it


@decision
def receive_import(
    *,
    actor: Actor,
    cluster_id: int,
    data: bytes,
    file_name: str = "",
    mode: Mode = Mode.UPSERT,
    form: Form | None = None,
    table: Table | None = None,
    columns: dict[str, str] | None = None,
    apply_at_once: bool = False,
) -> BulkImport:
    """Keep a file of rows and look at what it would do; a large one is looked at by a worker.

    apply_at_once: a worker also applies it where no row is wrong.
    Raises TooLarge, and for small files Invalid where they cannot be read; nothing is kept then.
    """
    cluster = Cluster.objects.get(pk=cluster_id)
    actor.require(Right.OPERATE, cluster.scope_id)
    actor.require_token_scope(TokenScope.FLEET_WRITE)
    if len(data) > LIMIT_BYTES:
        raise TooLarge(
            say("an import may have %(limit_bytes)s MiB", limit_bytes=LIMIT_BYTES // 2**20),
            limit_bytes=LIMIT_BYTES,
        )
    row = BulkImport(
        cluster=cluster,
        file_name=file_name[:255],
        sha256=hashlib.sha256(data).hexdigest(),
        size_bytes=len(data),
        content=gzip.compress(data, compresslevel=1),
        form=form.value if form else "",
        table=table.value if table else "",
        mode=mode.value,
        columns=columns,
        apply_at_once=apply_at_once,
        asked_by_id=actor.person_id,
        asked_label=actor.label[:200],
        asked_at=clock.now(),
    )
    if len(data) <= AT_ONCE_BYTES and not apply_at_once:
        try:
            note(row, prepare(row))
        except Invalid as fault:
            raise _of_file(row.file_name, fault) from fault.__cause__
        return row
    row.save()
    return _ask_for(row, "fleet.plan_import", actor)


def _of_file(name: str, fault: Invalid) -> Invalid:
    """The same, said of a file that is not kept and so has no page of its own. name: "" for pasted rows."""
    if not name:
        return fault

    def named(message: str) -> str:
        return say("%(where)s: %(what)s", where=name, what=message)

    errors = [replace(one, message=named(one.message)) for one in fault.errors]
    return Invalid(named(fault.message), code=fault.code, errors=errors, **fault.fields)


@decision
def map_columns(
    *, actor: Actor, import_id: int, expected_version: int, columns: dict[str, str], table: Table
) -> BulkImport:
    """Say which column of a CSV file is which of ours, and look again. Raises Stale, Conflict (import_state)."""
    row = _to_change(actor, import_id, expected_version)
    row.columns, row.table = columns, table.value
    if row.size_bytes <= AT_ONCE_BYTES:
        note(row, prepare(row))
        return row
    row.state = ImportState.WAITING
    row.save()
    return _ask_for(row, "fleet.plan_import", actor)


@decision
def apply_import(*, actor: Actor, import_id: int, expected_version: int) -> BulkImport:
    """Do what was looked at; a large import is applied by a worker, and comes back as it is until then.

    Raises Stale, Conflict (import_state; import_changed where the fleet moved on since), Invalid (import_rows).
    """
    row = _to_change(actor, import_id, expected_version)
    if row.state != ImportState.PLANNED:
        raise Conflict(_("it was not looked at yet, or cannot be read"), code="import_state", state=row.state)
    if row.error_count:
        raise Invalid(_("some rows are wrong; nothing was written"), code="import_rows")
    if row.size_bytes > AT_ONCE_BYTES:
        row.save()
        return _ask_for(row, "fleet.apply_import", actor)
    apply_now(actor=actor, row=row)
    return row


def apply_now(*, actor: Actor, row: BulkImport, found: Look | None = None) -> None:
    """Apply inside of the caller's decision: all rows or none, and one event with counts and digests.

    found: what a look before the transaction found; where the fleet is another by now, it is looked at again here.
    Where a plan was looked at by somebody, the same plan must come out again. Raises Invalid (import_rows, with
    the errors), Conflict (import_changed), and what reading the file raises.
    """
    if isinstance(found, PortalError):
        raise found
    # One import of a cluster at a time; on SQLite the immediate transaction already sees to that.
    Cluster.objects.select_for_update(no_key=True).get(pk=row.cluster_id)
    before = before_of(row.cluster)
    if found is None or found.before != before:
        found = prepare(row, before)
    looked_at = row.plan_digest
    if found.plan.errors:
        raise Invalid(
            _("some rows are wrong; nothing was written"),
            code="import_rows",
            errors=found.plan.field_errors()[:MAX_ERRORS],
        )
    if looked_at and looked_at != found.notes["plan_digest"]:
        raise Conflict(_("the fleet changed since this was looked at; look again"), code="import_changed")
    write(row.cluster, found.plan)
    note(row, found)
    row.state, row.applied_at, row.applied_label = ImportState.APPLIED, clock.now(), actor.label[:200]
    row.save(update_fields=["state", "applied_at", "applied_label"])
    record(
        actor=actor,
        action="fleet.imported",
        on=row,
        scope_id=row.cluster.scope_id,
        after={"counts": row.counts, "mode": row.mode, "file": row.file_name},
        sha256=row.sha256,
        plan_digest=row.plan_digest,
    )


@transaction.atomic
def keep_look(*, import_id: int, version: int, found: Look) -> None:
    """Write down a look at an import that could not be applied; a plan without errors was overtaken: look again.

    Does nothing where the import was applied or changed meanwhile. No decision: no audit event.
    """
    rows = BulkImport.objects.select_for_update(of=("self",)).select_related("cluster")
    row = rows.filter(pk=import_id, version=version).exclude(state=ImportState.APPLIED).first()
    if row is not None:
        overtaken = isinstance(found, Prepared) and not found.plan.errors
        note(row, look(row) if overtaken else found)


def summary_of(row: BulkImport) -> dict[str, Any]:
    """What a job says of an import."""
    return {"import": row.pk, "state": row.state, "counts": row.counts}


def address_of(row: BulkImport) -> str:
    """The page of an import."""
    return reverse("fleet:import", args=[row.cluster.slug, row.pk])


def _to_change(actor: Actor, import_id: int, expected_version: int) -> BulkImport:
    """The import, moved to its next version so that a second change at the same time is Stale."""
    actor.require_token_scope(TokenScope.FLEET_WRITE)
    row = import_for(actor, import_id, Right.OPERATE)
    if row.state == ImportState.APPLIED:
        raise Conflict(_("it was applied already"), code="import_state", state=row.state)
    moved = BulkImport.objects.filter(pk=row.pk, version=expected_version).update(version=F("version") + 1)
    if not moved:
        raise Stale(version=row.version)
    row.refresh_from_db()
    return row


def _ask_for(row: BulkImport, kind: str, actor: Actor) -> BulkImport:
    job = enqueue(kind, actor=actor, scope_id=row.cluster.scope_id, import_id=row.pk, version=row.version)
    row.job = job
    BulkImport.objects.filter(pk=row.pk).update(job=job)
    return row
