"""Buffers: memory beside the model itself: context, communicators, gathered layers, fragmentation."""

from __future__ import annotations

import numpy as np

from apps.planning.engine.coefficients import Coefficients
from apps.planning.engine.layouts import Floats, Layouts
from apps.planning.engine.parameters import RankParameters
from apps.planning.engine.states import WEIGHT_BYTES

GATHERED_LAYERS = 2  # the layer at work and the one fetched ahead


def buffer_bytes(
    parameters: RankParameters, activations: Floats, layouts: Layouts, coefficients: Coefficients
) -> Floats:
    """Bytes on one rank: driver context, one set of buffers per communicator, layers that ZeRO-3 gathers,
    and the share of activations that the allocator cannot use again."""
    groups = sum((size > 1).astype(np.int64) for size in (layouts.tp, layouts.pp, layouts.data_ranks))
    groups = groups + (layouts.cp > 1) + (layouts.ep > 1)
    gathered = np.where(layouts.zero == 3, GATHERED_LAYERS * WEIGHT_BYTES, 0.0) * parameters.largest_layer
    return (
        coefficients.context_bytes
        + groups * coefficients.buffer_bytes_per_group
        + gathered
        + activations * coefficients.fragmentation_share
    )
