"""Failures, checkpoints and goodput against golden figures, closed forms and a simulation."""

from __future__ import annotations

from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.core.errors import OutOfRange
from apps.planning.engine.operations import failure_presets
from apps.planning.engine.reliability import (
    WEEK_S,
    Checkpointing,
    FailureModel,
    availability_interval_s,
    best_interval_s,
    checkpoint_bytes,
    daly_interval_s,
    goodput,
    p_enough_nodes,
    rate_from_history,
    spares_for,
    timeout_range_s,
    young_interval_s,
)
from apps.planning.engine.simulation import simulate_goodput
from tests.apps.planning.engine.test_memory import GOLDEN

HOUR_S = 3600.0


@pytest.mark.parametrize("row", GOLDEN["failure_probability"])
def test_the_probability_of_any_failure_in_a_week_is_golden(row: dict) -> None:
    model = FailureModel(nodes=row["nodes"], per_node_week=failure_presets()["optimistic"].per_node_week)
    assert model.p_any(WEEK_S) == pytest.approx(row["p_any"], rel=1e-3)


def test_the_published_run_failed_about_every_three_hours() -> None:
    model = FailureModel(nodes=2048, per_node_week=failure_presets()["published_16k"].per_node_week)
    assert model.mtbf_s / HOUR_S == pytest.approx(3.1, rel=0.02)


@pytest.mark.parametrize(
    ("nodes", "mtbf_h", "interval_h"), [(9, 704, 3.4), (18, 352, 2.4), (2048, 3.1, 0.227)]
)
def test_young_intervals_of_known_sizes(nodes: int, mtbf_h: float, interval_h: float) -> None:
    model = FailureModel(nodes=nodes, per_node_week=0.0265)
    assert model.mtbf_s / HOUR_S == pytest.approx(mtbf_h, rel=0.02)
    assert young_interval_s(30, model.mtbf_s) / HOUR_S == pytest.approx(interval_h, rel=0.02)


def test_a_domain_failure_adds_to_the_rate() -> None:
    alone = FailureModel(nodes=18, per_node_week=0.005)
    with_domain = FailureModel(nodes=18, per_node_week=0.005, domains=1, per_domain_week=0.01)
    assert with_domain.mtbf_s < alone.mtbf_s
    assert with_domain.p_any(WEEK_S) == pytest.approx(1 - 0.995**18 * 0.99)


@given(
    stall=st.floats(1, 300),
    nodes=st.integers(1, 4096),
    rate=st.floats(0.001, 0.05),
    restart=st.floats(0, 900),
)
def test_youngs_interval_is_the_best_of_the_first_order_goodput(
    stall: float, nodes: int, rate: float, restart: float
) -> None:
    model = FailureModel(nodes=nodes, per_node_week=rate)
    saving = Checkpointing(stall_s=stall, restart_s=restart, drain_s=stall)
    best = best_interval_s(model, saving)
    here = goodput(model, saving, best)
    assert goodput(model, saving, best * 1.1) <= here + 1e-12
    assert goodput(model, saving, best / 1.1) <= here + 1e-12


def test_daly_and_availability_intervals_come_near_youngs_for_rare_failures() -> None:
    young = young_interval_s(10, 1e7)
    assert daly_interval_s(10, 1e7) == pytest.approx(young - 10, rel=1e-3)
    assert availability_interval_s(10, 1e7, 0) == pytest.approx(young + 10, rel=1e-3)
    assert daly_interval_s(100, 40) == 40


def test_an_asynchronous_save_stalls_less_but_must_drain() -> None:
    model = FailureModel(nodes=2048, per_node_week=0.0265)
    sync = Checkpointing(stall_s=60, drain_s=60, restart_s=300)
    async_ = Checkpointing(stall_s=3, drain_s=60, restart_s=300)
    assert goodput(model, async_, best_interval_s(model, async_)) > goodput(
        model, sync, best_interval_s(model, sync)
    )
    slow = Checkpointing(stall_s=1, drain_s=5000, restart_s=300)
    assert best_interval_s(model, slow) == 5000


def test_the_simulation_agrees_with_the_closed_form() -> None:
    model = FailureModel(nodes=512, per_node_week=0.0265)
    saving = Checkpointing(stall_s=60, drain_s=60, restart_s=600)
    interval = best_interval_s(model, saving)
    drawn = simulate_goodput(model, saving, interval_s=interval, period_s=30 * 86_400.0)
    assert drawn.mean == pytest.approx(goodput(model, saving, interval), abs=0.01)
    assert drawn.low < drawn.mean < drawn.high
    assert drawn.failures_per_run == pytest.approx(30 * 86_400 / model.mtbf_s, rel=0.05)
    assert drawn == simulate_goodput(model, saving, interval_s=interval, period_s=30 * 86_400.0)


def test_a_cluster_that_never_fails_loses_only_its_saves() -> None:
    model = FailureModel(nodes=8, per_node_week=0.0)
    assert model.mtbf_s == inf and model.p_any(WEEK_S) == 0
    saving = Checkpointing(stall_s=10, restart_s=100)
    assert goodput(model, saving, 1000) == 0.99
    drawn = simulate_goodput(model, saving, interval_s=1000, period_s=86_400.0, runs=5)
    assert drawn.mean == pytest.approx(0.99)


def test_spares_reach_the_target_and_no_fewer_would() -> None:
    spares = spares_for(needed=16, p_down=0.02, target=0.999)
    assert p_enough_nodes(needed=16, spares=spares, p_down=0.02) >= 0.999
    assert p_enough_nodes(needed=16, spares=spares - 1, p_down=0.02) < 0.999


def test_an_empty_history_gives_the_prior_and_a_long_one_itself() -> None:
    assert rate_from_history(failures=0, node_seconds=0) == pytest.approx(0.005, rel=0.01)
    long = rate_from_history(failures=419, node_seconds=2048 * 54 * 86_400.0)
    assert long == pytest.approx(0.0265, rel=0.03)


def test_timeouts_are_golden() -> None:
    golden = GOLDEN["nccl_timeout"]
    assert timeout_range_s(golden["baseline_s"]) == (golden["low_s"], golden["high_s"])


def test_a_checkpoint_holds_fourteen_bytes_per_parameter() -> None:
    assert checkpoint_bytes(70e9) == 980e9


def test_impossible_figures_are_refused() -> None:
    with pytest.raises(OutOfRange):
        FailureModel(nodes=0, per_node_week=0.1)
    with pytest.raises(OutOfRange):
        FailureModel(nodes=1, per_node_week=1.0)
    with pytest.raises(OutOfRange):
        Checkpointing(stall_s=0, restart_s=1)
    with pytest.raises(OutOfRange):
        timeout_range_s(0)
