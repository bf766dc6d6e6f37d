"""Intervals: their widths, the kinds of runs that they know, and how they are calibrated."""

from __future__ import annotations

import dataclasses

import pytest

from apps.planning.engine.coefficients import shipped_coefficients
from apps.planning.engine.intervals import half_width
from apps.planning.engine.kinds import Kind, kind_of, published_kinds
from scripts.calibrate_intervals import COVERAGE, Residual, calibrated, cross_validated, held
from tests.apps.planning.engine.test_validation import RUNS

HOPPER = Kind(architecture="Hopper", precision="fp8", framework="megatron", experts=False)


def width(kind: Kind, *defaults: str, published: bool = True) -> float:
    return half_width(defaults, shipped_coefficients(), kind=kind, published=published)


def residual(
    needed: float,
    *,
    source: str = "a",
    experts: bool = False,
    published: bool = True,
    left_out: bool = True,
) -> Residual:
    return Residual(
        source=source, experts=experts, published=published, left_out=left_out, needed=needed, allowed=0.0
    )


def test_the_kinds_that_count_as_published_are_those_of_the_table() -> None:
    kinds = {kind_of(run.plan.model, run.plan.system, run.plan.workload) for run in RUNS}
    assert published_kinds() == kinds


def test_what_is_less_known_is_wider() -> None:
    experts, other = (
        dataclasses.replace(HOPPER, experts=True),
        dataclasses.replace(HOPPER, architecture="new"),
    )
    assert width(HOPPER) < width(HOPPER, "micro_batch") < width(HOPPER, "micro_batch", "recompute")
    assert width(HOPPER) < width(HOPPER, published=False) < width(other, published=False)
    assert width(HOPPER) < width(experts)
    assert width(HOPPER, "recompute", "recompute") == width(HOPPER, "recompute")


def test_widths_hold_the_chosen_share_of_runs_that_the_fit_has_not_seen() -> None:
    rows = [residual(0.001 * n, source=f"s{n % 200}") for n in range(400)]
    assert sum(held(rows, calibrated(rows))) / 400 == pytest.approx(COVERAGE, abs=0.02)


def test_few_sources_make_it_wider_than_many() -> None:
    few = [residual(0.001 * n, source=f"s{n % 3}") for n in range(400)]
    many = [residual(0.001 * n, source=f"s{n % 40}") for n in range(400)]
    assert calibrated(few)["interval_published"] > 1.3 * calibrated(many)["interval_published"]


def test_what_nobody_published_is_never_narrower_than_what_somebody_did() -> None:
    widths = calibrated([residual(0.3), residual(0.1, published=False)])
    assert widths["interval_unpublished"] == widths["interval_published"]


def test_further_runs_of_known_sources_are_held_too() -> None:
    known = [residual(0.2, source=f"s{n}", left_out=False) for n in range(50)]
    assert calibrated([residual(0.1), *known])["interval_published"] >= 0.2


def test_cross_validation_counts_a_source_on_what_the_others_say() -> None:
    rows = [residual(0.05, source=f"s{n}") for n in range(10)] + [residual(0.9, source="odd")]
    counted = cross_validated(rows)
    assert counted["odd"] == [False] and counted["s0"] == [True]
