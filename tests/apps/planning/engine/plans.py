"""Plans that several tests start from."""

from __future__ import annotations

import copy
from typing import Any

GPT3_175B: dict[str, Any] = {
    "model": {
        "layers": 96,
        "hidden": 12288,
        "ffn_hidden": 49152,
        "heads": 96,
        "kv_heads": 96,
        "vocab": 51200,
        "gated_mlp": False,
        "tied_embeddings": True,
    },
    "system": {"accelerator": "nvidia-a100-sxm4-80gb", "accelerators": 64, "domain_size": 8},
    "parallel": {
        "tp": 8,
        "pp": 8,
        "vpp": 3,
        "dp": 1,
        "cp": 1,
        "ep": 1,
        "micro_batch": 1,
        "global_batch": 64,
        "seq_len": 2048,
        "recompute": "selective",
        "sequence_parallel": True,
        "zero": 0,
        "precision": "fp16",
    },
}

LLAMA_70B: dict[str, Any] = {
    "model": {
        "layers": 80,
        "hidden": 8192,
        "ffn_hidden": 28672,
        "heads": 64,
        "kv_heads": 8,
        "vocab": 128256,
        "gated_mlp": True,
        "tied_embeddings": False,
    },
    "system": {"accelerator": "nvidia-h100-sxm5-80gb", "accelerators": 128, "domain_size": 8},
    "parallel": {
        "tp": 8,
        "pp": 4,
        "vpp": 1,
        "dp": 4,
        "cp": 1,
        "ep": 1,
        "micro_batch": 1,
        "global_batch": 256,
        "seq_len": 8192,
        "recompute": "selective",
        "sequence_parallel": True,
        "zero": 1,
        "precision": "bf16",
    },
}

DEEPSEEK_V3: dict[str, Any] = {
    "model": {
        "layers": 61,
        "hidden": 7168,
        "ffn_hidden": 18432,
        "heads": 128,
        "vocab": 129280,
        "gated_mlp": True,
        "tied_embeddings": False,
        "experts": 256,
        "topk": 8,
        "expert_ffn_hidden": 2048,
        "shared_expert_ffn_hidden": 2048,
        "dense_layers": 3,
        "mtp_layers": 1,
        "mla": {
            "q_lora_rank": 1536,
            "kv_lora_rank": 512,
            "qk_nope_head_dim": 128,
            "qk_rope_head_dim": 64,
            "v_head_dim": 128,
        },
    },
    "system": {"accelerator": "nvidia-gb200", "accelerators": 256, "domain_size": 72},
    "parallel": {
        "tp": 1,
        "pp": 4,
        "vpp": 4,
        "dp": 64,
        "cp": 1,
        "ep": 64,
        "micro_batch": 1,
        "global_batch": 4096,
        "seq_len": 4096,
        "recompute": "selective",
        "sequence_parallel": False,
        "zero": 1,
        "precision": "fp8",
    },
}


def changed(plan: dict[str, Any], **parallel: Any) -> dict[str, Any]:
    """A copy of a plan with other parallel settings; `accelerators` goes to the system."""
    copied = copy.deepcopy(plan)
    for key, value in parallel.items():
        where = (
            "system"
            if key in ("accelerator", "accelerators", "domain_size", "scale_up_gb_s", "scale_out_gb_s")
            else "parallel"
        )
        copied[where][key] = value
    return copied
