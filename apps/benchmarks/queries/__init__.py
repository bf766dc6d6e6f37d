"""Questions about benchmarks."""

from apps.benchmarks.queries.runs import (
    accelerators_of,
    acceptance_of,
    baseline_of,
    baselines_visible,
    comparable_runs,
    comparison_with,
    ladder_of,
    newest_whole_domain_run,
    newest_whole_domain_runs,
    run_for,
    runs_visible,
)
from apps.benchmarks.queries.soak import soak_of

__all__ = [
    "accelerators_of",
    "acceptance_of",
    "baseline_of",
    "baselines_visible",
    "comparable_runs",
    "comparison_with",
    "ladder_of",
    "newest_whole_domain_run",
    "newest_whole_domain_runs",
    "run_for",
    "runs_visible",
    "soak_of",
]
