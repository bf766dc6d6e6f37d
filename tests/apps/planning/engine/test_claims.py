"""Claims against each other: effective compute, scaling factors, runs and rank counts."""

from __future__ import annotations

import pytest

from apps.core.errors import OutOfRange
from apps.planning.engine.claims import (
    Finding,
    RunClaim,
    Setup,
    check_comparison,
    check_run,
    consequence,
    equivalent_extra_cards,
    rank_sizes,
    scaling,
)
from tests.apps.planning.engine.test_memory import GOLDEN

PAIRS = [row for row in GOLDEN["effective_compute"] if "b" in row]


@pytest.mark.parametrize("row", PAIRS)
def test_speedup_and_time_saved_are_golden(row: dict) -> None:
    found = consequence(Setup(**row["a"]), Setup(**row["b"]))
    assert found.speedup == pytest.approx(row["speedup"], rel=1e-3)
    assert found.time_saved == pytest.approx(row["time_saved"], rel=1e-3)


def test_a_gain_in_cards_is_golden() -> None:
    row = next(row for row in GOLDEN["effective_compute"] if "gain" in row)
    assert equivalent_extra_cards(Setup(**row["a"]), row["gain"]) == pytest.approx(
        row["equivalent_extra_cards"]
    )


def test_a_claimed_saving_with_less_effective_compute_contradicts() -> None:
    before, after = Setup(cards=128, mfu=0.34), Setup(cards=64, mfu=0.58)
    judged = check_comparison(before, after, time_saved=0.40)
    assert judged[0].finding is Finding.CONTRADICTS
    assert judged[0].implied == pytest.approx(-0.1724, rel=1e-3)


def test_a_rounded_claim_follows() -> None:
    before, after = Setup(cards=128, mfu=0.30), Setup(cards=256, mfu=0.22)
    assert check_comparison(before, after, speedup=1.5)[0].finding is Finding.FOLLOWS
    assert check_comparison(before, after, time_saved=0.20)[0].finding is Finding.CONTRADICTS


@pytest.mark.parametrize("row", GOLDEN["scaling_efficiency"])
def test_scaling_verdicts_are_golden(row: dict) -> None:
    found = scaling(cards_before=72, cards_after=144, factor=row["factor"])
    assert found.efficiency == pytest.approx(row["efficiency"])
    assert found.verdict == row["verdict"]


def test_a_loss_above_fifteen_percent_points_at_the_interconnect() -> None:
    assert (
        scaling(cards_before=72, cards_after=144, factor=1.6).verdict == "check_interconnect_and_scheduling"
    )


def test_a_run_faster_than_its_peak_is_impossible() -> None:
    claim = RunClaim(cards=64, peak_flops=989e12, total_flops=1e22, time_s=1000)
    assert check_run(claim)[0].finding is Finding.IMPOSSIBLE


def test_time_and_mfu_of_a_run_check_each_other() -> None:
    ideal = 1e22 / (64 * 989e12)
    claim = RunClaim(cards=64, peak_flops=989e12, total_flops=1e22, time_s=ideal / 0.4, mfu=0.55)
    assert check_run(claim)[0].finding is Finding.CONTRADICTS
    assert check_run(claim)[0].implied == pytest.approx(0.4)
    alone = RunClaim(cards=64, peak_flops=989e12, total_flops=1e22, mfu=0.5)
    assert check_run(alone)[0].implied == pytest.approx(ideal / 0.5)


def test_what_nobody_claimed_is_derived() -> None:
    run = {"cards": 64, "peak_flops": 989e12, "total_flops": 1e22}
    ideal = 1e22 / (64 * 989e12)
    (mfu,) = check_run(RunClaim(**run, time_s=ideal / 0.4))
    assert (mfu.name, mfu.claimed, mfu.finding) == ("mfu", None, Finding.DERIVED)
    assert mfu.implied == pytest.approx(0.4)
    (time,) = check_run(RunClaim(**run, mfu=0.5))
    assert (time.name, time.claimed, time.finding) == ("time_s", None, Finding.DERIVED)
    assert check_run(RunClaim(**run)) == ()


def test_rank_sizes_are_golden() -> None:
    golden = GOLDEN["rank_sizes"]
    sizes = rank_sizes(
        tp=golden["tp"],
        pp=golden["pp"],
        dp=golden["dp"],
        ep=golden["ep"],
        domain_cards=golden["domain_cards"],
    )
    assert sizes.world == golden["world"]
    assert sizes.domains == golden["domains"]
    assert sizes.experts_fit_domain and not sizes.experts_fit_split_by_tp


def test_impossible_setups_are_refused() -> None:
    with pytest.raises(OutOfRange):
        Setup(cards=8, mfu=1.2)
    with pytest.raises(OutOfRange):
        scaling(cards_before=144, cards_after=72, factor=1)
