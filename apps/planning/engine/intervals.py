"""Intervals: how far the prediction may be off, wider where inputs had to be assumed."""

from __future__ import annotations

from collections.abc import Iterable
from math import exp

from apps.planning.engine.coefficients import Coefficients


def half_width(
    defaulted: Iterable[str], coefficients: Coefficients, *, is_moe: bool, validated: bool = True
) -> float:
    """Half width on a logarithmic scale, given the names of the uncertain inputs that are defaults.

    Layers with experts depend on dispatch and launch, where software differs most, so they add a part; so do
    cards of which no published run is part of the validation.
    """
    c = coefficients
    width = c.interval_spread + (c.interval_moe if is_moe else 0.0)
    width += 0.0 if validated else c.interval_unvalidated
    return width + c.interval_per_default * len(set(defaulted))


def interval(value_s: float, half: float) -> tuple[float, float]:
    """Low and high around a value, symmetric on a logarithmic scale."""
    return value_s * exp(-half), value_s * exp(half)
