"""Workload and training options: what is the same for all configurations that are looked at together."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Framework(StrEnum):
    """Training framework, for its defaults of gradients and sharding."""

    MEGATRON = "megatron"
    DEEPSPEED = "deepspeed"
    FSDP = "fsdp"


class Precision(StrEnum):
    """Number format of the matrix products."""

    FP16 = "fp16"
    BF16 = "bf16"
    FP8 = "fp8"  # one scale per tensor
    MXFP8 = "mxfp8"  # one scale per block of 32
    NVFP4 = "nvfp4"


class AttentionKernel(StrEnum):
    """How scores are handled: kept in memory, or streamed (FlashAttention, cuDNN)."""

    UNFUSED = "unfused"
    FLASH = "flash"


@dataclass(frozen=True, slots=True, kw_only=True)
class Workload:
    """Sequence length in tokens, number formats and options of one training job.

    `gradient_bytes` is per parameter, `compressed_gradient_bytes` what of it is sent. `imbalance` is tokens of
    the busiest expert rank over the mean. `overlap_*` say whether that traffic is hidden behind compute.
    """

    seq_len: int
    precision: Precision
    framework: Framework = Framework.MEGATRON
    attention: AttentionKernel = AttentionKernel.FLASH
    dropout: bool = False
    fused_cross_entropy: bool = True
    gradient_bytes: float = 4.0
    sent_gradient_bytes: float = 4.0
    imbalance: float = 1.0
    routed_domains: int | None = None
    in_network_reduction: bool = False
    graphs: bool = False
    overlap_tp: bool = True
    overlap_dp: bool = True
    overlap_pp: bool = True
    overlap_cp: bool = True
    overlap_ep: bool = False
    reserve_share: float = 0.10
