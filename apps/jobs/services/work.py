"""Asking for work, and asking for it to stop or to be done again."""

from __future__ import annotations

import logging
from functools import partial
from typing import Any

from celery import current_app
from django.db import IntegrityError, transaction
from kombu.exceptions import OperationalError as BrokerError

from apps.audit.services import decision, record
from apps.core import clock, digest
from apps.core.actor import Actor
from apps.core.errors import Busy, Conflict
from apps.core.texts import say, word
from apps.jobs import queries
from apps.jobs.models import ACTIVE, Job, JobState

log = logging.getLogger(__name__)
_RACES = 5  # how often somebody else may be faster before we give up


def enqueue(
    kind: str,
    *,
    actor: Actor,
    scope_id: int | None = None,
    max_attempts: int = 3,
    **arguments: Any,
) -> Job:
    """Write a job and send it when the transaction commits; the same work while queued is the same job.

    arguments: JSON values, ids rather than objects. Called inside of the transaction that changes what the job
    will read, the job starts after that is committed, also where it was queued before.
    """
    row = Job(
        kind=kind,
        arguments=arguments,
        requested_by_id=actor.person_id,
        requested_label=actor.label[:200],
        scope_id=scope_id,
        created_at=clock.now(),
        max_attempts=max_attempts,
    )
    for _attempt in range(_RACES):
        with transaction.atomic():
            job, is_new = _queued_twin_or(row, digest.of_value(arguments))
        if job is not None:
            if is_new:
                transaction.on_commit(partial(send, job.pk), robust=True)
            return job
    raise Busy(say("the same work is being asked for many times at once; try again"))


def _queued_twin_or(row: Job, mark: str) -> tuple[Job | None, bool]:
    """A queued job for the same work, or the row saved; None where somebody else was faster.

    Work that already runs has perhaps read its input before it changed, so only a queued twin serves. It is
    locked: no worker may claim it before our transaction, with what the job is to see, is committed.
    """
    while active := Job.objects.filter(kind=row.kind, digest=mark, state__in=ACTIVE).first():
        queued = Job.objects.filter(pk=active.pk, state=JobState.QUEUED)
        if twin := queued.select_for_update(no_key=True).first():
            return twin, False
        mark = digest.of_text(f"{mark} after {active.pk}")
    row.digest, row.pk = mark, None
    try:
        with transaction.atomic():
            row.save(force_insert=True)
    except IntegrityError:
        return None, False
    return row, True


def send(job_id: int) -> bool:
    """Tell a worker about a queued job; False where the broker is away: a later tick sends it."""
    try:
        current_app.send_task("jobs.run", args=[job_id])
    except (OSError, BrokerError, *current_app.connection_for_write().transport.connection_errors) as error:
        log.warning("job %s was not sent, a later tick will: %s", job_id, error)
        return False
    Job.objects.filter(pk=job_id, state=JobState.QUEUED).update(sent_at=clock.now())
    return True


@decision
def cancel(*, job_id: int, actor: Actor) -> Job:
    """Ask for a job to stop: at once while it is queued, at its next progress report while it runs.

    Raises Missing, NotAllowed (role) and Conflict (job_state) where it is over.
    """
    job = queries.job_to_control(job_id, actor=actor)
    before = job.state
    rows = Job.objects.filter(pk=job_id)
    stopped = rows.filter(state=JobState.QUEUED).update(
        state=JobState.CANCELLED, finished_at=clock.now(), cancel_requested=True
    )
    asked = stopped or rows.filter(state=JobState.RUNNING).update(cancel_requested=True)
    job.refresh_from_db()
    if not asked:
        raise Conflict(
            say("the job is %(state)s already", state=word(job.state)), code="job_state", state=job.state
        )
    record(
        actor=actor,
        action="job.cancelled",
        on=job,
        scope_id=job.scope_id,
        before={"state": before},
        after={"state": job.state, "cancel_requested": True},
    )
    return job


@decision
def retry(*, job_id: int, actor: Actor) -> Job:
    """Ask anew for work that failed or was cancelled; gives the new job.

    Raises Missing, NotAllowed (role) and Conflict (job_state) where it is not over, or succeeded.
    """
    job = queries.job_to_control(job_id, actor=actor)
    if job.state not in (JobState.FAILED, JobState.CANCELLED):
        raise Conflict(
            say("the job is %(state)s; only a failed or cancelled one can be retried", state=word(job.state)),
            code="job_state",
        )
    again = enqueue(
        job.kind, actor=actor, scope_id=job.scope_id, max_attempts=job.max_attempts, **job.arguments
    )
    record(actor=actor, action="job.retried", on=job, scope_id=job.scope_id, new_job_id=again.pk)
    return again
