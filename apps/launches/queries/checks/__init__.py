"""The automatic checks of the gate: one file for each subject, each check a function of a Subject."""

from __future__ import annotations

from collections.abc import Callable

from apps.launches.engine.checklist import Found
from apps.launches.queries.checks import benchmarks, environments, health, nodes, plans
from apps.launches.queries.checks.subject import Subject

CHECKS: dict[str, Callable[[Subject], Found]] = {
    "nodes_free": nodes.nodes_free,
    "nodes_healthy": health.nodes_healthy,
    "no_open_change": nodes.no_open_change,
    "upkeep_done": nodes.upkeep_done,
    "matrix_locked": environments.matrix_locked,
    "no_drift": environments.no_drift,
    "job_environment": environments.job_environment,
    "benchmark_accepted": benchmarks.benchmark_accepted,
    "plan_fits": plans.plan_fits,
    "placement_sound": plans.placement_sound,
}

__all__ = ["CHECKS", "Subject"]
