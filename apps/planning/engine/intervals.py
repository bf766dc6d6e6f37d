"""Intervals: how far the prediction may be off. Wider where nobody published such runs, or inputs were assumed."""

from __future__ import annotations

from collections.abc import Iterable
from math import exp

from apps.planning.engine.coefficients import Coefficients
from apps.planning.engine.kinds import Kind, is_validated


def half_width(defaulted: Iterable[str], coefficients: Coefficients, *, kind: Kind, published: bool) -> float:
    """Half width on a logarithmic scale, given the names of the uncertain inputs that are defaults.

    published: whether somebody published runs of this kind. Either width is how far off runs are whose source the
    fit has not seen. Layers with experts, where software differs most, add a part, and so do cards of which no run
    was published.
    """
    c = coefficients
    width = c.interval_published if published else c.interval_unpublished
    width += c.interval_moe if kind.experts else 0.0
    width += 0.0 if is_validated(kind.architecture) else c.interval_unvalidated
    return width + c.interval_per_default * len(set(defaulted))


def interval(value_s: float, half: float) -> tuple[float, float]:
    """Low and high around a value, symmetric on a logarithmic scale."""
    return value_s * exp(-half), value_s * exp(half)
