"""The search: complete, counted, ranked, and the same as judging one configuration after the other."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from apps.core.errors import Invalid
from apps.planning.engine.coefficients import shipped_coefficients
from apps.planning.engine.estimate import estimate
from apps.planning.engine.operations import power_figure
from apps.planning.engine.reading import read_plan
from apps.planning.engine.reading_search import read_search
from apps.planning.engine.search import Objective, SearchInput, plan_of, search
from apps.planning.engine.step_time import step_time
from apps.planning.engine.token_cost import TokenPrices, cost_per_million_tokens
from tests.apps.planning.engine.plans import DEEPSEEK_V3, GPT3_175B, LLAMA_70B

SMALL = {
    "model": LLAMA_70B["model"],
    "system": {"accelerator": "nvidia-h100-sxm5-80gb", "accelerators": 144, "domain_size": 72},
    "global_batch": 144,
    "seq_len": 4096,
    "precision": "bf16",
}

UP_TO_144 = SMALL | {"limits": {"min_accelerators": 16}}


def test_every_candidate_is_counted_once() -> None:
    found = search(read_search(SMALL))
    assert found.candidates == found.feasible + sum(found.rejected.values())
    assert found.feasible > 0
    assert found.rejected["out_of_memory"] > 0


@pytest.mark.parametrize("document", [GPT3_175B, DEEPSEEK_V3], ids=["dense", "moe"])
def test_results_are_those_of_judging_one_by_one(document: dict) -> None:
    wanted = read_search(
        {
            "model": document["model"],
            "system": document["system"] | {"accelerators": 256},
            "global_batch": 512,
            "seq_len": 4096,
            "precision": document["parallel"]["precision"],
            "limits": {"max_cp": 2},
        }
    )
    table = search(wanted).table
    for position in range(0, len(table), max(1, len(table) // 200)):
        plan = plan_of(wanted, table.layouts, position)
        alone = step_time(plan.model, plan.system, plan.workload, plan.layout, shipped_coefficients())
        assert alone.total[0] == table.step_s[position]
        whole = estimate(plan)
        assert whole.memory.peak_bytes == table.peak_bytes[position]
        tokens = 512 * 4096
        assert whole.energy_j_per_token == table.energy_j[position] / tokens


def test_the_best_configuration_is_what_plan_estimate_says_of_it() -> None:
    best = search(read_search(SMALL)).best[0]
    parallel = best.configuration | {"seq_len": 4096, "precision": "bf16"}
    again = estimate(read_plan({"model": SMALL["model"], "system": SMALL["system"], "parallel": parallel}))
    assert again.iteration_time_s == best.iteration_time_s
    assert again.memory.peak_bytes == best.memory.peak_bytes


def test_results_are_ordered_by_the_objective() -> None:
    fastest = search(read_search(SMALL)).table
    roomiest = search(read_search(SMALL | {"objective": Objective.MEMORY_HEADROOM})).table
    assert (np.diff(fastest.step_s) >= 0).all()
    assert (np.diff(roomiest.peak_bytes) >= 0).all()
    thriftiest = search(read_search(SMALL | {"objective": Objective.ENERGY})).table
    cheapest = search(read_search(SMALL | {"objective": Objective.COST})).table
    assert (np.diff(thriftiest.energy_j) >= 0).all()
    assert (np.diff(cheapest.step_s) >= 0).all(), (
        "all cards and no price of energy: time is what a token costs"
    )
    assert len(fastest) == len(roomiest) == len(thriftiest)
    assert (np.diff(thriftiest.step_s) < 0).any(), "a faster layout that computes more may draw more"


def test_with_a_price_of_energy_the_cheapest_are_not_the_fastest() -> None:
    asked = SMALL | {"objective": Objective.COST, "prices": {"accelerator_hour": 0.01, "kwh": 1.0}}
    table = search(read_search(asked)).table
    assert (np.diff(table.cost) >= 0).all()
    assert (np.diff(table.step_s) < 0).any()


def test_up_to_all_cards_tries_smaller_numbers_and_64_of_72() -> None:
    found = search(read_search(UP_TO_144))
    used = set(found.table.layouts.accelerators.tolist())
    assert {144, 128, 72, 64} <= used <= set(range(16, 145))
    assert found.candidates == found.feasible + sum(found.rejected.values())


def test_with_fewer_cards_each_objective_has_its_own_best() -> None:
    best = {
        objective: search(read_search(UP_TO_144 | {"objective": objective})).table
        for objective in (Objective.TOKENS_PER_S, Objective.COST, Objective.ENERGY)
    }
    fastest, cheapest, thriftiest = best.values()
    cards = [int(table.layouts.accelerators[0]) for table in best.values()]
    assert cards[0] == 144 and cards[1] < 144 and cards[2] < 144
    assert cheapest.cost[0] < fastest.cost[0] and thriftiest.energy_j[0] < fastest.energy_j[0]
    assert fastest.step_s[0] < min(cheapest.step_s[0], thriftiest.step_s[0])


def test_the_list_holds_the_best_with_each_number_of_cards() -> None:
    found = search(read_search(UP_TO_144 | {"top": 3}))
    counts = found.table.layouts.accelerators
    listed = {int(counts[place]) for place in found.listed}
    assert listed == set(counts.tolist())
    for count in listed:
        first = min(place for place in found.listed if counts[place] == count)
        assert found.table.step_s[first] == found.table.step_s[counts == count].min()


def test_a_configuration_on_fewer_cards_is_a_plan_on_as_many() -> None:
    wanted = read_search(UP_TO_144 | {"objective": Objective.COST})
    table = search(wanted).table
    plan = plan_of(wanted, table.layouts, 0)
    assert plan.system.accelerators == plan.layout.accelerators[0] < 144
    alone = read_search(SMALL | {"system": SMALL["system"] | {"accelerators": plan.system.accelerators}})
    assert estimate(plan).iteration_time_s in search(alone).table.step_s


def test_the_cost_of_tokens_is_hours_and_energy_at_their_prices() -> None:
    cost = cost_per_million_tokens(
        TokenPrices(accelerator_hour=2.0, kwh=0.1),
        accelerators=np.array([8]),
        step_s=np.array([3600.0]),
        energy_j=np.array([36e6]),
        tokens=1_000_000,
    )
    assert cost == pytest.approx([8 * 2.0 + 10 * 0.1])


def test_a_step_draws_no_more_than_full_load_and_no_less_than_waiting() -> None:
    wanted = read_search(SMALL)
    table = search(wanted).table
    full_w = 144 * 700.0
    hosts, waiting = power_figure("node_overhead_share"), power_figure("waiting_share")
    assert (table.energy_j < full_w * (1 + hosts) * table.step_s).all()
    assert (table.energy_j > full_w * (waiting + hosts) * table.step_s).all()


def test_no_configuration_beats_one_on_the_pareto_front() -> None:
    table = search(read_search(SMALL)).table
    front = table.pareto()
    for position in front:
        better = (table.step_s <= table.step_s[position]) & (table.peak_bytes < table.peak_bytes[position])
        assert not better.any()
    assert front[0] == 0


def test_the_ablations_for_144_cards_are_among_the_candidates() -> None:
    wanted = read_search(SMALL)
    seen = set()
    for block in wanted.axes.blocks():
        seen |= set(zip(block.tp.tolist(), block.pp.tolist(), block.dp.tolist(), strict=True))
    assert {(8, 18, 1), (16, 9, 1), (8, 9, 2)} <= seen


def test_nothing_fits_when_the_model_is_too_large() -> None:
    system = {"accelerator": "nvidia-h100-sxm5-80gb", "accelerators": 8, "domain_size": 8}
    found = search(read_search(SMALL | {"system": system}))
    assert found.feasible == 0 and found.best == ()
    assert found.candidates == sum(found.rejected.values())


def test_progress_is_reported_to_the_end_and_can_stop_the_search() -> None:
    calls: list[tuple[int, int]] = []
    search(read_search(SMALL), on_progress=lambda done, total: calls.append((done, total)))
    assert calls[-1][0] == calls[-1][1] == read_search(SMALL).axes.count

    class Cancelled(Exception):
        pass

    def stop(done: int, total: int) -> None:
        raise Cancelled

    with pytest.raises(Cancelled):
        search(read_search(SMALL), on_progress=stop)


def test_more_memory_is_never_less_feasible() -> None:
    wanted = read_search(SMALL)
    part = wanted.system.accelerator
    counts = []
    for factor in (0.5, 1.0, 1.5, 2.0):
        larger = dataclasses.replace(part, memory_bytes=part.memory_bytes * factor)
        system = dataclasses.replace(wanted.system, accelerator=larger)
        counts.append(search(dataclasses.replace(wanted, system=system)).feasible)
    assert counts == sorted(counts) and counts[0] < counts[-1]


def test_limits_narrow_the_search() -> None:
    wanted: SearchInput = read_search(
        SMALL | {"limits": {"max_tp": 8, "recompute": ["full"], "zero": [1], "placement": ["tp-cp-dp-pp"]}}
    )
    found = search(wanted)
    assert set(found.table.layouts.recompute.tolist()) == {2}
    assert set(found.table.layouts.zero.tolist()) == {1}
    assert found.table.layouts.tp.max() <= 8


@pytest.mark.parametrize(
    ("change", "pointer"),
    [
        ({"global_batch": 0}, "/global_batch"),
        ({"precision": "int8"}, "/precision"),
        ({"limits": {"zero": [4]}}, "/limits/zero"),
        ({"objective": "beauty"}, "/objective"),
        ({"limits": {"min_accelerators": 145}}, "/limits/min_accelerators"),
        ({"limits": {"min_accelerators": 0}}, "/limits/min_accelerators"),
        ({"prices": {"accelerator_hour": 0}}, "/prices/accelerator_hour"),
        ({"prices": {"kwh": -0.1}}, "/prices/kwh"),
        ({"prices": 3}, "/prices"),
        ({"system": {"accelerator": "abacus", "accelerators": 8}}, "/system/accelerator"),
    ],
)
def test_a_bad_search_is_refused_with_its_pointer(change: dict, pointer: str) -> None:
    with pytest.raises(Invalid) as refused:
        read_search(SMALL | change)
    assert pointer in [error.pointer for error in refused.value.errors]
