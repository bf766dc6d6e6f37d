"""GPU metrics that a cluster's Prometheus holds, taken in as if each node had handed its own in."""

from __future__ import annotations

from apps.core import actor as actors
from apps.core import clock
from apps.fleet.queries import node_by_reported_name
from apps.health import services as health
from apps.health.models import MetricsSource
from apps.portal.services import intake


def take_in_metrics(source: MetricsSource) -> int:
    """Ask the server, and take in what it says of each node that the cluster has. Returns how many nodes.

    Hosts that are no node of the cluster are left out: a Prometheus server often watches more than one.
    Raises Invalid (metrics_source) where the server does not answer as Prometheus does.
    """
    collected_at = clock.now()
    taken = 0
    for host, text in health.fetch_metrics(source).items():
        if node_by_reported_name(source.cluster, host) is None:
            continue
        intake.take_in(
            actor=actors.system("metrics"),
            cluster=source.cluster,
            chunks=[text.encode()],
            file_name=f"prometheus-{host}.prom",
            node_name=host,
            collected_at=collected_at,
        )
        taken += 1
    return taken
