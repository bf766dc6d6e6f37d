"""What Celery calls, and the kinds of work of this floor and of the floors below it."""

from __future__ import annotations

from typing import Any

from celery import shared_task
from django.urls import reverse

from apps.audit.services import checkpoints, verification
from apps.core import actor as actors
from apps.core.texts import Text, say, stored
from apps.jobs import queries, running, services
from apps.jobs.registry import job
from apps.jobs.running import SUMMARY, RunningJob, Skipped
from apps.jobs.services import deliveries, tidying


@shared_task(name="jobs.run", ignore_result=True)
def run(job_id: int) -> None:
    """Do one job, unless somebody else has it."""
    running.run(job_id)


@shared_task(name="jobs.tick", ignore_result=True, expires=60)
def tick() -> None:
    """Lost workers, lost messages, due schedules, due webhooks."""
    services.beat(queries.WORKER)
    services.reap()
    services.ensure_recurring()
    services.run_due_schedules(actor=actors.system("schedule"))
    deliveries.ask_for_due_deliveries()
    services.resend()


@job("jobs.deliver_webhook")
def deliver_webhook(running: RunningJob) -> dict[str, Any]:
    """One attempt to deliver one message; the delivery's own row says when the next one is due."""
    made = deliveries.deliver(delivery_id=running.arguments["delivery_id"])
    if made is None:
        raise Skipped(say("the message was sent meanwhile, or is being sent"))
    return {"status": made.status, "error": made.error}


@job("jobs.tidy", every_s=86400)
def tidy(_running: RunningJob) -> dict[str, int]:
    """Remove rows that have served their time."""
    return tidying.tidy()


@job("audit.verify")
def verify_audit(running: RunningJob) -> None:
    """Walk the audit trail and compare it with the kept checkpoints; a trail that does not hold is a failure."""
    found = verification.verify(actor=running.actor, report=running.progress)
    result = found.require_intact()
    with running.finishing() as outcome:
        outcome.url = reverse("audit:events")
        outcome.result = {
            "intact": True,
            "count": result.count,
            "head_seq": result.head_seq,
            "head_hash": result.head_hash,
            "checkpoints": found.checkpoints,
            SUMMARY: stored(_intact(found)),
        }


@job("audit.checkpoint", every_s=86400)
def checkpoint_audit(running: RunningJob) -> None:
    """Verify the audit trail and keep where it stands."""
    checked = verification.verify(actor=running.actor, report=running.progress)
    name = checkpoints.write_checkpoint(checked=checked).name
    summary = say("%(intact)s It is kept in %(file)s.", intact=_intact(checked), file=name)
    with running.finishing() as outcome:
        outcome.url = reverse("audit:events")
        outcome.result = {"file": name, SUMMARY: stored(summary)}


def _intact(found: checkpoints.Comparison) -> Text:
    events, checkpoints = found.verification.count, found.checkpoints
    if not found.compared:
        return say(
            "The chain is intact: %(events)s events. There is no checkpoint to compare it with.",
            events=events,
        )
    if checkpoints == 1:
        return say("The chain is intact: %(events)s events, compared with one checkpoint.", events=events)
    return say(
        "The chain is intact: %(events)s events, compared with %(checkpoints)s checkpoints.",
        events=events,
        checkpoints=checkpoints,
    )
