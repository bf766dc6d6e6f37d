"""What pages about one cluster tell the page shell."""

from __future__ import annotations

from typing import Any

from apps.fleet.models import Cluster


def cluster_context(cluster: Cluster) -> dict[str, Any]:
    """The chosen cluster, and whether what the page shows is demonstration data."""
    return {"current_cluster": cluster, "demo_marked": cluster.is_demo}
