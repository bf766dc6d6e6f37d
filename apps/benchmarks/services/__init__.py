"""Decisions about benchmarks."""

from apps.benchmarks.services.runs import record_runs, set_baseline, state_collective

__all__ = ["record_runs", "set_baseline", "state_collective"]
