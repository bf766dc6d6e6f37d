"""A cluster is made as a demonstration or not, and stays so, because only that may be removed whole."""

from __future__ import annotations

from apps.core.triggers import Guard, refusal

_SQLITE, _POSTGRESQL = refusal("what is a demonstration stays one, and nothing else becomes one")

GUARDS = [
    Guard(
        name="fleet_cluster_demo",
        table="fleet_cluster",
        sqlite=f"BEFORE UPDATE OF is_demo ON fleet_cluster WHEN NEW.is_demo <> OLD.is_demo BEGIN {_SQLITE} END",
        event="BEFORE UPDATE OF is_demo",
        when="NEW.is_demo <> OLD.is_demo",
        body=_POSTGRESQL,
    ),
]
