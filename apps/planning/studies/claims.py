"""Claims check: what follows from published or vendor figures, and which of them contradict each other."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _l

from apps.core.texts import say
from apps.core.units import show_seconds, show_share
from apps.planning.engine import claims
from apps.planning.engine.claims import Finding, Judgement, RunClaim, ScalingVerdict, Setup
from apps.planning.studies import fields as f
from apps.planning.studies.base import Result, Study, Values
from apps.planning.studies.blocks import (
    Assumed,
    Assumptions,
    Block,
    Figure,
    Figures,
    Note,
    Stat,
    Stats,
    Table,
    count_shown,
)
from apps.planning.studies.hardware import part_of, peak_of
from apps.planning.studies.own_figures import OwnFiguresFields

DAY_S = 86_400.0
FLOPS_PER_PARAM_AND_TOKEN = 6.0

FINDINGS = {
    Finding.FOLLOWS: ("pass", _l("follows")),
    Finding.CONTRADICTS: ("fail", _l("contradicts the other figures")),
    Finding.IMPOSSIBLE: ("fail", _l("impossible: faster than the peak")),
    Finding.DERIVED: ("", _l("derived: nobody claimed it")),
}
CLAIMED = {
    "speedup": _l("speed-up"),
    "time_saved": _l("time saved"),
    "mfu": "MFU",
    "time_s": _l("time of the run"),
}
SCALING = {
    ScalingVerdict.OK: ("pass", _l("as it should be")),
    ScalingVerdict.CHECK_INTERCONNECT: ("warn", _l("look at interconnect and scheduling, not at the cards")),
    ScalingVerdict.CHECK_TOPOLOGY: ("fail", _l("look at topology and scheduling first")),
}


class ClaimsForm(OwnFiguresFields):
    """Two setups that are compared, a run, a growth in cards, and the ranks of a layout."""

    start = {
        "cards_before": 128, "mfu_before_percent": 34, "cards_after": 64, "mfu_after_percent": 58,
        "claimed_time_saved_percent": 40, "gain_percent": 70,
        "run_cards": 2048, "accelerator": "nvidia-h800-sxm5-80gb", "precision": "fp8",
        "params_billion": 37, "tokens_trillion": 14.8, "run_days": 54.2,
        "cards_small": 72, "cards_large": 144, "factor": 1.8,
        "tp": 8, "pp": 6, "dp": 128, "ep": 64, "domain_cards": 384,
    }  # fmt: skip

    groups = (
        (_l("Two setups"), ("cards_before", "mfu_before_percent", "cards_after", "mfu_after_percent",
                            "claimed_speedup", "claimed_time_saved_percent", "gain_percent")),
        (_l("A run"), ("run_cards", "accelerator", "catalogue", "precision", "params_billion", "tokens_trillion",
                       "run_days", "run_mfu_percent")),
        (_l("Growth"), ("cards_small", "cards_large", "factor")),
        (_l("Ranks of a layout"), ("tp", "pp", "dp", "ep", "domain_cards")),
    )  # fmt: skip

    cards_before = f.number(_l("Cards before"), least=1)
    mfu_before_percent = f.percent(_l("MFU before"))
    cards_after = f.number(_l("Cards after"), least=1)
    mfu_after_percent = f.percent(_l("MFU after"))
    claimed_speedup = f.number(_l("Claimed speed-up"), required=False, help_text=_l("2 means twice as fast."))
    claimed_time_saved_percent = f.number(_l("Claimed time saved"), least=-1e6, required=False, unit="%")
    gain_percent = f.number(_l("A gain in throughput"), least=-100, required=False, unit="%")

    run_cards = f.whole(_l("Cards of a run"))
    precision = f.precision()
    params_billion = f.number(_l("Active parameters, billions"), least=1e-6)
    tokens_trillion = f.number(_l("Tokens, trillions"), least=1e-9)
    run_days = f.number(_l("Claimed days"), least=1e-6, required=False)
    run_mfu_percent = f.percent(_l("Claimed MFU"), required=False)

    cards_small, cards_large = f.whole(_l("From cards")), f.whole(_l("To cards"), least=2)
    factor = f.number(_l("Throughput grew by the factor"), least=1e-6)

    tp, pp, dp = f.whole(_l("Tensor (TP)")), f.whole(_l("Pipeline (PP)")), f.whole(_l("Data (DP)"))
    ep = f.whole(_l("Expert (EP)"))
    domain_cards = f.whole(_l("Cards in one domain"))

    def clean(self) -> dict[str, Any]:
        data = super().clean() or {}
        for name in ("mfu_before_percent", "mfu_after_percent", "run_mfu_percent"):
            if data.get(name) == 0:
                self.add_error(name, _("The MFU is above zero."))
        if (data.get("cards_large") or 0) <= (data.get("cards_small") or 0):
            self.add_error("cards_large", _("There are more cards than before."))
        return data


def compute(values: Values) -> Result:
    """All four checks as JSON values; shares lie between 0 and 1."""
    assumed = Assumed()
    before = Setup(cards=values["cards_before"], mfu=values["mfu_before_percent"] / 100)
    after = Setup(cards=values["cards_after"], mfu=values["mfu_after_percent"] / 100)
    implied = claims.consequence(before, after)
    judged = claims.check_comparison(
        before,
        after,
        speedup=values.get("claimed_speedup"),
        time_saved=_share(values.get("claimed_time_saved_percent")),
    )
    gain = _share(values.get("gain_percent"))
    comparison = {
        "effective_cards_before": implied.before,
        "effective_cards_after": implied.after,
        "speedup": implied.speedup,
        "time_saved": implied.time_saved,
        "equivalent_extra_cards": claims.equivalent_extra_cards(before, gain) if gain is not None else None,
        "judgements": [_json(one) for one in judged],
    }
    return {
        "comparison": comparison,
        "run": _run(values, assumed),
        "scaling": _scaling(values),
        "ranks": _ranks(values),
        "assumptions": assumed.rows,
    }


def _share(percent: float | None) -> float | None:
    return None if percent is None else percent / 100


def _json(one: Judgement) -> dict[str, Any]:
    return {"name": one.name, "claimed": one.claimed, "implied": one.implied, "finding": one.finding.value}


def _run(values: Values, assumed: Assumed) -> dict[str, Any]:
    part, peak = part_of(values), peak_of(values)
    for path, own in (values.get("figures") or {}).items():
        assumed.add(path, own["value"], own["source"], own["confidence"])
    assumed.add("peak_flops", peak, say("%(name)s, dense", name=part.name), part.confidence)
    assumed.add(
        "flops_per_param_and_token", FLOPS_PER_PARAM_AND_TOKEN, say("forward 2, backward 4"), "derived"
    )
    flops = FLOPS_PER_PARAM_AND_TOKEN * values["params_billion"] * 1e9 * values["tokens_trillion"] * 1e12
    days, mfu = values.get("run_days"), _share(values.get("run_mfu_percent"))
    claim = RunClaim(
        cards=values["run_cards"],
        peak_flops=peak,
        total_flops=flops,
        time_s=days * DAY_S if days else None,
        mfu=mfu,
    )
    ideal_s = flops / (values["run_cards"] * peak)
    return {
        "total_flops": flops,
        "ideal_time_s": ideal_s,
        "implied_mfu": ideal_s / claim.time_s if claim.time_s else None,
        "implied_time_s": ideal_s / mfu if mfu else None,
        "judgements": [_json(one) for one in claims.check_run(claim)],
    }


def _scaling(values: Values) -> dict[str, Any]:
    found = claims.scaling(
        cards_before=values["cards_small"], cards_after=values["cards_large"], factor=values["factor"]
    )
    return {"factor": found.factor, "efficiency": found.efficiency, "verdict": found.verdict.value}


def _ranks(values: Values) -> dict[str, Any]:
    sizes = claims.rank_sizes(
        tp=values["tp"],
        pp=values["pp"],
        dp=values["dp"],
        ep=values["ep"],
        domain_cards=values["domain_cards"],
    )
    return {
        "world": sizes.world,
        "domains": sizes.domains,
        "experts_fit_domain": sizes.experts_fit_domain,
        "experts_fit_split_by_tp": sizes.experts_fit_split_by_tp,
    }


def show(values: Values, result: Result) -> list[Block]:
    """Stats of the comparison, a table of judgements, and the figures with their formulas."""
    comparison, ranks = result["comparison"], result["ranks"]
    stats = [
        Stat(
            label=_("Speed-up that follows"),
            value=f"{comparison['speedup']:.3f}",
            unit="×",
            verdict="pass" if comparison["speedup"] >= 1 else "warn",
        ),
        Stat(label=_("Time saved"), value=show_share(comparison["time_saved"])),
        Stat(label=_("Scaling efficiency"), value=show_share(result["scaling"]["efficiency"]),
             verdict=SCALING[ScalingVerdict(result["scaling"]["verdict"])][0]),
        Stat(label=_("Ranks of the layout"), value=count_shown(ranks["world"]),
             note=_("%(domains)s domains") % {"domains": f"{ranks['domains']:.3g}"}),
    ]  # fmt: skip
    return [
        Stats(stats=stats),
        *_notes(comparison, ranks),
        Table(
            title=_("Claims beside what follows"),
            columns=[_("Claim"), _("Claimed"), _("Follows from the others"), _("Finding")],
            rows=list(_judgement_rows(result)),
            words=True,
        ),
        Figures(title=_("How it is computed"), figures=list(_figures(result))),
        Assumptions(rows=result["assumptions"]),
    ]


def _notes(comparison: Result, ranks: Result) -> Iterator[Note]:
    if comparison["speedup"] < 1:
        said = {"before": f"{comparison['effective_cards_before']:.1f}",
                "after": f"{comparison['effective_cards_after']:.1f}"}  # fmt: skip
        text = _(
            "Cards times MFU falls from %(before)s to %(after)s: a higher MFU does not make up for fewer cards."
        )
        yield Note(tone="warn", title=_("The second setup is slower"), text=text % said)
    if not ranks["experts_fit_domain"]:
        yield Note(tone="fail", title=_("The expert group does not fit one domain"))
    elif not ranks["experts_fit_split_by_tp"]:
        text = _("Experts that are cut by the tensor group as well need TP times as many cards.")
        yield Note(
            tone="warn", title=_("The expert group fits one domain only without cutting experts"), text=text
        )


def _judgement_rows(result: Result) -> Iterator[list[Any]]:
    for one in (*result["comparison"]["judgements"], *result["run"]["judgements"]):
        shown = (
            show_seconds if one["name"] == "time_s" else _ratio if one["name"] == "speedup" else show_share
        )
        verdict, word = FINDINGS[Finding(one["finding"])]
        yield [
            CLAIMED[one["name"]],
            "—" if one["claimed"] is None else shown(one["claimed"]),
            shown(one["implied"]),
            {"verdict": verdict, "label": word} if verdict else word,
        ]
    verdict, word = SCALING[ScalingVerdict(result["scaling"]["verdict"])]
    yield [
        _("scaling factor"),
        _ratio(result["scaling"]["factor"]),
        _("%(share)s of the ideal") % {"share": show_share(result["scaling"]["efficiency"])},
        {"verdict": verdict, "label": word},
    ]


def _ratio(value: float) -> str:
    return f"{value:.3f} ×"


def _figures(result: Result) -> Iterator[Figure]:
    comparison, run = result["comparison"], result["run"]
    yield Figure(key="claims.speedup", name=_("Speed-up"), value=_ratio(comparison["speedup"]))
    yield Figure(key="claims.time_saved", name=_("Time saved"), value=show_share(comparison["time_saved"]))
    if comparison["equivalent_extra_cards"] is not None:
        extra = f"{comparison['equivalent_extra_cards']:.1f}"
        yield Figure(key="claims.equivalent_extra_cards", name=_("Cards that the gain is worth"), value=extra)
    if run["implied_mfu"] is not None:
        yield Figure(key="claims.implied_mfu", name=_("MFU of the run"), value=show_share(run["implied_mfu"]))
    if run["implied_time_s"] is not None:
        shown = show_seconds(run["implied_time_s"])
        yield Figure(key="claims.implied_time_s", name=_("Time of the run"), value=shown)
    efficiency = show_share(result["scaling"]["efficiency"])
    yield Figure(key="claims.efficiency", name=_("Scaling efficiency"), value=efficiency)
    yield Figure(key="claims.world", name=_("Ranks"), value=count_shown(result["ranks"]["world"]))


STUDY = Study(
    key="claims",
    title=_l("Claims check"),
    question=_l("What follows from published or vendor figures, and which of them contradict each other?"),
    icon="scale",
    form=ClaimsForm,
    compute=compute,
    show=show,
)
