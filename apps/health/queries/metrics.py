"""Where the metrics of clusters are fetched from."""

from __future__ import annotations

from datetime import datetime, timedelta

from apps.core.errors import Missing
from apps.core.texts import say
from apps.fleet.models import Cluster
from apps.health.models import MetricsSource

_EARLY_S = 30


def metrics_source_of(cluster: Cluster) -> MetricsSource:
    """The cluster's source. Raises Missing where it has none."""
    held = MetricsSource.objects.filter(cluster=cluster).first()
    if held is None:
        raise Missing(say("the cluster names no Prometheus server"))
    return held


def metrics_sources(*, due_at: datetime | None = None, cluster_id: int | None = None) -> list[MetricsSource]:
    """The sources that are to be asked: those that are due by then, or that of one cluster at once."""
    rows = MetricsSource.objects.filter(enabled=True).select_related("cluster").order_by("pk")
    if cluster_id is not None:
        return list(rows.filter(cluster_id=cluster_id))
    return [source for source in rows if due_at is None or _is_due(source, due_at)]


def _is_due(source: MetricsSource, at: datetime) -> bool:
    """Whether its time has come; half a minute early, so that a look is not put off to the next round."""
    return source.asked_at is None or source.asked_at + timedelta(seconds=source.every_s - _EARLY_S) <= at
