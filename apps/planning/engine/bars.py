"""Bars: what was promised of the engine's predictions, and what it reaches on published runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import inf
from statistics import mean

from apps.planning.engine.validation import Comparison, rankings

FITTED = (
    "vTrain",
    "Korthikanti",
    "MosaicML",
    "NeMo 25.11",
    "NeMo 26.02",
    "NeMo 26.06",
)  # parts of source names
RANKED_SOURCE = "vTrain"


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """One promise: a code, the share that was reached over so many runs, and the limits it must lie between."""

    code: str
    reached: float
    count: int
    low: float = -inf
    high: float = inf

    @property
    def met(self) -> bool:
        """Whether what was reached lies between the limits."""
        return self.low <= self.reached <= self.high


def is_fitted(source: str) -> bool:
    """Whether the coefficients were fitted on a source, too; all others are held out."""
    return any(part in source for part in FITTED)


_ERRORS: tuple[tuple[str, float, Callable[[Comparison], bool]], ...] = (
    ("korthikanti", 0.05, lambda run: "Korthikanti" in run.source),
    ("sc21", 0.07, lambda run: "SC21" in run.source),
    ("vtrain", 0.10, lambda run: "vTrain" in run.source),
    ("vtrain_175b", 0.05, lambda run: "vTrain" in run.source and "GPT 175B" in run.group),
    ("mlperf", 0.12, lambda run: "MLPerf" in run.source),
    ("mosaicml", 0.15, lambda run: "MosaicML" in run.source),
    ("bridge_dense", 0.15, lambda run: "Megatron-Bridge" in run.source and not run.has_experts),
    ("bridge_experts", 0.20, lambda run: "Megatron-Bridge" in run.source and run.has_experts),
)


def bars(runs: Sequence[Comparison]) -> list[Bar]:
    """Every bar with what the runs reach; a bar without runs is left out."""
    found = []
    for code, most, belongs in _ERRORS:
        errors = [abs(run.error) for run in runs if belongs(run)]
        if errors:
            found.append(Bar(code=code, reached=mean(errors), count=len(errors), high=most))
    if runs:
        covered = mean(1.0 if run.covered else 0.0 for run in runs)
        found.append(Bar(code="coverage", reached=covered, count=len(runs), low=0.80, high=0.95))
    for ranked in rankings(run for run in runs if RANKED_SOURCE in run.source):
        name = ranked.group[1].removeprefix("GPT ").lower()
        found.append(Bar(code=f"spearman_{name}", reached=ranked.spearman, count=ranked.count, low=0.85))
        found.append(Bar(code=f"regret_{name}", reached=ranked.regret, count=ranked.count, high=0.01))
    return found
