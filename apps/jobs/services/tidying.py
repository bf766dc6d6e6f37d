"""Removing what has served its time: keys of requests, and messages that arrived long ago."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.db.models import QuerySet

from apps.core import clock
from apps.jobs.models import IdempotencyKey, WebhookDelivery

KEEP_KEYS = timedelta(hours=72)
KEEP_DELIVERIES = timedelta(days=90)
_AT_ONCE = 1000


def tidy() -> dict[str, int]:
    """Remove old rows, a thousand at a time; gives how many of each."""
    now = clock.now()
    old_keys = IdempotencyKey.objects.filter(created_at__lt=now - KEEP_KEYS)
    over = WebhookDelivery.objects.filter(created_at__lt=now - KEEP_DELIVERIES, next_attempt_at__isnull=True)
    return {"idempotency_keys": _remove(old_keys), "webhook_deliveries": _remove(over)}


def _remove(rows: QuerySet[Any]) -> int:
    removed = 0
    while ids := list(rows.order_by("pk").values_list("pk", flat=True)[:_AT_ONCE]):
        rows.model.objects.filter(pk__in=ids).delete()
        removed += len(ids)
    return removed
