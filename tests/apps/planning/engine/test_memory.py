"""The memory ledger against published figures, closed forms and laws that must hold."""

from __future__ import annotations

from itertools import pairwise
from math import ceil
from pathlib import Path

import numpy as np
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from apps.planning.engine.activations import layer_activations
from apps.planning.engine.coefficients import shipped_coefficients
from apps.planning.engine.estimate import PlanInput, memory_ledger
from apps.planning.engine.flight import in_flight
from apps.planning.engine.layouts import Layouts, Recompute, Schedule
from apps.planning.engine.memory import peak_bytes, stage_memory
from apps.planning.engine.parameters import rank_parameters
from apps.planning.engine.reading import read_plan
from apps.planning.engine.stages import content, first_layer
from apps.planning.engine.states import bytes_per_param
from tests.apps.planning.engine.plans import DEEPSEEK_V3, GPT3_175B, LLAMA_70B, changed

GOLDEN = yaml.safe_load((Path(__file__).parents[3] / "golden" / "domain_values.yaml").read_text())
GIB = 2**30


def plan(document: dict, **parallel: object) -> PlanInput:
    return read_plan(changed(document, **parallel))


@pytest.mark.parametrize(
    ("settings_", "gib"),
    [
        ({"tp": 1, "accelerators": 8, "sequence_parallel": False, "recompute": "none"}, 2.67),
        ({"sequence_parallel": False, "recompute": "none"}, 0.54),
        ({"recompute": "none"}, 0.334),
        ({"recompute": "selective"}, 0.0996),
        ({"sequence_parallel": False, "recompute": "full"}, 0.0469),
    ],
)
def test_activations_of_a_layer_match_korthikanti(settings_: dict, gib: float) -> None:
    p = plan(GPT3_175B, **settings_)
    kept = layer_activations(p.model, p.workload, p.layout).plain_kept[0]
    assert kept / GIB == pytest.approx(gib, rel=4e-3)


def test_state_bytes_per_parameter_match_the_table() -> None:
    parts = GOLDEN["memory_bytes_per_param"]["mixed_precision_adam"]
    assert bytes_per_param(zero=0, data_ranks=1, gradient_bytes=2) == parts["total"]
    assert bytes_per_param(zero=0, data_ranks=8, gradient_bytes=4) == 18
    assert bytes_per_param(zero=1, data_ranks=6, gradient_bytes=4) == 6 + 12 / 6
    assert bytes_per_param(zero=2, data_ranks=7, gradient_bytes=2) == 2 + 14 / 7
    assert bytes_per_param(zero=3, data_ranks=8, gradient_bytes=2) == 16 / 8


@pytest.mark.parametrize("row", GOLDEN["static_training_memory"])
def test_static_training_memory_and_cards_are_golden(row: dict) -> None:
    total = float(row["params"]) * bytes_per_param(zero=0, data_ranks=1, gradient_bytes=2)
    assert total / 1e9 == pytest.approx(row["gb"], rel=1e-3)
    if "cards_80gb" in row:
        assert ceil(total / 80e9) == row["cards_80gb"]
    else:
        assert ceil(total / 192e9) == row["cards_192gb"]


def test_1f1b_keeps_fewer_micro_batches_on_later_stages() -> None:
    p = plan(GPT3_175B, vpp=1)
    layouts = p.layout.take(np.zeros(8, dtype=np.int64))
    assert in_flight(layouts, np.arange(8)).tolist() == [8, 7, 6, 5, 4, 3, 2, 1]


def test_interleaving_keeps_the_published_surplus_on_stage_zero() -> None:
    layout = plan(GPT3_175B).layout
    assert in_flight(layout, np.array([0]))[0] == pytest.approx(8 * (1 + 7 / (8 * 3)))


def test_gpipe_keeps_all_micro_batches() -> None:
    layout = plan(GPT3_175B, vpp=1, schedule="gpipe").layout
    assert in_flight(layout, np.array([3]))[0] == 64


def test_uneven_layers_leave_room_for_the_logits() -> None:
    p = plan(LLAMA_70B, tp=8, pp=18, dp=1, accelerators=144, global_batch=144)
    counts = [int(content(p.model, p.layout, np.array([i])).layers[0]) for i in range(18)]
    assert sum(counts) == 80
    assert (counts[0], max(counts), counts[-1]) == (4, 5, 4)


def test_llama_405b_stages_match_the_published_layout() -> None:
    document = changed(LLAMA_70B, pp=8, vpp=8, dp=2, global_batch=32)
    document["model"] |= {"layers": 126, "hidden": 16384, "ffn_hidden": 53248, "heads": 128}
    p = read_plan(document)
    counts = [int(content(p.model, p.layout, np.array([i])).layers[0]) for i in range(8)]
    assert counts == [15, 16, 16, 16, 16, 16, 16, 15]


def test_deepseek_stages_leave_room_for_two_sets_of_logits() -> None:
    p = plan(DEEPSEEK_V3)
    counts = [int(content(p.model, p.layout, np.array([i])).layers[0]) for i in range(4)]
    assert counts == [16, 16, 16, 14]


def test_the_parts_of_every_stage_add_up() -> None:
    for row in memory_ledger(plan(DEEPSEEK_V3)).stages:
        parts = row.weights_bytes + row.gradients_bytes + row.optimizer_bytes
        parts += row.activations_bytes + row.logits_bytes + row.buffers_bytes
        assert row.total_bytes == pytest.approx(parts)


@pytest.mark.parametrize("document", [GPT3_175B, LLAMA_70B, DEEPSEEK_V3])
def test_parameters_of_the_stages_add_up_to_the_model(document: dict) -> None:
    p = plan(document)
    model = p.model
    layout = Layouts.of(
        {name: np.array([value]) for name, value in p.layout.row(0).items()} | {"tp": np.array([1])}
    )
    held = 0.0
    for stage in range(int(layout.pp[0])):
        rank = rank_parameters(model, layout, content(model, layout, np.array([stage])))
        held += float(rank.dense[0]) + float(rank.experts[0]) * int(layout.ep[0])
    tied_copy = model.vocab * model.hidden if model.tied_embeddings else 0
    assert held == pytest.approx(model.total_params() + tied_copy, rel=1e-9)


def test_the_peak_found_among_few_stages_is_the_peak_of_all() -> None:
    c = shipped_coefficients()
    for document in (GPT3_175B, LLAMA_70B, DEEPSEEK_V3):
        for pp, vpp in ((2, 1), (4, 1), (4, 2), (8, 1), (16, 1), (30, 1)):
            base = plan(document)
            values = base.layout.row(0) | {
                "pp": pp,
                "vpp": vpp,
                "schedule": int(Schedule.INTERLEAVED if vpp > 1 else Schedule.ONE_F_ONE_B),
            }
            for level in Recompute:
                layout = Layouts.single(**values | {"recompute": int(level)})
                every = layout.take(np.zeros(pp, dtype=np.int64))
                ledger = stage_memory(base.model, base.workload, every, np.arange(pp), c)
                assert peak_bytes(base.model, base.workload, layout, c)[0] == ledger.total.max()


@settings(deadline=None, max_examples=200)
@given(
    layers=st.integers(1, 200),
    pp=st.integers(1, 64),
    vpp=st.integers(1, 6),
)
def test_stages_are_in_order_and_hold_every_layer_once(layers: int, pp: int, vpp: int) -> None:
    if pp > layers:
        return
    document = changed(LLAMA_70B)
    document["model"]["layers"] = layers
    model = read_plan(changed(document, pp=1, tp=8, dp=16)).model
    values = plan(LLAMA_70B).layout.row(0) | {"pp": pp, "vpp": vpp}
    layout = Layouts.single(**values)
    starts = [int(first_layer(model, layout, np.array([i]))[0]) for i in range(pp + 1)]
    assert starts[0] == 0 and starts[-1] == layers
    assert all(later >= earlier for earlier, later in pairwise(starts))


@settings(deadline=None, max_examples=60)
@given(zero=st.integers(0, 2), dp=st.sampled_from([1, 2, 4, 8, 16, 32]), level=st.sampled_from(Recompute))
def test_more_sharding_and_more_recomputation_never_need_more(zero: int, dp: int, level: Recompute) -> None:
    base = plan(LLAMA_70B, pp=1, tp=8, dp=16)
    c = shipped_coefficients()

    def peak(**over: int) -> float:
        values = base.layout.row(0) | {"zero": zero, "dp": dp, "recompute": int(level)} | over
        layout = Layouts.single(**values | {"global_batch": 64 * int(values["dp"])})
        return float(peak_bytes(base.model, base.workload, layout, c)[0])

    here = peak()
    if zero < 2:
        assert peak(zero=zero + 1) <= here
    assert peak(dp=2 * dp) <= here * (1 + 1e-12) + c.buffer_bytes_per_group * (dp == 1)
    if level is not Recompute.FULL:
        assert peak(recompute=int(Recompute.SELECTIVE)) <= here
