"""Micro-batches in flight: how many a stage keeps activations of, by pipeline schedule."""

from __future__ import annotations

import numpy as np

from apps.planning.engine.layouts import Floats, Ints, Layouts, Schedule


def in_flight(layouts: Layouts, stage: Ints) -> Floats:
    """Micro-batches whose activations the stage holds at its peak, as multiples of all its layers.

    GPipe keeps all m. 1F1B keeps min(m, p - i). Interleaving keeps min(m v, 2(p - i - 1) + (v - 1) p + 1)
    chunks of 1/v of the stage, which is p (1 + (p - 1)/(p v)) on stage 0. Zero-bubble keeps min(m, p + 1).
    Sources: Narayanan et al. 2021; Korthikanti et al. 2022; Qi et al. 2023.
    """
    m, p, v = layouts.micro_batches, layouts.pp, layouts.vpp
    plain = np.minimum(m, p - stage).astype(np.float64)
    chunks = np.minimum(m * v, 2 * (p - stage - 1) + (v - 1) * p + 1) / v
    zero_bubble = np.minimum(m, np.where(p > 1, p + 1, 1))
    return np.select(
        [
            layouts.schedule == Schedule.GPIPE,
            layouts.schedule == Schedule.INTERLEAVED,
            layouts.schedule == Schedule.ZERO_BUBBLE,
        ],
        [m.astype(np.float64), np.where(p > 1, chunks, plain), zero_bubble.astype(np.float64)],
        plain,
    )
