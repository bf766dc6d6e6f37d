"""Where the metrics of clusters are fetched from."""

from __future__ import annotations

from django.db.models import QuerySet

from apps.core.errors import Missing
from apps.fleet.models import Cluster
from apps.health.models import MetricsSource


def metrics_source_of(cluster: Cluster) -> MetricsSource:
    """The cluster's source. Raises Missing where it has none."""
    held = MetricsSource.objects.filter(cluster=cluster).first()
    if held is None:
        raise Missing("the cluster names no Prometheus server")
    return held


def metrics_sources() -> QuerySet[MetricsSource]:
    """The sources that are to be asked."""
    return MetricsSource.objects.filter(enabled=True).select_related("cluster").order_by("pk")
