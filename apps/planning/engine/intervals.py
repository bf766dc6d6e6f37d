"""Intervals: how far the prediction may be off, wider where inputs had to be assumed."""

from __future__ import annotations

from collections.abc import Iterable
from math import exp

from apps.planning.engine.coefficients import Coefficients


def half_width(defaulted: Iterable[str], coefficients: Coefficients, *, is_moe: bool) -> float:
    """Half width on a logarithmic scale, given the names of the uncertain inputs that are defaults.

    Layers with experts depend on dispatch and launch behind which software differs most, so they add a part.
    """
    c = coefficients
    width = c.interval_spread + (c.interval_moe if is_moe else 0.0)
    return width + c.interval_per_default * len(set(defaulted))


def interval(value_s: float, half: float) -> tuple[float, float]:
    """Low and high around a value, symmetric on a logarithmic scale."""
    return value_s * exp(-half), value_s * exp(half)
