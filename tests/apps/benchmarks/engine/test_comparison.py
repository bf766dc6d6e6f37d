"""Comparison: a run beside another, at the sizes that both measured."""

from __future__ import annotations

import pytest

from apps.benchmarks.engine.comparison import compare, curve
from apps.core.verdicts import Verdict

GIB = 1 << 30


def point(size, out, inside=None):
    return {
        "size_bytes": size,
        "out_of_place": {"busbw_gbps": out},
        "in_place": {"busbw_gbps": inside},
    }


def test_the_lower_column_counts_and_sizes_ascend():
    assert curve([point(2 * GIB, 90.0, 80.0), point(GIB, 70.0)]) == {GIB: 70e9, 2 * GIB: 80e9}


def test_rows_without_a_bandwidth_are_left_out():
    assert curve([point(GIB, None), point(0, 5.0), point(8, 0.0)]) == {}


@pytest.mark.parametrize(
    ("busbw", "verdict"),
    [(96.0, Verdict.PASS), (94.0, Verdict.WARN), (84.0, Verdict.FAIL), (110.0, Verdict.PASS)],
)
def test_the_loss_at_the_largest_shared_size_decides(busbw, verdict):
    compared = compare([point(GIB, 50.0), point(8 * GIB, busbw)], [point(GIB, 100.0), point(8 * GIB, 100.0)])
    assert compared.verdict is verdict


def test_the_worst_size_is_one_where_latency_does_not_shape_the_figure():
    compared = compare(
        [point(1024, 1.0), point(GIB, 80.0), point(2 * GIB, 95.0)],
        [point(1024, 9.0), point(GIB, 100.0), point(2 * GIB, 100.0)],
    )
    assert compared.worst is not None and compared.worst.size_bytes == GIB


def test_runs_that_share_no_size_cannot_be_compared():
    assert compare([point(GIB, 1.0)], [point(2 * GIB, 1.0)]).verdict is Verdict.UNKNOWN
