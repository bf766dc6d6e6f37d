"""Plan documents for tests: a small model that computes in milliseconds, and the 70B model of the story."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

SMALL: dict[str, Any] = {
    "model": {
        "layers": 8,
        "hidden": 1024,
        "ffn_hidden": 4096,
        "heads": 16,
        "kv_heads": 16,
        "vocab": 32000,
        "gated_mlp": True,
        "tied_embeddings": False,
    },
    "system": {"accelerator": "nvidia-gb200", "accelerators": 8, "domain_size": 8},
    "parallel": {
        "tp": 2,
        "pp": 2,
        "dp": 2,
        "micro_batch": 1,
        "global_batch": 16,
        "seq_len": 2048,
        "recompute": "selective",
        "zero": 1,
        "precision": "bf16",
    },
}
LARGE_SHAPE = {"layers": 80, "hidden": 8192, "ffn_hidden": 28672, "heads": 64, "kv_heads": 8, "vocab": 128256}
SEARCH: dict[str, Any] = {
    "model": SMALL["model"],
    "system": SMALL["system"],
    "global_batch": 16,
    "seq_len": 2048,
    "precision": "bf16",
    "top": 5,
}


def small(**parallel: Any) -> dict[str, Any]:
    """The small plan, with other parallel values."""
    document = deepcopy(SMALL)
    document["parallel"] |= parallel
    return document


def too_large() -> dict[str, Any]:
    """70 billion parameters on two accelerators, nothing sharded."""
    document = small(tp=2, pp=1, dp=1, zero=0)
    document["model"] |= LARGE_SHAPE
    document["system"] = {"accelerator": "nvidia-gb200", "accelerators": 2, "domain_size": 2}
    return document
