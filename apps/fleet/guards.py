"""A cluster is made as a demonstration or not, and stays so, because only that may be removed whole."""

from __future__ import annotations

from apps.core.triggers import Guard

GUARDS = [
    Guard(
        name="fleet_cluster_demo",
        table="fleet_cluster",
        event="UPDATE OF is_demo",
        when="NEW.is_demo <> OLD.is_demo",
        message="what is a demonstration stays one, and nothing else becomes one",
    ),
]
