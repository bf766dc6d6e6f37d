"""A cluster is made as a demonstration or not, and stays so, because only that may be removed whole."""

from __future__ import annotations

from apps.core.triggers import Guard

GUARDS = [
    Guard(
        name="fleet_cluster_demo",
        table="fleet_cluster",
        event="UPDATE OF is_demo",
        when="NEW.is_demo <> OLD.is_demo",
        message="a cluster stays, and is a demonstration or not for good: nothing else becomes one",
    ),
    Guard(
        name="fleet_cluster_no_delete",
        table="fleet_cluster",
        event="DELETE",
        when="NOT OLD.is_demo",
        message="a cluster stays, and is a demonstration or not for good: nothing else becomes one",
    ),
]
