"""Calibration: the cluster's own runs correct the prediction, weighed against a prior.

Each run gives the logarithm of measured over predicted step time. With a normal prior around 0 and normal noise
the posterior is in closed form, so a version is a function of its runs alone: leaving one out reverses it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, log, sqrt

from apps.core.errors import OutOfRange
from apps.core.texts import say

PRIOR_SPREAD = 0.10  # ln: how far the engine may be off on a new cluster
NOISE_SPREAD = 0.05  # ln: from run to run


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """One run: seconds per step as predicted without any calibration, and as measured."""

    predicted_s: float
    measured_s: float

    def __post_init__(self) -> None:
        if self.predicted_s <= 0 or self.measured_s <= 0:
            raise OutOfRange(say("step times must be above zero"))

    @property
    def log_ratio(self) -> float:
        """ln(measured / predicted)."""
        return log(self.measured_s / self.predicted_s)


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """Factor on step times and its spread (ln), and how many runs it rests on."""

    step_scale: float
    spread: float
    runs: int


def calibrate(observations: Sequence[Observation]) -> Calibration:
    """Posterior of the factor on step times: without runs it is 1, with many their geometric mean."""
    return calibrated(sum(o.log_ratio for o in observations), len(observations))


def calibrated(log_ratio_sum: float, runs: int) -> Calibration:
    """The same from the sum of the runs' logarithms, so that one more or less needs no look at the others."""
    precision = 1.0 / PRIOR_SPREAD**2 + runs / NOISE_SPREAD**2
    mean = log_ratio_sum / NOISE_SPREAD**2 / precision
    return Calibration(step_scale=exp(mean), spread=sqrt(1.0 / precision), runs=runs)
