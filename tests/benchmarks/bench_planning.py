"""Candidates per second of the plan search on one core; fails below the bars.

Run: python tests/benchmarks/bench_planning.py
"""

from __future__ import annotations

import resource
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from apps.planning.engine.reading_search import read_search
from apps.planning.engine.search import search

GPT3_175B = {
    "layers": 96,
    "hidden": 12288,
    "ffn_hidden": 49152,
    "heads": 96,
    "vocab": 51200,
    "gated_mlp": False,
    "tied_embeddings": True,
}
DEEPSEEK_V3 = {
    "layers": 61,
    "hidden": 7168,
    "ffn_hidden": 18432,
    "heads": 128,
    "vocab": 129280,
    "experts": 256,
    "topk": 8,
    "expert_ffn_hidden": 2048,
    "shared_expert_ffn_hidden": 2048,
    "dense_layers": 3,
    "mla": {
        "q_lora_rank": 1536,
        "kv_lora_rank": 512,
        "qk_nope_head_dim": 128,
        "qk_rope_head_dim": 64,
        "v_head_dim": 128,
    },
}
MEMORY_LIMIT_BYTES = 10**9


@dataclass(frozen=True)
class Case:
    name: str
    document: dict[str, Any]
    least_candidates: int
    limit_s: float


CASES = (
    Case(
        "GPT-3 175B on 512 cards",
        {
            "model": GPT3_175B,
            "system": {"accelerator": "nvidia-a100-sxm4-80gb", "accelerators": 512, "domain_size": 8},
            "global_batch": 1536,
            "seq_len": 2048,
            "precision": "fp16",
        },
        50_000,
        1.0,
    ),
    Case(
        "671B mixture of experts on 16,384 cards with CP and EP",
        {
            "model": DEEPSEEK_V3,
            "system": {"accelerator": "nvidia-gb200", "accelerators": 16384, "domain_size": 72},
            "global_batch": 16384,
            "seq_len": 4096,
            "precision": "fp8",
            "limits": {"max_cp": 8},
        },
        50_000,
        5.0,
    ),
)


def measure(case: Case) -> bool:
    """Search once on a warm interpreter and print candidates per second; whether the bar is met."""
    started = time.process_time()
    found = search(read_search(case.document))
    spent = time.process_time() - started
    print(
        f"{case.name}: {found.candidates} candidates, {found.feasible} feasible, {spent:.3f} s, "
        f"{found.candidates / spent:,.0f} candidates/s"
    )
    return found.candidates >= case.least_candidates and spent < case.limit_s


def main() -> int:
    search(read_search(CASES[0].document))
    met = [measure(case) for case in CASES]
    used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    print(f"memory {used / 1e6:.0f} MB")
    return 0 if all(met) and used < MEMORY_LIMIT_BYTES else 1


if __name__ == "__main__":
    sys.exit(main())
