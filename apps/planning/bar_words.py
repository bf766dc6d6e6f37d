"""What the validation page says of the engine's bars: their names, their limits, and why one is not met."""

from __future__ import annotations

from collections.abc import Sequence
from math import isinf
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _l

from apps.core.units import show_change, show_share
from apps.planning.engine.bars import Bar, bars, is_fitted
from apps.planning.engine.validation import Comparison, summarise_as

NAMES: dict[str, str | Promise] = {
    "korthikanti": _l("mean error, Korthikanti et al."),
    "sc21": _l("mean error, Narayanan et al. SC21"),
    "vtrain": _l("mean error, vTrain on many nodes"),
    "vtrain_175b": _l("mean error, vTrain GPT 175B"),
    "mlperf": _l("mean error, MLPerf"),
    "mosaicml": _l("mean error, MosaicML FSDP"),
    "bridge_dense": _l("mean error, Megatron-Bridge, dense"),
    "bridge_experts": _l("mean error, Megatron-Bridge, experts"),
    "coverage": _l("runs inside the interval"),
    "spearman_175b": _l("rank correlation, vTrain 175B"),
    "regret_175b": _l("loss by the choice, vTrain 175B"),
    "spearman_18.4b": _l("rank correlation, vTrain 18.4B"),
    "regret_18.4b": _l("loss by the choice, vTrain 18.4B"),
}
_CLOSE = _l(
    "Six of the ten layouts lie within 14 % of each other, and three were measured 7 to 10 % slower than any term "
    "of the model explains; a term that moved those would move others away."
)
WHY: dict[str, str | Promise] = {"spearman_18.4b": _CLOSE, "regret_18.4b": _CLOSE}
_REMARKS: dict[str, str | Promise] = {
    "bridge_experts": _l(
        "Single releases lie above: one configuration became half as fast again between two releases, and the "
        "version of the software is no input of a plan."
    ),
    "coverage": _l(
        "Over all runs, and as often where each source is left out of fit and calibration; small sources lie "
        "outside of these limits."
    ),
}


def bar_rows(runs: Sequence[Comparison]) -> list[dict[str, Any]]:
    """Each bar: name, limits, what was reached, whether it is met, and why not."""
    return [
        {
            "code": bar.code,
            "name": NAMES.get(bar.code, bar.code),
            "limit": _limit(bar),
            "reached": _shown(bar, bar.reached),
            "count": bar.count,
            "met": bar.met,
            "why": _REMARKS.get(bar.code, "") if bar.met else WHY.get(bar.code, ""),
        }
        for bar in bars(runs)
    ]


def held_out_rows(runs: Sequence[Comparison]) -> list[dict[str, Any]]:
    """Errors of the runs that the fit has seen, and of those that it has not."""
    parts = {
        _("held out of the fit"): [run for run in runs if not is_fitted(run.source)],
        _("fitted"): [run for run in runs if is_fitted(run.source)],
    }
    found = [summarise_as(name, rows) for name, rows in parts.items() if rows]
    return [
        {
            "name": one.source,
            "count": one.count,
            "error": show_share(one.mean_absolute_error),
            "bias": show_change(one.bias),
            "coverage": show_share(one.coverage),
        }
        for one in found
    ]


def _limit(bar: Bar) -> str:
    low, high = _shown(bar, bar.low), _shown(bar, bar.high)
    if isinf(bar.low):
        return f"≤ {high}"
    return f"≥ {low}" if isinf(bar.high) else f"{low} – {high}"


def _shown(bar: Bar, value: float) -> str:
    if isinf(value):
        return ""
    return f"{value:.2f}" if bar.code.startswith("spearman") else show_share(value)
