"""The soak after an accepted run: golden hours, what breaks it, and that nobody looking proves nothing."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from apps.benchmarks.engine.soak import SOAK_HOURS, ends_at, soak
from apps.core.verdicts import Verdict
from tests.apps.benchmarks.engine.test_acceptance import GOLDEN

BEGAN = datetime(2026, 11, 1, 12, tzinfo=UTC)


def after(hours: float) -> datetime:
    return BEGAN + timedelta(hours=hours)


def test_the_hours_are_golden():
    assert GOLDEN["acceptance"]["soak_hours"] == SOAK_HOURS
    assert ends_at(BEGAN) == after(24)


@pytest.mark.parametrize(
    ("now", "broken_by", "watched", "verdict"),
    [
        (5, (), [5], Verdict.UNKNOWN),
        (5, ("sxid 20034 on sn-01",), [5], Verdict.FAIL),
        (24, (), [24, 24], Verdict.PASS),
        (30, (), [30, 23.9], Verdict.UNKNOWN),
        (30, (), [30, None], Verdict.UNKNOWN),
        (30, (), [], Verdict.UNKNOWN),
        (30, ("nvlink-slow of sn-01",), [30], Verdict.FAIL),
    ],
)
def test_a_soak_passes_when_it_is_over_and_somebody_looked(now, broken_by, watched, verdict):
    seen = [None if at is None else after(at) for at in watched]
    found = soak(began_at=BEGAN, now=after(now), broken_by=broken_by, watched_at=seen)
    assert found.verdict is verdict
    assert found.hours == min(now, 24) and found.broken_by == broken_by


def test_nodes_that_nobody_looked_at_are_counted():
    found = soak(began_at=BEGAN, now=after(30), broken_by=(), watched_at=[after(30), None, after(3)])
    assert found.unwatched == 2
