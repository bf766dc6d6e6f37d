"""Simulation: goodput of a long run with random failures, beside the closed form."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from apps.core.errors import OutOfRange
from apps.core.texts import say
from apps.planning.engine.reliability import Checkpointing, FailureModel


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulatedGoodput:
    """Useful share of time over many runs: mean, and the 5th and 95th percentile."""

    mean: float
    low: float
    high: float
    failures_per_run: float


def simulate_goodput(
    model: FailureModel,
    saving: Checkpointing,
    *,
    interval_s: float,
    period_s: float,
    runs: int = 400,
    seed: int = 1,
) -> SimulatedGoodput:
    """Draw times between failures and add up what each stretch keeps.

    Between two failures a run restarts, then works in cycles of `interval_s` that end with a save; work is kept
    once its save has drained. The seed makes results repeatable.
    """
    if interval_s < saving.shortest_interval_s or period_s <= 0 or runs < 1:
        raise OutOfRange(say("the interval must allow the drain, and period and runs must be above zero"))
    generator = np.random.default_rng(seed)
    remaining = np.full(runs, period_s)
    useful, failures = np.zeros(runs), np.zeros(runs)
    first = True
    unsafe = max(0.0, saving.drain_s - saving.stall_s)
    while (remaining > 0).any():
        mean = model.mtbf_s if np.isfinite(model.mtbf_s) else 1e6 * period_s
        until = generator.exponential(mean, runs)
        ended = until >= remaining
        stretch = np.minimum(until, remaining)
        working = np.maximum(0.0, stretch - (0.0 if first else saving.restart_s))
        kept = np.floor(np.maximum(0.0, working - unsafe) / interval_s) * (interval_s - saving.stall_s)
        unharmed = working * (1.0 - saving.stall_s / interval_s)
        active = remaining > 0
        useful += np.where(active, np.where(ended, unharmed, kept), 0.0)
        failures += active & ~ended
        remaining = np.where(active, remaining - stretch, 0.0)
        first = False
    shares = useful / period_s
    return SimulatedGoodput(
        mean=float(shares.mean()),
        low=float(np.quantile(shares, 0.05)),
        high=float(np.quantile(shares, 0.95)),
        failures_per_run=float(failures.mean()),
    )
