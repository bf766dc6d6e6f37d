"""Pipeline: idle time while stages fill and drain, by schedule."""

from __future__ import annotations

import numpy as np

from apps.planning.engine.layouts import Floats, Layouts, Schedule

ZERO_BUBBLE_SHARE = 1.0 / 3.0  # ZB-H1: (p-1)(F+B-W) with F = B = W, against (p-1)(F+B+W); Qi et al. 2023


def bubble_micro_batches(layouts: Layouts) -> Floats:
    """Idle time in units of the mean stage's time for one micro-batch.

    p - 1 for GPipe and 1F1B, (p - 1)/v interleaved, a third with a zero-bubble schedule. Interleaving needs
    the micro-batches in multiples of p; what is missing to the next multiple idles too.
    """
    idle = (layouts.pp - 1) / np.where(layouts.schedule == Schedule.INTERLEAVED, layouts.vpp, 1)
    idle = idle * np.where(layouts.schedule == Schedule.ZERO_BUBBLE, ZERO_BUBBLE_SHARE, 1.0)
    short = (-layouts.micro_batches) % layouts.pp
    padded = np.where((layouts.schedule == Schedule.INTERLEAVED) & (layouts.pp > 1), short, 0)
    return idle + padded * (1.0 - 1.0 / layouts.vpp)


def bubble_share(*, stages: int, micro_batches: int, chunks: int = 1) -> float:
    """Idle share of the whole step: (p-1)/v over m + (p-1)/v, with equal stages."""
    idle = (stages - 1) / chunks
    return idle / (micro_batches + idle)


def bubble_overhead(*, stages: int, micro_batches: int, chunks: int = 1) -> float:
    """Idle time over ideal time: (p-1)/(v m)."""
    return (stages - 1) / (chunks * micro_batches)
