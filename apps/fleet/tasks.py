"""Work on the fleet that outlives a request."""

from __future__ import annotations

import time

from apps.core.errors import PortalError
from apps.core.texts import say
from apps.fleet.engine.importing import Told
from apps.fleet.models import BulkImport, ImportState
from apps.fleet.services import imports, what_ifs
from apps.fleet.services.import_looks import Look, look, note
from apps.jobs.registry import job
from apps.jobs.running import RunningJob, Skipped

_TELL_EVERY_S = 0.5


@job("fleet.plan_import")
def plan_import(running: RunningJob) -> None:
    """Look at what a file would do; where that was asked for, apply it too."""
    row = _import(running)
    found = look(row, _reading(running, None))
    if row.apply_at_once:
        _apply(running, found)
        return
    with running.finishing() as outcome:
        row = _import(running, lock=True)
        note(row, found)
        outcome.result, outcome.url = imports.summary_of(row), imports.address_of(row)


@job("fleet.apply_import")
def apply_import(running: RunningJob) -> None:
    """Do what was looked at."""
    row = _import(running)
    found = look(row, _reading(running, row.row_count))
    running.progress(row.row_count, row.row_count, say("writing"))
    _apply(running, found)


def _reading(running: RunningJob, total: int | None) -> Told:
    """Tells how many rows are read, which keeps the lease while there are many."""
    running.progress(0, total, say("reading"))
    return lambda rows: running.progress(rows, total, say("reading"))


def _apply(running: RunningJob, found: Look) -> None:
    """Apply in one transaction with the completion of the job; where that cannot be, keep the look, and fail."""
    try:
        with running.finishing() as outcome:
            row = _import(running, lock=True)
            imports.apply_now(actor=running.actor, row=row, found=found)
            outcome.result, outcome.url = imports.summary_of(row), imports.address_of(row)
    except PortalError:
        arguments = running.arguments
        imports.keep_look(import_id=arguments["import_id"], version=arguments["version"], found=found)
        raise


def _import(running: RunningJob, *, lock: bool = False) -> BulkImport:
    """The import that the job is about. Raises Skipped where somebody changed or applied it meanwhile."""
    rows = BulkImport.objects.select_related("cluster__scope")
    if lock:
        rows = rows.select_for_update(of=("self",))
    row = rows.get(pk=running.arguments["import_id"])
    if row.state == ImportState.APPLIED or row.version != running.arguments["version"]:
        raise Skipped(say("the import was applied or changed meanwhile"))
    return row


@job(what_ifs.KIND)
def play_what_if(running: RunningJob) -> None:
    """Play a job mix under each policy; reads only."""
    cluster_id, values = running.arguments["cluster_id"], running.arguments["values"]
    told_at = [0.0]

    def progress(done: int, total: int) -> None:
        now = time.monotonic()
        if now - told_at[0] > _TELL_EVERY_S:
            told_at[0] = now
            running.progress(done, total, say("playing"))

    result = what_ifs.play(cluster_id=cluster_id, values=values, progress=progress)
    with running.finishing() as outcome:
        outcome.result = result
        outcome.url = what_ifs.address_of(cluster_id, running.job.pk)
