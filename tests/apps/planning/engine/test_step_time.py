"""Step time: closed forms, limits, conservation and monotony."""

from __future__ import annotations

import dataclasses
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apps.catalogue.engine.accelerators import shipped_accelerators
from apps.core.errors import Invalid
from apps.planning.engine.coefficients import shipped_coefficients
from apps.planning.engine.collectives import (
    Fabric,
    all_reduce_s,
    all_to_all_s,
    fabric,
    gather_s,
    group,
    ring_all_reduce_s,
)
from apps.planning.engine.estimate import PlanInput, estimate
from apps.planning.engine.layouts import Layouts
from apps.planning.engine.pipeline import bubble_micro_batches, bubble_overhead, bubble_share
from apps.planning.engine.reading import read_plan
from apps.planning.engine.step_time import step_time
from tests.apps.planning.engine.plans import DEEPSEEK_V3, GPT3_175B, LLAMA_70B, changed
from tests.apps.planning.engine.test_memory import GOLDEN

NET = Fabric(
    domain_size=8,
    sub_domain_size=8,
    up_bytes_per_s=300e9,
    mid_bytes_per_s=300e9,
    out_bytes_per_s=25e9,
    up_hop_s=0.0,
    mid_hop_s=0.0,
    out_hop_s=0.0,
    start_s=0.0,
    small_start_s=1e9,
    small_up_hop_s=0.0,
    small_out_hop_s=0.0,
    small_payload_share=0.5,
)
PLANS = {"dense": GPT3_175B, "gqa": LLAMA_70B, "moe": DEEPSEEK_V3}


def plan(document: dict[str, Any], **parallel: Any) -> PlanInput:
    return read_plan(changed(document, **parallel))


def seconds(p: PlanInput) -> float:
    return float(step_time(p.model, p.system, p.workload, p.layout, shipped_coefficients()).total[0])


def ints(*values: int) -> np.ndarray:
    return np.array(values, dtype=np.int64)


def test_the_ring_closed_form_is_golden() -> None:
    golden = GOLDEN["all_reduce"]
    ring = golden["ring"]
    time = ring_all_reduce_s(
        size_bytes=ring["gb"] * 1e9, ranks=ring["ranks"], bandwidth_bytes_per_s=ring["gb_per_s"] * 1e9
    )
    assert time == pytest.approx(ring["seconds"], rel=1e-3)
    naive = golden["naive"]
    assert naive["gb"] / naive["gb_per_s"] == pytest.approx(naive["seconds"], rel=1e-3)


def test_an_all_reduce_inside_a_domain_is_the_ring() -> None:
    net = dataclasses.replace(NET, domain_size=144, sub_domain_size=144)
    time = all_reduce_s(np.array([140e9]), group(ints(144), ints(1), net), net)[0]
    assert time == pytest.approx(
        ring_all_reduce_s(size_bytes=140e9, ranks=144, bandwidth_bytes_per_s=300e9), rel=1e-12
    )


def test_a_group_of_one_costs_nothing() -> None:
    real = fabric(plan(GPT3_175B).system, shipped_coefficients())
    alone = group(ints(1), ints(1), real)
    size = np.array([1e9])
    assert all_reduce_s(size, alone, real)[0] == 0
    assert gather_s(size, alone, real)[0] == 0
    assert all_to_all_s(size, alone, real)[0] == 0


def test_tensor_groups_across_hosts_use_all_their_links() -> None:
    """16 ranks on two hosts of 8: 1/8 of the buffer crosses per NIC, not all of it."""
    size = 8e9
    time = all_reduce_s(np.array([size]), group(ints(16), ints(1), NET), NET)[0]
    inside = 2 * 7 / 8 * size / 300e9
    across = 2 * 1 / 2 * size / 8 / 25e9
    assert time == pytest.approx(inside + across, rel=1e-12)


def test_sub_domains_pay_their_convergence_ratio() -> None:
    base = dataclasses.replace(NET, domain_size=144, sub_domain_size=36)
    slow = dataclasses.replace(base, mid_bytes_per_s=300e9 / 4)
    size = np.array([8e9])
    wide = group(ints(144), ints(1), base)
    assert (wide.inside[0], wide.sub_domains[0], wide.domains[0]) == (36, 4, 1)
    assert gather_s(size, wide, slow)[0] > gather_s(size, wide, base)[0]
    narrow = group(ints(36), ints(1), base)
    assert gather_s(size, narrow, slow)[0] == gather_s(size, narrow, base)[0]


def test_a_small_all_reduce_is_bound_by_latency() -> None:
    real = fabric(plan(GPT3_175B).system, shipped_coefficients())
    members = group(ints(8), ints(1), real)
    time = all_reduce_s(np.array([16e3]), members, real)[0]
    assert 5e-6 < time < 30e-6


def test_in_network_reduction_sends_the_buffer_once() -> None:
    members = group(ints(8), ints(1), NET)
    time = all_reduce_s(np.array([3e11]), members, NET, in_network=True)[0]
    assert time == pytest.approx(1.0)


@pytest.mark.parametrize("row", GOLDEN["pipeline_bubble_1f1b"])
def test_the_bubble_share_is_golden(row: dict[str, Any]) -> None:
    assert bubble_share(stages=row["pp"], micro_batches=row["micro_batches"]) == pytest.approx(
        row["share"], rel=1e-3
    )
    over = bubble_overhead(stages=row["pp"], micro_batches=row["micro_batches"])
    assert over / (1 + over) == pytest.approx(row["share"], rel=1e-3)


def test_interleaving_divides_the_bubble_and_zero_bubble_cuts_it() -> None:
    layout = plan(GPT3_175B, vpp=1).layout.row(0)

    def idle(**over: int) -> float:
        return float(bubble_micro_batches(Layouts.single(**(layout | over)))[0])

    assert idle() == 7
    assert idle(vpp=4, schedule=2) == 7 / 4
    assert idle(schedule=3) == pytest.approx(7 / 3)
    assert idle(vpp=4, schedule=2, global_batch=60) > 7 / 4


@pytest.mark.parametrize("name", PLANS)
def test_the_parts_of_a_step_add_up(name: str) -> None:
    answer = estimate(plan(PLANS[name]))
    t = answer.time
    total = t.compute_s + t.tp_s + t.cp_s + t.ep_s + t.pp_s + t.dp_s + t.bubble_s + t.optimizer_s + t.other_s
    assert total == pytest.approx(answer.iteration_time_s, rel=1e-12)
    assert t.exposed_communication_s <= t.traffic_s + 0.1 * t.compute_s


@pytest.mark.parametrize("name", PLANS)
@settings(deadline=None, max_examples=25)
@given(factor=st.floats(1.0, 8.0), which=st.sampled_from(["up", "out"]))
def test_more_bandwidth_is_never_slower(name: str, factor: float, which: str) -> None:
    p = plan(PLANS[name])
    up = p.system.scale_up_bytes_per_s * (factor if which == "up" else 1)
    out = p.system.scale_out_bytes_per_s * (factor if which == "out" else 1)
    faster = dataclasses.replace(p.system, scale_up_bytes_per_s=up, scale_out_bytes_per_s=out)
    assert seconds(dataclasses.replace(p, system=faster)) <= seconds(p) * (1 + 1e-12)


@pytest.mark.parametrize("name", ["gqa", "moe"])
def test_a_larger_domain_is_never_slower(name: str) -> None:
    times = [seconds(plan(PLANS[name], domain_size=size)) for size in (4, 8, 16, 32, 64, 128)]
    assert all(later <= earlier * (1 + 1e-9) for earlier, later in pairwise(times))


@pytest.mark.parametrize(("domain", "waits"), [(64, False), (32, True), (8, True)])
def test_a_pipeline_waits_for_the_network_where_any_of_its_messages_leaves_the_domain(
    domain: int, waits: bool
) -> None:
    """TP4 PP16 on 64 cards: stages are neighbours inside of a domain, and cross it unless it holds all."""
    p = plan(GPT3_175B, tp=4, pp=16, vpp=1)
    system = dataclasses.replace(p.system, domain_size=domain)
    slow = dataclasses.replace(system, scale_out_bytes_per_s=system.scale_out_bytes_per_s / 2)
    ends = [seconds(dataclasses.replace(p, system=one)) for one in (system, slow)]
    assert (ends[1] > ends[0]) is waits


def test_a_faster_format_speeds_up_matrix_products_only() -> None:
    bf16, fp8 = (plan(LLAMA_70B, precision=name) for name in ("bf16", "fp8"))
    ratio = estimate(bf16).time.compute_s / estimate(fp8).time.compute_s
    assert 1.0 < ratio < 2.0
    assert estimate(bf16).time.pp_s == estimate(fp8).time.pp_s


def test_full_recomputation_costs_about_a_third_more_compute() -> None:
    none, full = (estimate(plan(GPT3_175B, recompute=level)) for level in ("none", "full"))
    assert 1.25 < full.time.compute_s / none.time.compute_s < 1.45
    assert full.hfu > full.mfu


def test_tensor_parallel_traffic_is_never_fully_hidden() -> None:
    assert estimate(plan(LLAMA_70B)).time.tp_s > 0


def test_compressed_gradients_send_less() -> None:
    plain = plan(LLAMA_70B, zero=0, tp=4, dp=8, overlap={"dp": False})
    times = [
        estimate(plan(LLAMA_70B, zero=0, tp=4, dp=8, overlap={"dp": False}, gradient_compression=c)).time.dp_s
        for c in ("none", "fp16", "int8", "int4")
    ]
    assert times[0] == estimate(plain).time.dp_s
    assert times == sorted(times, reverse=True)
    assert times[3] < times[0] / 4


def test_experts_over_more_domains_cost_more_all_to_all() -> None:
    inside = estimate(plan(DEEPSEEK_V3)).time.ep_s
    across = estimate(plan(DEEPSEEK_V3, domain_size=8)).time.ep_s
    limited = estimate(plan(DEEPSEEK_V3, domain_size=8, routed_domains=3)).time.ep_s
    assert inside < limited < across


def test_measured_bandwidth_replaces_the_default() -> None:
    document = changed(LLAMA_70B)
    document["system"]["measured"] = {"scale_up_busbw_gb_s": 100}
    slow = read_plan(document)
    assert fabric(slow.system, shipped_coefficients()).up_bytes_per_s == 100e9
    assert estimate(slow).time.tp_s > estimate(plan(LLAMA_70B)).time.tp_s


def test_uneven_stages_run_at_the_pace_of_the_heaviest() -> None:
    five, uneven, six = (estimate(_with_layers(layers)) for layers in (80, 81, 96))
    one_layer_s = six.time.compute_s - five.time.compute_s
    assert uneven.time.compute_s == pytest.approx(6 * one_layer_s, rel=1e-6)
    assert "uneven_stages" in {w.code for w in uneven.warnings}


def _with_layers(layers: int) -> PlanInput:
    document = changed(LLAMA_70B, pp=16, dp=1, global_batch=64)
    document["model"]["layers"] = layers
    return read_plan(document)


def test_traps_are_warned_about() -> None:
    codes = {w.code for w in estimate(plan(LLAMA_70B, tp=16, dp=2)).warnings}
    assert {"tp_leaves_domain", "kv_heads_repeated"} <= codes
    tight = {w.code for w in estimate(plan(LLAMA_70B, pp=1, dp=16, zero=0)).warnings}
    assert "does_not_fit" in tight


def test_a_bandwidth_of_both_directions_and_a_missing_replica_are_warned_about() -> None:
    codes = {w.code for w in estimate(plan(LLAMA_70B, scale_up_gb_s=900)).warnings}
    assert "bandwidth_both_ways" in codes
    assert "bandwidth_both_ways" not in {w.code for w in estimate(plan(LLAMA_70B)).warnings}
    alone = plan(LLAMA_70B, pp=16, dp=1, global_batch=64)
    assert "no_replicas" in {w.code for w in estimate(alone).warnings}
    assert estimate(alone).time.dp_s == 0


def test_experts_cut_by_tp_as_well_leave_the_domain() -> None:
    """TP 8, EP 64, PP 6, DP 128 fills 16 domains of 384; EP 64 fits one, TP 8 x EP 64 does not."""
    wide = plan(
        DEEPSEEK_V3,
        tp=8,
        ep=64,
        pp=6,
        dp=128,
        vpp=1,
        accelerators=6144,
        domain_size=384,
        global_batch=12288,
        sequence_parallel=True,
    )
    codes = {w.code for w in estimate(wide).warnings}
    assert "ep_with_tp_leaves_domain" in codes and "ep_leaves_domain" not in codes


def test_sharded_gradients_with_a_pipeline_are_unusual_but_estimated() -> None:
    answer = estimate(plan(LLAMA_70B, zero=3))
    assert "zero_with_pipeline" in {w.code for w in answer.warnings}
    assert answer.memory.peak_bytes < estimate(plan(LLAMA_70B, zero=1)).memory.peak_bytes


def test_latent_attention_may_be_given_in_symbols() -> None:
    document = changed(DEEPSEEK_V3)
    document["model"]["mla"] = {"r_q": 1536, "r_kv": 512, "d_nope": 128, "d_rope": 64, "d_v": 128}
    assert read_plan(document).model == plan(DEEPSEEK_V3).model


def test_hardware_without_published_runs_has_a_wider_interval() -> None:
    known, other = (
        estimate(plan(LLAMA_70B, accelerator=part))
        for part in ("nvidia-h100-sxm5-80gb", "huawei-ascend-910c")
    )
    assert "hardware_not_validated" in {w.code for w in other.warnings}
    assert "hardware_not_validated" not in {w.code for w in known.warnings}
    widths = [a.iteration_time_high_s / a.iteration_time_s for a in (known, other)]
    assert widths[1] > widths[0]


def test_a_format_that_the_card_lacks_is_refused() -> None:
    with pytest.raises(Invalid) as refused:
        plan(LLAMA_70B, accelerator="nvidia-v100-sxm2-32gb")
    assert refused.value.errors[0].pointer == "/parallel/precision"
    assert seconds(plan(LLAMA_70B, accelerator="nvidia-v100-sxm2-32gb", precision="fp16")) > 0


@pytest.mark.parametrize("part", sorted(shipped_accelerators()))
def test_every_card_of_the_catalogue_is_estimated_or_refused_by_name(part: str) -> None:
    try:
        answer = estimate(plan(LLAMA_70B, accelerator=part))
    except Invalid as refused:
        assert {e.pointer for e in refused.errors} <= {"/system/accelerator", "/parallel/precision"}
    else:
        assert 0 < answer.mfu < 1


def test_one_card_communicates_with_nobody() -> None:
    alone = plan(LLAMA_70B, tp=1, pp=1, dp=1, accelerators=1, global_batch=4, sequence_parallel=False)
    time = estimate(alone).time
    assert time.exposed_communication_s == 0 and time.traffic_s == 0 and time.bubble_s == 0


def test_measured_all_reduce_times_of_a_published_table_are_close() -> None:
    """8 A100 on NVSwitch: 64 MB in 580 us, 1 GB in 8.2 ms (vTrain tables)."""
    net = fabric(plan(GPT3_175B).system, shipped_coefficients())
    members = group(ints(8, 8), ints(1, 1), net)
    times = all_reduce_s(np.array([64.0 * 2**20, 2.0**30]), members, net)
    assert times[0] == pytest.approx(580e-6, rel=0.15)
    assert times[1] == pytest.approx(8.2e-3, rel=0.05)
