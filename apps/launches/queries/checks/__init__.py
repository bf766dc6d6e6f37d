"""The automatic checks of the gate: one file for each subject, each check a function of a Subject."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

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


def evidence_ends(subject: Subject) -> list[datetime]:
    """When evidence that the checks rest on becomes too old for them; what is too old already is left out."""
    ends = [environments.reports_end(subject), benchmarks.benchmark_ends(subject)]
    return [end for end in ends if end is not None and end > subject.now]


__all__ = ["CHECKS", "Subject", "evidence_ends"]
