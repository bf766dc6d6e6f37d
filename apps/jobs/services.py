"""Asking for work, and what the portal does when a worker was lost."""

from __future__ import annotations

import logging
from datetime import timedelta
from typing import Any

from celery import current_app
from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import F, Q

from apps.core import clock, digest
from apps.core.actor import Actor
from apps.core.errors import Conflict
from apps.jobs.models import ACTIVE, Job, JobState, Schedule

log = logging.getLogger(__name__)


def enqueue(
    kind: str,
    *,
    actor: Actor,
    scope_id: int | None = None,
    max_attempts: int = 3,
    **arguments: Any,
) -> Job:
    """Write a job and send it when the transaction commits; the same work while active is the same job.

    arguments: JSON values, ids rather than objects.
    """
    mark = digest.of_value(arguments)
    active = Job.objects.filter(kind=kind, digest=mark, state__in=ACTIVE)
    # Work that already runs has perhaps read its input before it changed: only a queued twin serves.
    if twin := active.filter(state=JobState.QUEUED).first():
        return twin
    if active.exists():
        mark = digest.of_text(f"{mark} after {active.get().pk}")
        if twin := Job.objects.filter(kind=kind, digest=mark, state__in=ACTIVE).first():
            return twin
    try:
        with transaction.atomic():
            job = Job.objects.create(
                kind=kind,
                arguments=arguments,
                digest=mark,
                requested_by_id=actor.person_id,
                requested_label=actor.label[:200],
                scope_id=scope_id,
                created_at=clock.now(),
                max_attempts=max_attempts,
            )
    except IntegrityError:
        return Job.objects.get(kind=kind, digest=mark, state__in=ACTIVE)
    transaction.on_commit(lambda: send(job.pk))
    return job


def send(job_id: int) -> None:
    """Tell a worker about a queued job; where the broker is away, the next tick sends it."""
    try:
        current_app.send_task("jobs.run", args=[job_id])
    except (OSError, current_app.connection_for_write().transport.connection_errors) as error:
        log.warning("job %s was not sent, the next tick will: %s", job_id, error)
        return
    Job.objects.filter(pk=job_id, state=JobState.QUEUED).update(sent_at=clock.now())


def cancel(*, job_id: int, actor: Actor) -> Job:
    """Ask for a job to stop: at once while it is queued, at its next progress report while it runs."""
    job = Job.objects.get(pk=job_id)
    now = clock.now()
    stopped = Job.objects.filter(pk=job_id, state=JobState.QUEUED).update(
        state=JobState.CANCELLED, finished_at=now, cancel_requested=True
    )
    if not stopped and not Job.objects.filter(pk=job_id, state=JobState.RUNNING).update(
        cancel_requested=True
    ):
        raise Conflict(f"the job is {job.state} already", code="job_state")
    job.refresh_from_db()
    return job


def reap() -> int:
    """Queue again what lost its lease; after the last attempt it failed (lost). Returns how many."""
    now = clock.now()
    lost = Job.objects.filter(state=JobState.RUNNING, lease_until__lt=now)
    failed = lost.filter(attempt__gte=F("max_attempts")).update(
        state=JobState.FAILED,
        finished_at=now,
        lease="",
        problem={"code": "lost", "detail": "the worker was lost, on the last attempt too"},
    )
    cancelled = lost.filter(cancel_requested=True).update(state=JobState.CANCELLED, finished_at=now, lease="")
    again = lost.update(state=JobState.QUEUED, lease="", lease_until=None, sent_at=None)
    return failed + cancelled + again


def resend() -> int:
    """Send queued jobs that no worker has taken: the broker may have lost them. Returns how many."""
    before = clock.now() - timedelta(seconds=settings.JOB_RESEND_S)
    waiting = Job.objects.filter(state=JobState.QUEUED).filter(
        Q(sent_at__isnull=True) | Q(sent_at__lt=before)
    )
    ids = list(waiting.order_by("id").values_list("pk", flat=True)[:500])
    for job_id in ids:
        send(job_id)
    return len(ids)


def run_due_schedules(*, actor: Actor) -> int:
    """Ask for the work that is due; a schedule that missed several times runs once. Returns how many."""
    now = clock.now()
    count = 0
    for schedule in Schedule.objects.filter(enabled=True, next_due_at__lte=now):
        behind_s = (now - schedule.next_due_at).total_seconds()
        steps = int(behind_s // schedule.every_s) + 1
        next_due_at = schedule.next_due_at + timedelta(seconds=steps * schedule.every_s)
        with transaction.atomic():
            moved = Schedule.objects.filter(pk=schedule.pk, next_due_at=schedule.next_due_at).update(
                next_due_at=next_due_at
            )
            if moved:
                enqueue(schedule.kind, actor=actor, **schedule.arguments)
                count += 1
    return count


def ensure_schedule(name: str, *, kind: str, every_s: int, **arguments: Any) -> Schedule:
    """A schedule of this name exists; what a team changed in it stays."""
    schedule, _created = Schedule.objects.get_or_create(
        name=name,
        defaults={"kind": kind, "arguments": arguments, "every_s": every_s, "next_due_at": clock.now()},
    )
    return schedule
