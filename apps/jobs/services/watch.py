"""What the tick does: makes up for lost workers and lost messages, and shows that workers are alive."""

from __future__ import annotations

from datetime import timedelta
from itertools import takewhile

from django.conf import settings
from django.db.models import F, Q

from apps.core import clock
from apps.core.texts import say
from apps.jobs.models import Heartbeat, Job, JobState
from apps.jobs.services.work import send

_LOST = {"code": "lost", "detail": say("the worker was lost, on the last attempt too")}
_SENT_AT_ONCE = 500


def reap() -> int:
    """Queue again what lost its lease; after the last attempt it failed (lost). Returns how many."""
    now = clock.now()
    lost = Job.objects.filter(state=JobState.RUNNING, lease_until__lt=now)
    over = {"finished_at": now, "lease": "", "lease_until": None}
    cancelled = lost.filter(cancel_requested=True).update(state=JobState.CANCELLED, **over)
    failed = lost.filter(attempt__gte=F("max_attempts")).update(state=JobState.FAILED, problem=_LOST, **over)
    again = lost.update(state=JobState.QUEUED, lease="", lease_until=None, sent_at=None, lost=F("lost") + 1)
    return failed + cancelled + again


def resend() -> int:
    """Send queued jobs that no worker has taken: the broker may have lost them. Returns how many.

    Stops at the first that cannot be sent: the broker is away, and waiting for it helps nobody.
    """
    before = clock.now() - timedelta(seconds=settings.JOB_RESEND_S)
    waiting = Job.objects.filter(state=JobState.QUEUED).filter(
        Q(sent_at__isnull=True) | Q(sent_at__lt=before)
    )
    ids = list(waiting.order_by("id").values_list("pk", flat=True)[:_SENT_AT_ONCE])
    return sum(1 for _sent in takewhile(bool, map(send, ids)))


def beat(name: str) -> None:
    """A worker is alive."""
    now = clock.now()
    if not Heartbeat.objects.filter(name=name).update(at=now):
        Heartbeat.objects.get_or_create(name=name, defaults={"at": now})
