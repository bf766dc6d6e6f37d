"""DeepSpeed: the JSON configuration for a plan. Overlap options stand inside zero_optimization."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from apps.planning.engine.estimate import PlanInput
from apps.planning.engine.snippets.options import require_known
from apps.planning.engine.workload import Precision

LEAST_BUCKET, MOST_BUCKET = 500_000_000, 1_000_000_000  # elements
FAST_NETWORK_BYTES_PER_S = 50e9


def deepspeed_config(plan: PlanInput) -> dict[str, Any]:
    """The configuration as plain values.

    Buckets are 5e8 elements, 1e9 where the network is fast enough to wait for larger messages. Precision below
    16 bit is the model's business, so such plans train in bf16 here.
    """
    row = plan.layout.row(0)
    stage = int(row["zero"])
    half = "fp16" if plan.workload.precision is Precision.FP16 else "bf16"
    fast = plan.system.scale_out_bytes_per_s >= FAST_NETWORK_BYTES_PER_S
    bucket = MOST_BUCKET if fast else LEAST_BUCKET
    zero: dict[str, Any] = {
        "stage": stage,
        "overlap_comm": plan.workload.overlap_dp,
        "contiguous_gradients": True,
        "reduce_scatter": True,
        "reduce_bucket_size": bucket,
        "allgather_partitions": True,
        "allgather_bucket_size": bucket,
    }
    if stage == 3:
        zero["stage3_prefetch_bucket_size"] = bucket
    config = {
        "train_batch_size": int(row["global_batch"]),
        "train_micro_batch_size_per_gpu": int(row["micro_batch"]),
        "gradient_accumulation_steps": int(plan.layout.micro_batches[0]),
        half: {"enabled": True},
        "zero_optimization": zero,
    }
    require_known("deepspeed", _paths(config))
    return config


def deepspeed_json(plan: PlanInput) -> str:
    """The configuration as text."""
    return json.dumps(deepspeed_config(plan), indent=2)


def _paths(config: Mapping[str, Any], above: str = "") -> Iterator[str]:
    for key, value in config.items():
        yield above + key
        if isinstance(value, Mapping):
            yield from _paths(value, f"{above}{key}.")
