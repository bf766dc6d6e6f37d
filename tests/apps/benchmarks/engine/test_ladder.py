"""The ladder: golden scaling figures, and what leaves the domain."""

from __future__ import annotations

import pytest

from apps.benchmarks.engine.ladder import Advice, ladder, scaling
from apps.core.errors import OutOfRange
from apps.core.verdicts import Verdict
from tests.apps.benchmarks.engine.test_acceptance import GOLDEN


@pytest.mark.parametrize("row", GOLDEN["scaling_efficiency"])
def test_doubling_the_cards_is_judged_as_golden(row):
    step = scaling(factor=row["factor"], ranks_before=72, ranks_after=144)
    assert step.efficiency == pytest.approx(row["efficiency"], rel=1e-3)
    assert step.advice.value == row["verdict"]


def test_a_loss_of_just_fifteen_percent_is_still_fine():
    assert scaling(factor=1.7, ranks_before=72, ranks_after=144).verdict is Verdict.PASS
    assert scaling(factor=1.699, ranks_before=72, ranks_after=144).verdict is Verdict.FAIL


@pytest.mark.parametrize(("before", "after", "factor"), [(72, 72, 1.0), (0, 72, 1.0), (72, 144, 0.0)])
def test_what_does_not_grow_is_refused(before, after, factor):
    with pytest.raises(OutOfRange):
        scaling(factor=factor, ranks_before=before, ranks_after=after)


def test_flat_bandwidth_is_ideal_growth():
    first, second = ladder([(144, 800e9, 2), (72, 800e9, 1)])
    assert (first.ranks, first.step) == (72, None)
    assert second.step is not None and second.step.factor == pytest.approx(2.0)
    assert second.step.efficiency == pytest.approx(1.0) and second.step.advice is Advice.OK


def test_the_first_run_of_a_size_counts():
    assert [rung.run_id for rung in ladder([(72, 800e9, 9), (72, 100e9, 3)])] == [9]


def test_a_rung_beyond_the_domain_is_shown_without_a_verdict():
    rungs = ladder([(72, 835e9, 1), (144, 810e9, 2), (1440, 405e9, 3)], domain_ranks=144)
    assert [rung.leaves_domain for rung in rungs] == [False, False, True]
    assert rungs[2].step is None
