"""Calibrate the intervals on sources that the fit has not seen, and say how well that carries over.

Each source of the table of published runs is left out in turn: the coefficients are fitted without it, its runs are
predicted, and their kind counts as published where another source has it. The half widths are quantiles of these
residuals, less what assumed inputs add: one for kinds that are published and one for others, and a part for models
with experts. Further runs of known sources must be held, too, so none is narrower than the residuals of the whole fit
ask. Cross-validation does the same without the residuals of one source, and counts how many of its runs the intervals
then hold.
Usage: python scripts/calibrate_intervals.py [--write]
"""

from __future__ import annotations

import csv
import dataclasses
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import NormalDist

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from apps.planning.engine.bars import is_fitted  # noqa: E402
from apps.planning.engine.coefficients import DATA, Coefficients, shipped_coefficients  # noqa: E402
from apps.planning.engine.intervals import half_width  # noqa: E402
from apps.planning.engine.kinds import Kind, kind_of  # noqa: E402
from apps.planning.engine.published_run import PublishedRun, read_run  # noqa: E402
from scripts.fit_planning import RUNS, Fit, predicted, write  # noqa: E402

COVERAGE = 0.89
WIDTHS = ("interval_unpublished", "interval_published", "interval_moe")


@dataclass(frozen=True, slots=True, kw_only=True)
class Residual:
    """A run as a fit sees it: how far off it is, and what assumed inputs allow, on a logarithmic scale.

    left_out: whether the fit is that without its source; then `published` says whether other sources have its kind.
    """

    source: str
    experts: bool
    published: bool
    left_out: bool
    needed: float
    allowed: float


def kind(run: PublishedRun) -> Kind:
    return kind_of(run.plan.model, run.plan.system, run.plan.workload)


def residuals_without(runs: Sequence[PublishedRun], source: str) -> list[Residual]:
    """The runs of a source as the fit without it sees them."""
    others = [run for run in runs if run.source != source]
    fitted = [run for run in others if is_fitted(run.source)]
    found = Fit(fitted, shipped_coefficients()).run() if is_fitted(source) else shipped_coefficients()
    published = {kind(run) for run in others}
    own = [run for run in runs if run.source == source]
    return _residuals(own, found, [kind(run) in published for run in own], left_out=True)


def residuals_of_all(runs: Sequence[PublishedRun]) -> list[Residual]:
    """All runs as the shipped coefficients see them."""
    return _residuals(runs, shipped_coefficients(), [True] * len(runs), left_out=False)


def _residuals(
    runs: Sequence[PublishedRun], coefficients: Coefficients, published: list[bool], *, left_out: bool
) -> list[Residual]:
    off = np.abs(np.log(predicted(list(runs), coefficients) / np.array([run.measured_s for run in runs])))
    bare = dataclasses.replace(coefficients, **dict.fromkeys(WIDTHS, 0.0))
    return [
        Residual(
            source=run.source,
            experts=run.plan.model.is_moe,
            published=is_published,
            left_out=left_out,
            needed=float(far),
            allowed=half_width(
                (a.name for a in run.plan.assumptions if a.uncertain), bare, kind=kind(run), published=True
            ),
        )
        for run, is_published, far in zip(runs, published, off, strict=True)
    ]


def calibrated(residuals: Sequence[Residual]) -> dict[str, float]:
    """The half widths that hold the chosen share of the residuals of either fit."""
    new = [one for one in residuals if one.left_out]
    known = [one for one in residuals if not one.left_out]
    published = max(
        _width([one for one in new if not one.experts and one.published]),
        _width([one for one in known if not one.experts]),
    )
    unpublished = max(published, _width([one for one in new if not one.experts and not one.published]))
    over = {True: published, False: unpublished}
    experts = max(
        _quantile([r.needed - r.allowed - over[r.published] for r in part if r.experts])
        for part in (new, known)
    )
    return dict(zip(WIDTHS, (unpublished, published, experts), strict=True))


def _width(residuals: list[Residual]) -> float:
    """The quantile of what the residuals need, wider by Student's t over the normal where few sources speak."""
    freedom = max(1, len({one.source for one in residuals}) - 1)
    needed = _quantile([one.needed - one.allowed for one in residuals])
    return needed * _student(freedom) / NormalDist().inv_cdf((1 + COVERAGE) / 2)


def _quantile(needed: list[float]) -> float:
    return max(0.0, float(np.quantile(needed, COVERAGE))) if needed else 0.0


def _student(freedom: int) -> float:
    """The two-sided quantile of Student's t at the chosen share, summed up numerically."""
    steps = np.linspace(0.0, 500.0, 500_001)
    below = np.cumsum((1 + steps**2 / freedom) ** (-(freedom + 1) / 2))
    return float(steps[np.searchsorted(below, COVERAGE * below[-1])])


def held(residuals: Sequence[Residual], widths: dict[str, float]) -> list[bool]:
    """Whether intervals of these widths hold each run."""
    unpublished, published, experts = (widths[name] for name in WIDTHS)
    return [
        one.needed <= one.allowed + (published if one.published else unpublished) + one.experts * experts
        for one in residuals
    ]


def cross_validated(residuals: Sequence[Residual]) -> dict[str, list[bool]]:
    """For each source, which of its runs are held by intervals that were calibrated on the others."""
    found = {}
    for source in dict.fromkeys(one.source for one in residuals):
        widths = calibrated([one for one in residuals if one.source != source])
        found[source] = held([one for one in residuals if one.left_out and one.source == source], widths)
    return found


def write_kinds(runs: Sequence[PublishedRun]) -> None:
    """Write the kinds of the table to the data file."""
    rows = [
        f"  - {{architecture: {one.architecture}, precision: {one.precision}, framework: {one.framework}, "
        f"experts: {str(one.experts).lower()}}}\n"
        for one in sorted({kind(run) for run in runs}, key=dataclasses.astuple)
    ]
    text = DATA.read_text(encoding="utf-8")
    text = re.sub(r"(published_kinds:.*\n)(  - .*\n)*", lambda found: found[1] + "".join(rows), text)
    DATA.write_text(text, encoding="utf-8")


def main() -> None:
    with RUNS.open(encoding="utf-8", newline="") as file:
        read = [read_run(row) for row in csv.DictReader(file)]
    runs = [run for run in read if isinstance(run, PublishedRun)]
    residuals = residuals_of_all(runs)
    for source in dict.fromkeys(run.source for run in runs):
        residuals += residuals_without(runs, source)
    widths = calibrated(residuals)
    for name, width in widths.items():
        print(f"{name} {width:.4f}")
    counted = cross_validated(residuals)
    for source, inside in counted.items():
        print(f"left out {source}: {sum(inside)} of {len(inside)} inside")
    everything = [one for inside in counted.values() for one in inside]
    by_source = [float(np.mean(inside)) for inside in counted.values()]
    print(f"cross-validated coverage {np.mean(everything):.3f}, mean of sources {np.mean(by_source):.3f}")
    if "--write" in sys.argv:
        write(dataclasses.replace(shipped_coefficients(), **widths))
        write_kinds(runs)


if __name__ == "__main__":
    main()
