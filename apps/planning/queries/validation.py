"""How far the planner can be trusted: its predictions beside published runs, computed with today's engine."""

from __future__ import annotations

import csv
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from apps.planning.engine.published_run import PublishedRun, UnusableRun, read_run
from apps.planning.engine.validation import (
    Comparison,
    RankSummary,
    SourceSummary,
    compare,
    rankings,
    skipped_by_reason,
    summarise,
)

PUBLISHED_RUNS = Path(__file__).resolve().parents[1] / "data" / "published_runs.csv"


@dataclass(frozen=True, slots=True, kw_only=True)
class Validation:
    """Every published run that can be predicted, errors by source, rankings by group, and what was left out."""

    runs: tuple[Comparison, ...]
    overall: SourceSummary
    sources: tuple[SourceSummary, ...]
    groups: tuple[RankSummary, ...]
    skipped: dict[str, list[str]]


@cache
def validation() -> Validation:
    """The comparison with the table of published runs that is shipped; about a second the first time."""
    with PUBLISHED_RUNS.open(encoding="utf-8-sig", newline="") as file:
        rows = [read_run(row) for row in csv.DictReader(file)]
    runs = tuple(compare(run) for run in rows if isinstance(run, PublishedRun))
    return Validation(
        runs=runs,
        overall=summarise(replace(run, source="all") for run in runs)[0],
        sources=tuple(summarise(runs)),
        groups=tuple(rankings(runs)),
        skipped=skipped_by_reason(run for run in rows if isinstance(run, UnusableRun)),
    )
