"""What-if: growth and shapes of the system, sensitivity, and calibration by own runs."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.core.errors import OutOfRange
from apps.planning.engine.calibration import Observation, calibrate
from apps.planning.engine.candidates import Limits
from apps.planning.engine.coefficients import shipped_coefficients
from apps.planning.engine.estimate import estimate
from apps.planning.engine.reading import read_plan
from apps.planning.engine.reading_search import read_search
from apps.planning.engine.scaling import Shape, bottleneck, compare_shapes, grow
from apps.planning.engine.search import SearchInput
from apps.planning.engine.sensitivity import scaled, sensitivity
from apps.planning.engine.system import Measured, peak_flops, rates
from apps.planning.engine.workload import Precision
from tests.apps.planning.engine.plans import DEEPSEEK_V3, LLAMA_70B, changed

LIMITS = Limits(max_tp=16, max_pp=32, max_vpp=4, max_micro_batch=4)


def wanted(document: dict[str, Any], *, cards: int = 144, domain: int = 144, batch: int = 288) -> SearchInput:
    return read_search(
        {
            "model": document["model"],
            "system": {
                "accelerator": document["system"]["accelerator"],
                "accelerators": cards,
                "domain_size": domain,
            },
            "global_batch": batch,
            "seq_len": 4096,
            "precision": document["parallel"]["precision"],
            "limits": {"max_tp": 16, "max_vpp": 4, "max_micro_batch": 4, "max_ep": 16},
        }
    )


def test_throughput_grows_with_cards_but_less_than_ideally() -> None:
    growth = grow(wanted(LLAMA_70B, cards=72, domain=72), [72, 144, 288], limits=LIMITS)
    rates = [point.tokens_per_s for point in growth.points]
    assert rates == sorted(rates)
    efficiencies = [point.efficiency for point in growth.points]
    assert efficiencies[0] == 1.0
    assert all(later <= earlier + 1e-9 for earlier, later in pairwise(efficiencies))
    assert growth.turns_negative_at is None


def test_adding_cards_to_a_fixed_batch_turns_negative_where_a_size_is_slower_than_the_one_before() -> None:
    search_ = wanted(LLAMA_70B, cards=72, domain=8, batch=72)
    growth = grow(search_, [72, 144, 288, 576, 1152, 2304, 4608], limits=LIMITS)
    rates = {point.accelerators: point.tokens_per_s for point in growth.points if point.best}
    slower = [big for small, big in pairwise(rates) if rates[big] < rates[small]]
    assert slower and growth.turns_negative_at == slower[0]
    assert rates[growth.peak_accelerators] == max(rates.values())


def test_a_batch_that_grows_with_the_cards_keeps_efficiency() -> None:
    search_ = wanted(LLAMA_70B, cards=72, domain=72)
    weak = grow(search_, [72, 288], limits=LIMITS, batch_per_card=2)
    strong = grow(search_, [72, 288], limits=LIMITS)
    assert weak.points[1].efficiency >= strong.points[1].efficiency - 1e-9


def test_a_size_at_which_nothing_fits_is_shown_as_such() -> None:
    growth = grow(wanted(LLAMA_70B, cards=72, domain=72), [4, 72], limits=LIMITS)
    assert growth.points[0].best is None and growth.points[0].tokens_per_s == 0
    assert growth.points[1].efficiency == 1.0


@pytest.mark.parametrize("document", [LLAMA_70B, DEEPSEEK_V3], ids=["dense", "moe"])
def test_a_full_domain_is_never_slower_and_convergence_never_faster(document: dict) -> None:
    joined = [
        Shape(name=f"{part} at {ratio}:1", domain_size=144, sub_domain_size=part, convergence=ratio)
        for part in (36, 24)
        for ratio in (1, 2, 4)
    ]
    shapes = (Shape(name="full", domain_size=144), *joined, Shape(name="hosts", domain_size=8))
    points = {p.shape: p.tokens_per_s for p in compare_shapes(wanted(document), shapes)}
    full = points["full"]
    assert all(rate <= full * (1 + 1e-9) for rate in points.values())
    for part in (36, 24):
        assert points[f"{part} at 1:1"] >= points[f"{part} at 2:1"] >= points[f"{part} at 4:1"]
    assert points["36 at 4:1"] >= points["24 at 4:1"]


def test_experts_gain_more_from_a_large_domain_than_a_dense_model() -> None:
    shapes = (Shape(name="supernode", domain_size=144), Shape(name="hosts", domain_size=8))

    def gain(document: dict) -> float:
        supernode, hosts = compare_shapes(wanted(document), shapes)
        return supernode.tokens_per_s / hosts.tokens_per_s

    assert gain(DEEPSEEK_V3) > gain(LLAMA_70B) >= 1.0


def test_the_bottleneck_is_the_largest_part_besides_compute() -> None:
    slow = read_plan(
        LLAMA_70B | {"system": LLAMA_70B["system"] | {"scale_up_gb_s": 20, "scale_out_gb_s": 50}}
    )
    assert bottleneck(estimate(slow)) == "tensor_parallel"


def test_sensitivity_puts_the_widest_swing_first_and_efficiency_helps() -> None:
    swings = sensitivity(read_plan(LLAMA_70B))
    widths = [swing.width_s for swing in swings]
    assert widths == sorted(widths, reverse=True)
    by_name = {swing.name: swing for swing in swings}
    assert swings[0].name == "matrix_efficiency"
    for name in ("scale_up_bandwidth", "scale_out_bandwidth", "matrix_efficiency", "memory_bandwidth"):
        assert by_name[name].raised_s <= by_name[name].lowered_s
    assert by_name["launch_time"].raised_s >= by_name["launch_time"].lowered_s


@pytest.mark.parametrize("precision", ["bf16", "fp8", "nvfp4"])
def test_no_efficiency_makes_products_faster_than_the_peak(precision: str) -> None:
    plan = read_plan(changed(DEEPSEEK_V3, precision=precision))
    peak = peak_flops(plan.system.accelerator, plan.workload.precision)
    for factor in (1.0, 2.0, 10.0):
        changed_plan, c = scaled(plan, shipped_coefficients(), "matrix_efficiency", factor)
        found = rates(changed_plan.system.accelerator, plan.workload.precision, c)
        assert found.matrix_flops <= peak and found.half_flops <= peak_flops(
            plan.system.accelerator, Precision.BF16
        )
    assert estimate(plan, scaled(plan, shipped_coefficients(), "matrix_efficiency", 10.0)[1]).mfu < 1.0


def test_without_runs_nothing_is_corrected() -> None:
    found = calibrate([])
    assert found.step_scale == 1.0 and found.runs == 0


@given(st.lists(st.floats(0.5, 2.0), min_size=1, max_size=30))
def test_the_factor_lies_between_the_prior_and_the_runs(ratios: list[float]) -> None:
    found = calibrate([Observation(predicted_s=1.0, measured_s=r) for r in ratios])
    mean = math.exp(sum(math.log(r) for r in ratios) / len(ratios))
    low, high = min(1.0, mean), max(1.0, mean)
    assert low - 1e-9 <= found.step_scale <= high + 1e-9
    assert found.spread < calibrate([]).spread


def test_many_runs_outweigh_the_prior_and_leaving_them_out_reverses_it() -> None:
    runs = [Observation(predicted_s=10, measured_s=12)] * 200
    assert calibrate(runs).step_scale == pytest.approx(1.2, rel=1e-3)
    assert calibrate(runs[:0]) == calibrate([])


def test_a_calibrated_plan_is_scaled_as_a_whole() -> None:
    plan = read_plan(LLAMA_70B)
    found = calibrate([Observation(predicted_s=10, measured_s=12)] * 5)
    system = replace(plan.system, measured=Measured(step_scale=found.step_scale))
    before, after = estimate(plan), estimate(replace(plan, system=system))
    assert after.iteration_time_s == pytest.approx(before.iteration_time_s * found.step_scale)
    assert after.memory == before.memory


def test_impossible_observations_are_refused() -> None:
    with pytest.raises(OutOfRange):
        Observation(predicted_s=0, measured_s=1)
    with pytest.raises(OutOfRange):
        grow(wanted(LLAMA_70B), [], limits=LIMITS)
