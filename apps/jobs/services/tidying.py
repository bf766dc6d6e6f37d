"""Removing what has served its time: keys of requests, sessions, counters, messages that arrived long ago."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.contrib.sessions.models import Session
from django.db.models import QuerySet

from apps.accounts.services.limits import forget_old_windows
from apps.core import clock
from apps.jobs.models import ACTIVE, IdempotencyKey, Job, WebhookDelivery
from apps.jobs.services.webhooks import DELIVER

KEEP_KEYS = timedelta(hours=72)
KEEP_DELIVERIES = timedelta(days=90)
_AT_ONCE = 1000


def tidy() -> dict[str, int]:
    """Remove old rows, a thousand at a time; gives how many of each."""
    now = clock.now()
    old_keys = IdempotencyKey.objects.filter(created_at__lt=now - KEEP_KEYS)
    over = WebhookDelivery.objects.filter(created_at__lt=now - KEEP_DELIVERIES, next_attempt_at__isnull=True)
    sent = Job.objects.filter(kind=DELIVER, created_at__lt=now - KEEP_DELIVERIES).exclude(state__in=ACTIVE)
    return {
        "idempotency_keys": _remove(old_keys),
        "webhook_deliveries": _remove(over),
        "webhook_jobs": _remove(sent),
        "sessions": _remove(Session.objects.filter(expire_date__lt=now)),
        "counters": forget_old_windows(),
    }


def _remove(rows: QuerySet[Any]) -> int:
    removed = 0
    while ids := list(rows.order_by("pk").values_list("pk", flat=True)[:_AT_ONCE]):
        rows.model.objects.filter(pk__in=ids).delete()
        removed += len(ids)
    return removed
