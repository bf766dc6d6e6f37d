"""A job while it runs: claimed by lease, reporting progress, and completed in the transaction of its effect."""

from __future__ import annotations

import json
import logging
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db import OperationalError, connection
from django.db.models import F
from django.db.models.functions import Coalesce

from apps.audit import services as audit
from apps.core import actor as actors
from apps.core import clock, problems
from apps.core.actor import Actor
from apps.core.errors import PortalError
from apps.core.texts import kept, say
from apps.jobs import registry
from apps.jobs.models import Job, JobState

log = logging.getLogger(__name__)

# The part of a result that says in a sentence what came out, as a stored row.
SUMMARY = "summary"
# SQLite has one writer at a time and no queue for it: a worker that writes back to back would starve the pages.
BREATH_S = 0.005


class LeaseLost(Exception):
    """The job was taken over by another worker; nothing may be written for it here any more."""


class Cancelled(Exception):
    """Somebody asked for the job to stop."""


class Skipped(Exception):
    """What the job was asked for no longer applies; the text says why."""


@dataclass(slots=True)
class Outcome:
    """What a handler leaves behind: JSON for scripts (with a SUMMARY for people), and the page that shows it."""

    result: Any = None
    url: str = ""


@dataclass(slots=True)
class RunningJob:
    """What a handler gets: the arguments, the actor on whose behalf it works, progress and completion."""

    job: Job
    lease: str
    completed: bool = field(default=False)

    @property
    def arguments(self) -> dict[str, Any]:
        return dict(self.job.arguments)

    @property
    def actor(self) -> Actor:
        """The portal, acting for whoever asked; rights were checked when the job was asked for."""
        return replace(actors.system(f"job {self.job.pk}"), person_id=self.job.requested_by_id)

    def progress(self, done: int, total: int | None = None, phase: str = "") -> None:
        """Report, and renew the lease. Raises LeaseLost and Cancelled.

        Call it between batches of writes, which should take 50 ms at most on SQLite, and at least every half
        of PORTAL_JOB_LEASE_S; never inside of a transaction, where nobody would see it.
        """
        held = self._mine().update(
            done=done,
            total=total,
            phase=phase[:120],
            lease_until=clock.now() + timedelta(seconds=settings.JOB_LEASE_S),
        )
        if not held:
            raise LeaseLost(str(self.job))
        if self._mine().filter(cancel_requested=True).exists():
            raise Cancelled(str(self.job))
        if connection.vendor == "sqlite":
            time.sleep(BREATH_S)

    @contextmanager
    def finishing(self) -> Iterator[Outcome]:
        """One decision that applies the effect and completes the job: both are committed, or neither.

        Raises LeaseLost before anything is written where another worker has taken over.
        """
        outcome = Outcome()
        with audit.deciding():
            if not self._mine().update(state=JobState.SUCCEEDED, finished_at=clock.now(), phase=""):
                raise LeaseLost(str(self.job))
            yield outcome
            Job.objects.filter(pk=self.job.pk).update(
                result=outcome.result,
                result_url=outcome.url,
                done=Coalesce("total", "done"),
                lease="",
                lease_until=None,
            )
        self.completed = True

    def _mine(self) -> Any:
        return Job.objects.filter(pk=self.job.pk, lease=self.lease, state=JobState.RUNNING)


def run(job_id: int) -> None:
    """Claim a queued job and do it. Does nothing where somebody else has it or it is over."""
    running = _claim(job_id)
    if running is None:
        return
    handler = registry.handler_of(running.job.kind)
    try:
        if handler is None:
            raise PortalError(say("no worker knows %(kind)s", kind=running.job.kind), code="unknown_kind")
        with registry.surroundings():
            result = handler(running)
        if not running.completed:
            with running.finishing() as outcome:
                outcome.result = result
    except LeaseLost:
        log.warning("%s was taken over by another worker", running.job)
    except Cancelled:
        _end(running, JobState.CANCELLED, None)
    except Skipped as reason:
        _end(running, JobState.SKIPPED, {"code": "skipped", "detail": str(reason)})
    except PortalError as error:
        problem = kept(error.message) | problems.document(error)
        _end(running, JobState.FAILED, json.loads(json.dumps(problem, default=str)))
    except OperationalError:
        # A locked or restarted database says nothing about the work itself.
        log.exception("%s met a database that was not at hand", running.job)
        _try_again(running)
    except Exception:
        # Whatever a handler dies of must end in the row, or the job would wait for its lease to run out.
        log.exception("%s failed", running.job)
        _end(
            running,
            JobState.FAILED,
            {"code": "error", "detail": say("an internal error; the log has the details")},
        )


def _claim(job_id: int) -> RunningJob | None:
    lease, now = uuid.uuid4().hex, clock.now()
    claimed = Job.objects.filter(pk=job_id, state=JobState.QUEUED).update(
        state=JobState.RUNNING,
        lease=lease,
        lease_until=now + timedelta(seconds=settings.JOB_LEASE_S),
        started_at=now,
        attempt=F("attempt") + 1,
        done=0,
    )
    return RunningJob(Job.objects.get(pk=job_id), lease) if claimed else None


def _end(running: RunningJob, state: JobState, problem: dict[str, Any] | None) -> None:
    Job.objects.filter(pk=running.job.pk, lease=running.lease, state=JobState.RUNNING).update(
        state=state, finished_at=clock.now(), problem=problem, lease="", lease_until=None
    )


def _try_again(running: RunningJob) -> None:
    """Back to the queue while attempts are left; the tick sends it."""
    job = running.job
    if job.attempt >= job.max_attempts:
        problem = {"code": "database", "detail": say("the database was not at hand, on the last attempt too")}
        _end(running, JobState.FAILED, problem)
        return
    mine = Job.objects.filter(pk=job.pk, lease=running.lease, state=JobState.RUNNING)
    mine.update(state=JobState.QUEUED, lease="", lease_until=None, sent_at=None)
