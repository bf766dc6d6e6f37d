"""History that has served its time is removed; what decisions rest on is kept in them."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.db.models import Exists, OuterRef, QuerySet

from apps.core import clock
from apps.environments.models import DriftCheck, DriftFinding, NodeFact

KEEP = timedelta(days=730)
_AT_ONCE = 1000


def thin_history() -> dict[str, int]:
    """Remove facts that ended, findings that were resolved and checks that were followed by others, after KEEP.

    A thousand at a time; gives how many of each.
    """
    before = clock.now() - KEEP
    newer = DriftCheck.objects.filter(domain=OuterRef("domain"), pk__gt=OuterRef("pk"))
    return {
        "facts": _remove(NodeFact.objects.filter(until__lt=before)),
        "findings": _remove(DriftFinding.objects.filter(resolved_at__lt=before)),
        "checks": _remove(DriftCheck.objects.filter(Exists(newer), checked_at__lt=before)),
    }


def _remove(rows: QuerySet[Any]) -> int:
    removed = 0
    while ids := list(rows.order_by("pk").values_list("pk", flat=True)[:_AT_ONCE]):
        rows.model.objects.filter(pk__in=ids).delete()
        removed += len(ids)
    return removed
