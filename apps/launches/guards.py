"""Evaluations that are done, answers and signatures stay as they are; who opened a launch does not sign it."""

from __future__ import annotations

from apps.core.triggers import Guard, refusal

_SQLITE, _POSTGRESQL = refusal("four eyes: who opened a launch does not sign it")
_KEPT_SQLITE, _KEPT_POSTGRESQL = refusal("evaluations, answers and signatures are kept as they are")

_OPENER = """EXISTS (SELECT 1 FROM launches_launch JOIN launches_evaluation
    ON launches_evaluation.launch_id = launches_launch.id
    WHERE launches_evaluation.id = NEW.evaluation_id AND launches_launch.opened_by_id = NEW.person_id)"""
_DEMO_OF_LAUNCH = """(SELECT is_demo FROM fleet_cluster JOIN launches_launch
    ON launches_launch.cluster_id = fleet_cluster.id WHERE launches_launch.id = OLD.launch_id)"""
_DEMO_OF_EVALUATION = """(SELECT is_demo FROM fleet_cluster JOIN launches_launch
    ON launches_launch.cluster_id = fleet_cluster.id JOIN launches_evaluation
    ON launches_evaluation.launch_id = launches_launch.id
    WHERE launches_evaluation.id = OLD.evaluation_id)"""


def _kept(table: str, demo: str, *, only: str = "") -> list[Guard]:
    """Rows of a table (those that fulfil `only`) are not changed, and removed only with a demonstration."""
    when = f"WHEN {only} " if only else ""
    both = f"{only} AND NOT {demo}" if only else f"NOT {demo}"
    return [
        Guard(
            name=f"{table}_no_update",
            table=table,
            sqlite=f"BEFORE UPDATE ON {table} {when}BEGIN {_KEPT_SQLITE} END",
            event="BEFORE UPDATE",
            when=only,
            body=_KEPT_POSTGRESQL,
        ),
        Guard(
            name=f"{table}_no_delete",
            table=table,
            sqlite=f"BEFORE DELETE ON {table} WHEN {both} BEGIN {_KEPT_SQLITE} END",
            event="BEFORE DELETE",
            when=only,
            body=f"IF NOT {demo} THEN {_KEPT_POSTGRESQL} END IF; RETURN OLD;",
        ),
    ]


GUARDS = [
    Guard(
        name="launches_opener",
        table="launches_signoff",
        sqlite=f"BEFORE INSERT ON launches_signoff WHEN {_OPENER} BEGIN {_SQLITE} END",
        event="BEFORE INSERT",
        body=f"IF {_OPENER} THEN {_POSTGRESQL} END IF; RETURN NEW;",
    ),
    *_kept("launches_evaluation", _DEMO_OF_LAUNCH, only="OLD.done_at IS NOT NULL"),
    *_kept("launches_answer", _DEMO_OF_LAUNCH),
    *_kept("launches_signoff", _DEMO_OF_EVALUATION),
]
