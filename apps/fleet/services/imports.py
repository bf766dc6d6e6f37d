"""Bulk imports: looked at first (a dry run), applied whole or not at all."""

from __future__ import annotations

import gzip
import hashlib
import json
from typing import Any

from django.db.models import F
from django.urls import reverse
from django.utils.translation import gettext as _

from apps.audit.services import deciding, decision, record
from apps.core import clock
from apps.core.actor import Actor
from apps.core.errors import Conflict, FieldError, Invalid, PortalError, Stale, TooLarge
from apps.core.rights import Right, TokenScope
from apps.fleet.engine.decoding import Decoded, Form, decode
from apps.fleet.engine.importing import ImportPlan, Mode, plan_import
from apps.fleet.engine.outcomes import counts_of, digest_of, outcomes_of
from apps.fleet.engine.tables import Table
from apps.fleet.models import BulkImport, Cluster, ImportState
from apps.fleet.queries.imports import import_for
from apps.fleet.queries.rows import current_rows
from apps.fleet.services.writing_rows import write
from apps.jobs.services import enqueue

LIMIT_BYTES = 64 * 2**20
AT_ONCE_BYTES = 256 * 2**10  # above this, a worker does it
_MAX_ERRORS = 200  # that a problem document carries; the import itself keeps all


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
        raise TooLarge(f"an import may have {LIMIT_BYTES // 2**20} MiB", limit_bytes=LIMIT_BYTES)
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
        decoded = _decoded(row)
        _note_plan(row, decoded, _planned(row, decoded))
        row.save()
        return row
    row.save()
    return _ask_for(row, "fleet.plan_import", actor)


@decision
def map_columns(
    *, actor: Actor, import_id: int, expected_version: int, columns: dict[str, str], table: Table
) -> BulkImport:
    """Say which column of a CSV file is which of ours, and look again. Raises Stale, Conflict (import_state)."""
    row = _to_change(actor, import_id, expected_version)
    row.columns, row.table = columns, table.value
    if row.size_bytes <= AT_ONCE_BYTES:
        decoded = _decoded(row)
        _note_plan(row, decoded, _planned(row, decoded))
        row.save()
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


def plan_now(*, row: BulkImport) -> None:
    """Look at what a file would do, and write that down; a file that cannot be read is refused."""
    try:
        decoded = _decoded(row)
        _note_plan(row, decoded, _planned(row, decoded))
    except PortalError as error:
        row.state = ImportState.REFUSED
        errors = [{"pointer": one.pointer, "message": str(one.message)} for one in error.errors]
        row.problem = {"code": error.code, "detail": str(error.message), "errors": errors[:_MAX_ERRORS]}
    row.save()


def apply_now(*, actor: Actor, row: BulkImport) -> None:
    """Apply inside of the caller's decision: all rows or none, and one event with counts and digests.

    Where a plan was looked at, the same plan must come out again. Raises Invalid (import_rows, with the errors),
    Conflict (import_changed), and what reading the file raises.
    """
    # One import of a cluster at a time; on SQLite the immediate transaction already sees to that.
    Cluster.objects.select_for_update().get(pk=row.cluster_id)
    decoded = _decoded(row)
    plan = _planned(row, decoded)
    looked_at = row.plan_digest
    _note_plan(row, decoded, plan)
    if plan.errors:
        raise Invalid(
            _("some rows are wrong; nothing was written"),
            code="import_rows",
            errors=plan.field_errors()[:_MAX_ERRORS],
        )
    if looked_at and looked_at != row.plan_digest:
        raise Conflict(_("the fleet changed since this was looked at; look again"), code="import_changed")
    write(row.cluster, plan)
    row.state, row.applied_at, row.applied_label = ImportState.APPLIED, clock.now(), actor.label[:200]
    row.save()
    record(
        actor=actor,
        action="fleet.imported",
        on=row,
        scope_id=row.cluster.scope_id,
        after={"counts": row.counts, "mode": row.mode, "file": row.file_name},
        sha256=row.sha256,
        plan_digest=row.plan_digest,
    )


def apply_or_note(*, actor: Actor, row: BulkImport) -> None:
    """Apply; where rows are wrong or the fleet moved on since, look again and write nothing."""
    try:
        with deciding():
            apply_now(actor=actor, row=row)
    except (Invalid, Conflict):
        row.refresh_from_db()
        plan_now(row=row)


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


def _decoded(row: BulkImport) -> Decoded:
    data = gzip.decompress(bytes(row.content))
    return decode(
        data,
        form=Form(row.form) if row.form else None,
        table=Table(row.table) if row.table else None,
    )


def _planned(row: BulkImport, decoded: Decoded) -> ImportPlan:
    columns = dict.fromkeys(decoded.rows, row.columns) if row.columns is not None else None
    _check_columns(row.columns)
    return plan_import(decoded.rows, current=current_rows(row.cluster), mode=Mode(row.mode), columns=columns)


def _check_columns(columns: dict[str, str] | None) -> None:
    ours = [name for name in (columns or {}).values() if name]
    twice = sorted({name for name in ours if ours.count(name) > 1})
    if twice:
        message = f"two columns of the file are mapped to {', '.join(twice)}"
        raise Invalid(message, code="columns", errors=[FieldError(pointer="/columns", message=message)])


def _note_plan(row: BulkImport, decoded: Decoded, plan: ImportPlan) -> None:
    row.form, row.head, row.row_count = decoded.form.value, list(decoded.columns), decoded.row_count
    row.table = next(iter(decoded.rows)).value if decoded.form is Form.CSV else ""
    row.counts, row.plan_digest = counts_of(plan), digest_of(plan)
    row.outcome = gzip.compress(_json(outcomes_of(plan)), compresslevel=1)
    row.state, row.problem = ImportState.PLANNED, None


def _json(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
