"""Work on the fleet that outlives a request."""

from __future__ import annotations

from apps.fleet.models import BulkImport, ImportState
from apps.fleet.services import imports
from apps.jobs.registry import job
from apps.jobs.running import RunningJob, Skipped


@job("fleet.plan_import")
def plan_import(running: RunningJob) -> None:
    """Look at what a file would do; where that was asked for and no row is wrong, apply it too."""
    row = _import(running)
    running.progress(0, None, "reading")
    with running.finishing() as outcome:
        if row.apply_at_once:
            imports.apply_or_note(actor=running.actor, row=row)
        else:
            imports.plan_now(row=row)
        outcome.result, outcome.url = imports.summary_of(row), imports.address_of(row)


@job("fleet.apply_import")
def apply_import(running: RunningJob) -> None:
    """Do what was looked at, in one transaction with the completion of the job."""
    row = _import(running)
    running.progress(0, row.row_count, "writing")
    with running.finishing() as outcome:
        imports.apply_or_note(actor=running.actor, row=row)
        outcome.result, outcome.url = imports.summary_of(row), imports.address_of(row)


def _import(running: RunningJob) -> BulkImport:
    row = BulkImport.objects.select_related("cluster__scope").get(pk=running.arguments["import_id"])
    if row.state == ImportState.APPLIED or row.version != running.arguments["version"]:
        raise Skipped("the import was applied or changed meanwhile")
    return row
