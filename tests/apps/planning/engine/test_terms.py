"""Every figure of an estimate has its formula."""

from __future__ import annotations

from typing import Any

from apps.planning.engine.estimate import estimate
from apps.planning.engine.reading import read_plan
from apps.planning.engine.terms import TERMS
from tests.apps.planning.engine.plans import GPT3_175B


def test_every_part_of_memory_and_time_is_explained() -> None:
    answer: dict[str, Any] = estimate(read_plan(GPT3_175B)).to_json()
    sums = {"stage", "layers", "total_bytes", "exposed_communication_s", "traffic_s"}
    parts = {f"memory.{key}" for key in answer["memory"]["stages"][0] if key not in sums}
    parts |= {f"time.{key}" for key in answer["time"] if key not in sums}
    explained = {term.key for term in TERMS}
    assert parts <= explained
    assert explained - parts == {"mfu", "hfu", "energy_j_per_token"}
