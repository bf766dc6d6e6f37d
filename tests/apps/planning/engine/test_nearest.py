"""Nearest layouts of a search that finds nothing, and what would make one fit: each claim is tried."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

from apps.planning.engine.coefficients import shipped_coefficients
from apps.planning.engine.memory import peak_bytes
from apps.planning.engine.nearest import PARTS, Remedy, shortfall
from apps.planning.engine.reading_search import read_search
from apps.planning.engine.search import SearchInput, by_sharding, runnable, search, workload_of
from tests.apps.planning.engine.plans import DEEPSEEK_V3, LLAMA_70B

TOO_SMALL: dict[str, Any] = {
    "model": LLAMA_70B["model"],
    "system": {"accelerator": "nvidia-h100-sxm5-80gb", "accelerators": 8, "domain_size": 8},
    "global_batch": 96,
    "seq_len": 4096,
    "precision": "bf16",
}
BOUND = TOO_SMALL | {
    "system": TOO_SMALL["system"] | {"accelerators": 16},
    "limits": {"recompute": ["none"], "zero": [0], "max_tp": 8, "max_pp": 1},
}
EXPERTS = TOO_SMALL | {"model": DEEPSEEK_V3["model"], "precision": "fp8"}


def least_peak(wanted: SearchInput) -> float:
    """Of every candidate, the least bytes on the fullest card."""
    least = np.inf
    for axes in (wanted.axes, *wanted.fewer):
        for block in axes.blocks():
            for part in by_sharding(runnable(wanted, block, axes.accelerators, {})):
                workload, _ = workload_of(wanted, part)
                least = min(least, peak_bytes(wanted.model, workload, part, shipped_coefficients()).min())
    return float(least)


def remedies(document: dict[str, Any]) -> dict[str, Remedy]:
    return {one.code: one for one in shortfall(read_search(document)).remedies}


@pytest.mark.parametrize("document", [TOO_SMALL, BOUND, EXPERTS], ids=["dense", "bound", "moe"])
def test_the_nearest_needs_the_least_memory_of_all_candidates(document: dict[str, Any]) -> None:
    wanted = read_search(document)
    assert search(wanted).feasible == 0
    nearest = shortfall(wanted).nearest
    assert nearest[0].stage.total_bytes == pytest.approx(least_peak(wanted))
    usable = wanted.system.capacity_bytes * 0.9
    assert [one.over_bytes for one in nearest] == sorted(one.over_bytes for one in nearest)
    for one in nearest:
        assert one.over_bytes == pytest.approx(one.stage.total_bytes - usable)
        parts = {part: getattr(one.stage, f"{part}_bytes") for part in PARTS}
        assert parts[one.largest_part] == max(parts.values())


def test_each_combination_of_sizes_is_named_once() -> None:
    nearest = shortfall(read_search(TOO_SMALL)).nearest
    sizes = [tuple(one.configuration[name] for name in ("tp", "pp", "cp", "ep")) for one in nearest]
    assert len(sizes) == len(set(sizes)) > 1


def test_more_cards_are_the_smallest_multiple_on_which_something_fits() -> None:
    found = remedies(TOO_SMALL)["accelerators"]
    system = TOO_SMALL["system"]

    def feasible(cards: float) -> int:
        return search(read_search(TOO_SMALL | {"system": system | {"accelerators": cards}})).feasible

    assert found.near.over_bytes <= 0 and found.near.accelerators == found.value
    assert feasible(found.value) > 0
    assert not any(feasible(cards) for cards in range(8, int(found.value), 8))


def test_cards_of_the_memory_that_is_named_would_do_and_smaller_ones_would_not() -> None:
    wanted, needed = read_search(TOO_SMALL), remedies(TOO_SMALL)["capacity_bytes"].value

    def feasible(memory_bytes: float) -> int:
        part = dataclasses.replace(wanted.system.accelerator, memory_bytes=memory_bytes)
        system = dataclasses.replace(wanted.system, accelerator=part)
        return search(dataclasses.replace(wanted, system=system)).feasible

    assert feasible(float(needed) * 1.0001) > 0
    assert feasible(float(needed) * 0.9999) == 0


@pytest.mark.parametrize("code", ["recompute", "zero"])
def test_what_the_search_was_not_given_helps_as_much_as_is_said(code: str) -> None:
    found = remedies(BOUND)[code]
    wider = {"recompute": {"recompute": ["none", "selective", "full"]}, "zero": {"zero": [0, 1, 2, 3]}}[code]
    wanted = read_search(BOUND | {"limits": BOUND["limits"] | wider})
    assert least_peak(wanted) == pytest.approx(found.near.stage.total_bytes)
    assert found.to_json()["fits"] == (search(wanted).feasible > 0)


def test_what_the_search_was_given_is_no_remedy() -> None:
    assert not {"recompute", "zero"} & set(remedies(TOO_SMALL))


def test_a_smaller_reserve_is_named_where_it_would_do() -> None:
    document = TOO_SMALL | {"system": TOO_SMALL["system"] | {"accelerators": 32}, "reserve_share": 0.85}
    share = float(remedies(document)["reserve_share"].value)
    assert search(read_search(document | {"reserve_share": share - 1e-6})).feasible > 0
    assert search(read_search(document | {"reserve_share": share + 1e-3})).feasible == 0


def test_where_nothing_runs_at_all_there_is_nothing_near() -> None:
    wanted = read_search(TOO_SMALL | {"global_batch": 3, "limits": {"max_tp": 1, "max_pp": 1}})
    assert shortfall(wanted).to_json() == {"nearest": [], "remedies": []}
