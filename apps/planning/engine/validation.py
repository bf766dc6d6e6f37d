"""Validation: predictions against published runs, with error, bias, coverage and ranking per source."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from statistics import mean, median
from typing import Any

from apps.core.texts import joined
from apps.planning.engine.coefficients import Coefficients
from apps.planning.engine.estimate import Assumption, estimate
from apps.planning.engine.published_run import PublishedRun, UnusableRun

SMALLEST_GROUP = 3  # configurations that a ranking needs


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """One run: measured beside predicted seconds; `error` is predicted over measured, less one."""

    id: str
    source: str
    measured_s: float
    predicted_s: float
    low_s: float
    high_s: float
    group: tuple[str, ...]
    assumptions: tuple[Assumption, ...]
    has_experts: bool = False

    @property
    def error(self) -> float:
        """Signed relative error."""
        return self.predicted_s / self.measured_s - 1.0

    @property
    def covered(self) -> bool:
        """Whether the interval holds the measured value."""
        return self.low_s <= self.measured_s <= self.high_s


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceSummary:
    """Errors of one source."""

    source: str
    count: int
    mean_absolute_error: float
    median_absolute_error: float
    bias: float
    coverage: float


@dataclass(frozen=True, slots=True, kw_only=True)
class RankSummary:
    """Ranking of the configurations of one model on one cluster with one batch.

    `regret` is what the configuration predicted as the fastest loses against the one measured as the fastest.
    """

    group: tuple[str, ...]
    count: int
    spearman: float
    regret: float


def compare(run: PublishedRun, coefficients: Coefficients | None = None) -> Comparison:
    """Predict one run."""
    answer = estimate(run.plan, coefficients)
    return Comparison(
        id=run.id,
        source=run.source,
        measured_s=run.measured_s,
        predicted_s=answer.iteration_time_s,
        low_s=answer.iteration_time_low_s,
        high_s=answer.iteration_time_high_s,
        group=run.group,
        assumptions=answer.assumptions,
        has_experts=run.plan.model.is_moe,
    )


def summarise(comparisons: Iterable[Comparison]) -> list[SourceSummary]:
    """One summary per source, in order of first appearance."""
    by_source: dict[str, list[Comparison]] = defaultdict(list)
    for comparison in comparisons:
        by_source[comparison.source].append(comparison)
    return [_summary(source, rows) for source, rows in by_source.items()]


def summarise_as(name: str, rows: Sequence[Comparison]) -> SourceSummary:
    """Errors of some runs under one name; there must be at least one run."""
    return _summary(name, rows)


def _summary(source: str, rows: Sequence[Comparison]) -> SourceSummary:
    errors = [row.error for row in rows]
    return SourceSummary(
        source=source,
        count=len(rows),
        mean_absolute_error=mean(abs(e) for e in errors),
        median_absolute_error=median(abs(e) for e in errors),
        bias=mean(errors),
        coverage=mean(1.0 if row.covered else 0.0 for row in rows),
    )


def rankings(comparisons: Iterable[Comparison]) -> list[RankSummary]:
    """Ranking of every group of at least three configurations."""
    groups: dict[tuple[str, ...], list[Comparison]] = defaultdict(list)
    for comparison in comparisons:
        groups[comparison.group].append(comparison)
    return [_ranking(group, rows) for group, rows in groups.items() if len(rows) >= SMALLEST_GROUP]


def _ranking(group: tuple[str, ...], rows: Sequence[Comparison]) -> RankSummary:
    chosen = min(rows, key=lambda row: row.predicted_s)
    best = min(row.measured_s for row in rows)
    return RankSummary(
        group=group,
        count=len(rows),
        spearman=spearman([r.predicted_s for r in rows], [r.measured_s for r in rows]),
        regret=chosen.measured_s / best - 1.0,
    )


def spearman(first: Sequence[float], second: Sequence[float]) -> float:
    """Spearman's rank correlation, ties at their mean rank; 0 where one side does not vary."""
    a, b = _ranks(first), _ranks(second)
    mean_a, mean_b = mean(a), mean(b)
    spread = sum((x - mean_a) ** 2 for x in a) * sum((y - mean_b) ** 2 for y in b)
    if spread == 0:
        return 0.0
    together = sum((x - mean_a) * (y - mean_b) for x, y in zip(a, b, strict=True))
    return float(together / spread**0.5)


def _ranks(values: Sequence[float]) -> list[float]:
    return [
        sum(other < value for other in values) + (sum(other == value for other in values) - 1) / 2
        for value in values
    ]


def skipped_by_reason(unusable: Iterable[UnusableRun]) -> dict[str, list[str]]:
    """Ids of the rows that could not be predicted, by what they lack."""
    found: dict[str, list[str]] = defaultdict(list)
    for run in unusable:
        found[joined("; ", run.reasons)].append(run.id)
    return dict(found)


def report(
    usable: Iterable[PublishedRun], unusable: Sequence[UnusableRun], coefficients: Coefficients | None = None
) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Plain values for printing: one object per run, and the summary of all."""
    comparisons = [compare(run, coefficients) for run in usable]
    lines = [
        {
            "id": c.id,
            "source": c.source,
            "measured_s": c.measured_s,
            "predicted_s": c.predicted_s,
            "low_s": c.low_s,
            "high_s": c.high_s,
            "error": c.error,
            "assumptions": [a.to_json() for a in c.assumptions],
        }
        for c in comparisons
    ]
    summary: dict[str, Any] = {
        "count": len(comparisons),
        "sources": [asdict(s) for s in summarise(comparisons)],
        "overall": asdict(_summary("all", comparisons)) if comparisons else None,
        "groups": [asdict(g) for g in rankings(comparisons)],
        "skipped_count": len(unusable),
        "skipped": skipped_by_reason(unusable),
    }
    return lines, summary
