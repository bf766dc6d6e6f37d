"""States: bytes per parameter of weights, gradients and optimizer on one rank, by ZeRO stage.

Mixed-precision Adam is 16 bytes per parameter: 2 weights, 2 gradients, 4 master, 8 moments. Megatron-LM
accumulates gradients in fp32 (18), its distributed optimizer is 6 + 12/D. Source: Rajbhandari et al. 2019.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from apps.planning.engine.layouts import Floats, Layouts
from apps.planning.engine.parameters import RankParameters

WEIGHT_BYTES = 2.0
OPTIMIZER_BYTES = 12.0
CHECKPOINT_BYTES = WEIGHT_BYTES + OPTIMIZER_BYTES


@dataclass(frozen=True, slots=True, kw_only=True)
class StateBytes:
    """Bytes on one rank."""

    weights: Floats
    gradients: Floats
    optimizer: Floats


def state_bytes(parameters: RankParameters, layouts: Layouts, *, gradient_bytes: float) -> StateBytes:
    """Bytes of the states; `gradient_bytes` is per parameter (4 for fp32, 2 for 16 bit).

    Stage 1 shards the optimizer, stage 2 the gradients too, stage 3 the weights too: dense parameters over
    dp x cp ranks, experts over their own data ranks.
    """
    dense_ranks, expert_ranks = layouts.data_ranks, layouts.expert_data_ranks

    def sharded(bytes_per_param: float, from_stage: int) -> Floats:
        cut = layouts.zero >= from_stage
        dense = parameters.dense / np.where(cut, dense_ranks, 1)
        experts = parameters.experts / np.where(cut, expert_ranks, 1)
        return bytes_per_param * (dense + experts)

    return StateBytes(
        weights=sharded(WEIGHT_BYTES, 3),
        gradients=sharded(gradient_bytes, 2),
        optimizer=sharded(OPTIMIZER_BYTES, 1),
    )


def bytes_per_param(*, zero: int, data_ranks: int, gradient_bytes: float) -> float:
    """Bytes per parameter on one rank, for showing: 6 + 12/D with fp32 gradients and ZeRO 1."""
    shards = [data_ranks if zero >= stage else 1 for stage in (3, 2, 1)]
    return WEIGHT_BYTES / shards[0] + gradient_bytes / shards[1] + OPTIMIZER_BYTES / shards[2]
