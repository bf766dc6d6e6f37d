"""Acceptance: each reason for its own cause, and never a pass for what cannot be judged."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from apps.benchmarks.engine.acceptance import (
    DOUBTS,
    MIN_BUSBW_SHARE,
    AcceptanceReason,
    Measured,
    accept,
)
from apps.benchmarks.engine.ladder import MAX_SCALING_LOSS
from apps.core.verdicts import Verdict

GOLDEN = yaml.safe_load((Path(__file__).parents[3] / "golden" / "domain_values.yaml").read_text("utf-8"))
GIB = 1 << 30
THEORY = 900e9
GOOD = Measured(
    collective="all_reduce",
    ranks=144,
    size_bytes=16 * GIB,
    busbw_bytes_per_s=810e9,
    wrong_total=0,
    is_complete=True,
    domain_ranks=144,
)


def test_the_limits_are_golden():
    assert GOLDEN["acceptance"]["min_busbw_share"] == MIN_BUSBW_SHARE
    assert GOLDEN["acceptance"]["max_scaling_loss"] == MAX_SCALING_LOSS


def test_a_fast_and_checked_run_passes_with_its_share():
    accepted = accept(GOOD, theory_bytes_per_s=THEORY)
    assert (accepted.verdict, accepted.reason) == (Verdict.PASS, AcceptanceReason.AS_FAST_AS_IT_SHOULD)
    assert accepted.share == pytest.approx(0.9)


@pytest.mark.parametrize(
    ("change", "verdict", "reason"),
    [
        ({"busbw_bytes_per_s": 0.79 * THEORY}, Verdict.FAIL, AcceptanceReason.TOO_SLOW),
        ({"busbw_bytes_per_s": 0.80 * THEORY}, Verdict.PASS, AcceptanceReason.AS_FAST_AS_IT_SHOULD),
        ({"busbw_bytes_per_s": 1.06 * THEORY}, Verdict.WARN, AcceptanceReason.ABOVE_THEORY),
        ({"wrong_total": 3}, Verdict.FAIL, AcceptanceReason.WRONG_RESULTS),
        ({"wrong_total": None}, Verdict.WARN, AcceptanceReason.NOT_VALIDATED),
        ({"is_complete": False}, Verdict.UNKNOWN, AcceptanceReason.NOT_COMPLETE),
        ({"collective": ""}, Verdict.UNKNOWN, AcceptanceReason.COLLECTIVE_UNKNOWN),
        ({"ranks": None}, Verdict.UNKNOWN, AcceptanceReason.NO_MEASUREMENT),
        ({"ranks": 1}, Verdict.UNKNOWN, AcceptanceReason.NO_MEASUREMENT),
        ({"busbw_bytes_per_s": None}, Verdict.UNKNOWN, AcceptanceReason.NO_MEASUREMENT),
        ({"size_bytes": GIB - 1}, Verdict.UNKNOWN, AcceptanceReason.SIZE_TOO_SMALL),
        ({"ranks": 1440}, Verdict.UNKNOWN, AcceptanceReason.LEAVES_DOMAIN),
    ],
)
def test_each_cause_has_its_own_reason(change, verdict, reason):
    accepted = accept(replace(GOOD, **change), theory_bytes_per_s=THEORY)
    assert (accepted.verdict, accepted.reason) == (verdict, reason)


def test_without_theory_nothing_is_judged():
    accepted = accept(GOOD, theory_bytes_per_s=None)
    assert (accepted.verdict, accepted.reason) == (Verdict.UNKNOWN, AcceptanceReason.THEORY_UNKNOWN)
    assert accepted.share is None


@pytest.mark.parametrize("doubt", DOUBTS)
def test_figures_in_doubt_are_unknown_with_that_reason(doubt):
    accepted = accept(replace(GOOD, doubts=(doubt,)), theory_bytes_per_s=THEORY)
    assert (accepted.verdict, accepted.reason) == (Verdict.UNKNOWN, doubt)


def test_wrong_results_fail_even_where_figures_are_in_doubt():
    run = replace(GOOD, wrong_total=1, doubts=(AcceptanceReason.SINGLE_RANK,))
    assert accept(run, theory_bytes_per_s=THEORY).verdict is Verdict.FAIL
