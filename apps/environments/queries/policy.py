"""How a cluster's team wants its nodes watched."""

from __future__ import annotations

from collections.abc import Iterable

from django.conf import settings

from apps.core.prepared import Prepared
from apps.environments.models import EnvironmentPolicy
from apps.fleet.models import Cluster

DEFAULT_CHECK_EVERY_S = 3600
_OF_CLUSTER = Prepared(lambda cluster_id: EnvironmentPolicy.objects.filter(cluster_id=cluster_id))


def policy_of(cluster: Cluster) -> EnvironmentPolicy:
    """The cluster's policy; an unsaved one with the portal's defaults (version 0) where it has none."""
    held = _OF_CLUSTER.objects(cluster_id=cluster.pk)
    return held[0] if held else _default(cluster)


def policies_of(clusters: Iterable[Cluster]) -> dict[int, EnvironmentPolicy]:
    """Cluster id to its policy, in one query."""
    rows = {cluster.pk: cluster for cluster in clusters}
    held = {row.cluster_id: row for row in EnvironmentPolicy.objects.filter(cluster__in=list(rows))}
    return {pk: held.get(pk) or _default(cluster) for pk, cluster in rows.items()}


def _default(cluster: Cluster) -> EnvironmentPolicy:
    return EnvironmentPolicy(
        cluster=cluster,
        stale_after_s=settings.STALE_AFTER_S,
        check_every_s=DEFAULT_CHECK_EVERY_S,
        version=0,
    )
