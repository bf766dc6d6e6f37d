"""What was observed last, asked by those who would rather not observe the same again."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db.models import Count, Exists, F, OuterRef, Q, QuerySet
from django.db.models.lookups import In

from apps.core.prepared import Given, Prepared
from apps.core.verdicts import Verdict
from apps.health.engine.hysteresis import WINDOW
from apps.health.models import HealthState, RuleSetting


def unsettled_observations(pairs: Collection[tuple[int, str]], *, now: datetime) -> set[tuple[int, str]]:
    """Those pairs of node and digest that would still change something if they were observed once more.

    Settled is what was observed last, where no other verdict is left in the window and that one holds, where it
    does not soon count as stale, and where no rule was set since. One query.
    """
    counted = _SETTLED_OF_ALL.rows(
        node_ids=sorted({node for node, _sha256 in pairs}),
        digests=sorted({sha256 for _node, sha256 in pairs}),
        soon_stale=now - timedelta(seconds=settings.STALE_AFTER_S / 2),
    )
    return set(pairs) - {(node, sha256) for node, sha256, settled, of_all in counted if settled == of_all}


def _settled_of_all(
    *, node_ids: list[Given], digests: list[Given], soon_stale: Given
) -> QuerySet[HealthState, tuple[Any, ...]]:
    """Node, digest, how many of its observations are settled, and how many there are."""
    set_since = Exists(RuleSetting.objects.filter(changed_at__gte=OuterRef("observed_at")))
    same = Q()
    for verdict in Verdict:
        same |= Q(verdict=verdict, recent__in=[[verdict] * length for length in range(1, WINDOW + 1)])
    rows = HealthState.objects.filter(In(F("node_id"), node_ids), sha256__in=digests).values_list(
        "node_id", "sha256"
    )
    settled = Count("pk", filter=same & Q(observed_at__gt=soon_stale) & ~set_since)
    return rows.annotate(settled=settled, of_all=Count("pk"))


_SETTLED_OF_ALL = Prepared(_settled_of_all)
