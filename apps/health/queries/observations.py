"""What was observed last, asked by those who would rather not observe the same again."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime, timedelta

from django.conf import settings
from django.db.models import Subquery

from apps.health.models import HealthState, RuleSetting


def unsettled_observations(pairs: Collection[tuple[int, str]], *, now: datetime) -> set[tuple[int, str]]:
    """Those pairs of node and digest that would still change something if they were observed once more.

    Settled is what was observed last, where no other verdict is left in the window and that one holds, where it
    does not soon count as stale, and where no rule was set since. One query.
    """
    rows = HealthState.objects.filter(
        node_id__in={node for node, _sha256 in pairs}, sha256__in={sha256 for _node, sha256 in pairs}
    )
    soon_stale = now - timedelta(seconds=settings.STALE_AFTER_S / 2)
    rules_set_at = Subquery(RuleSetting.objects.order_by("-changed_at").values("changed_at")[:1])
    settled: dict[tuple[int, str], bool] = {}
    for node_id, sha256, recent, verdict, at, set_at in rows.values_list(
        "node_id", "sha256", "recent", "verdict", "observed_at", rules_set_at
    ):
        since = soon_stale if set_at is None else max(soon_stale, set_at)
        is_settled = set(recent) == {verdict} and at > since
        settled[node_id, sha256] = settled.get((node_id, sha256), True) and is_settled
    return {pair for pair in pairs if not settled.get(pair, False)}
