"""Calibration: the cluster's own runs correct the prediction, weighed against a prior.

Each run gives the logarithm of measured over predicted step time. With a normal prior around 0 and normal noise
the posterior is in closed form, so a version is a function of its runs alone: leaving one out reverses it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import exp, log, sqrt

from apps.core.errors import OutOfRange
from apps.planning.engine.estimate import PlanInput
from apps.planning.engine.system import Measured

PRIOR_SPREAD = 0.10  # ln: how far the engine may be off on a new cluster
NOISE_SPREAD = 0.05  # ln: from run to run
LARGE_MESSAGE_BYTES = 2**28


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """One run: seconds per step as predicted without any calibration, and as measured."""

    predicted_s: float
    measured_s: float
    label: str = ""

    def __post_init__(self) -> None:
        if self.predicted_s <= 0 or self.measured_s <= 0:
            raise OutOfRange("step times must be above zero")

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


def calibrate(
    observations: Sequence[Observation], *, prior: float = PRIOR_SPREAD, noise: float = NOISE_SPREAD
) -> Calibration:
    """Posterior of the factor on step times: without runs it is 1, with many their geometric mean."""
    if prior <= 0 or noise <= 0:
        raise OutOfRange("spreads must be above zero")
    precision = 1.0 / prior**2 + len(observations) / noise**2
    mean = sum(o.log_ratio for o in observations) / noise**2 / precision
    return Calibration(step_scale=exp(mean), spread=sqrt(1.0 / precision), runs=len(observations))


def apply(plan: PlanInput, calibration: Calibration) -> PlanInput:
    """The plan predicted with the calibration; other measured figures stay."""
    measured = replace(plan.system.measured, step_scale=calibration.step_scale)
    return replace(plan, system=replace(plan.system, measured=measured))


@dataclass(frozen=True, slots=True, kw_only=True)
class BusPoint:
    """One line of nccl-tests: message size and bus bandwidth, and whether the group left its domain."""

    size_bytes: float
    bus_bytes_per_s: float
    across_domains: bool


def measured_bandwidth(points: Sequence[BusPoint], *, source: str) -> Measured:
    """Reachable bandwidths from bus-bandwidth tests: the median over large messages, inside and across."""
    inside = [p.bus_bytes_per_s for p in points if _is_large(p) and not p.across_domains]
    across = [p.bus_bytes_per_s for p in points if _is_large(p) and p.across_domains]
    return Measured(
        scale_up_bytes_per_s=_median(inside), scale_out_bytes_per_s=_median(across), source=source
    )


def _is_large(point: BusPoint) -> bool:
    return point.size_bytes >= LARGE_MESSAGE_BYTES


def _median(values: Sequence[float]) -> float | None:
    if not values:
        return None
    ordered = sorted(values)
    middle = len(ordered) // 2
    return ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2.0
