"""Coefficients: the general constants of the engine, each with its unit, origin and meaning."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, Self

import yaml

DATA = Path(__file__).resolve().parent.parent / "data" / "coefficients.yaml"


@dataclass(frozen=True, slots=True, kw_only=True)
class Coefficients:
    """One value each for all hardware, models and layouts; meanings and units are in the data file."""

    gemm_peak_share: float
    picojoule_per_flop_16: float
    picojoule_per_flop_8: float
    picojoule_per_flop_4: float
    power_sharpness: float
    wave_share: float
    memory_share: float
    flash_share: float
    eager_flash_share: float
    softmax_flops: float
    unfused_share: float
    elementwise_scale: float
    eager_scale: float
    quantise_bytes_8: float
    quantise_bytes_block: float
    quantise_bytes_4: float
    narrow_share_4: float
    launch_s: float
    moe_sync_s: float
    graph_host_share: float
    scale_up_share: float
    scale_out_share: float
    collective_start_s: float
    hop_up_s: float
    hop_out_s: float
    small_start_s: float
    small_up_hop_s: float
    small_out_hop_s: float
    small_payload_share: float
    tp_hidden_share: float
    dp_hidden_share: float
    ep_hidden_share: float
    cp_hidden_share: float
    pp_hidden_share: float
    window_slowdown: float
    jitter_per_doubling: float
    step_fixed_s: float
    interval_published: float
    interval_unpublished: float
    interval_moe: float
    interval_unvalidated: float
    interval_per_default: float
    context_bytes: float
    buffer_bytes_per_group: float
    fragmentation_share: float

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> Self:
        """Read the values of a data file; every field must be there, and nothing else."""
        rows = document["coefficients"]
        expected = {f.name for f in fields(cls)}
        if set(rows) != expected:
            raise ValueError(f"coefficients differ from the engine's: {sorted(set(rows) ^ expected)}")
        return cls(**{name: float(row["value"]) for name, row in rows.items()})


@cache
def document() -> Mapping[str, Any]:
    """The shipped data file."""
    return MappingProxyType(yaml.safe_load(DATA.read_text(encoding="utf-8")))


@cache
def shipped_coefficients() -> Coefficients:
    """The shipped values."""
    return Coefficients.from_document(document())


@cache
def default_scale_out(architecture: str) -> float:
    """Network bytes per second and card, one way, that systems of this architecture usually have."""
    table = document()["scale_out_bytes_per_s_by_architecture"]
    return float(table.get(architecture, table["other"]))
