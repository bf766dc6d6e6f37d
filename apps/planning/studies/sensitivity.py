"""Sensitivity: how a layout's step moves with bandwidth and efficiency, as curves and as a grid of both."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _l

from apps.core.errors import FieldError, Invalid
from apps.core.texts import of_row
from apps.core.units import show_change, show_seconds, show_share
from apps.planning.documents import is_search
from apps.planning.engine.coefficients import Coefficients, shipped_coefficients
from apps.planning.engine.estimate import PlanInput, estimate
from apps.planning.engine.reading import read_plan
from apps.planning.engine.sensitivity import scaled, sensitivity
from apps.planning.engine.step_time import step_time
from apps.planning.engine.system import rates
from apps.planning.studies import fields as f
from apps.planning.studies.base import Result, Study, Values
from apps.planning.studies.blocks import (
    Assumed,
    Assumptions,
    Block,
    Chart,
    Figure,
    Figures,
    Note,
    Stat,
    Stats,
    Table,
    axes,
    line,
)
from apps.planning.studies.hardware import HardwareFields, domain_rows, system_document, warning_notes
from apps.planning.words import SWINGS

FACTORS = (0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 2.0)
GRID = (0.5, 0.75, 1.0, 1.5, 2.0)
CURVES = ("scale_up_bandwidth", "scale_out_bandwidth", "matrix_efficiency", "memory_bandwidth")
DASHES = ("solid", "dash", "dot", "dashdot")
SAME_SYSTEM = ("accelerator", "accelerators", "domain_size", "scale_up_gb_s", "scale_out_gb_s")
OF_SYSTEM = ("sub_domain_size", "convergence_ratio", "measured")
LAYOUT = ("tp", "pp", "vpp", "dp", "cp", "ep", "micro_batch", "global_batch", "seq_len", "recompute", "zero")


class SensitivityForm(HardwareFields):
    """A model, a system and one layout."""

    start = {
        "model": "llama-3-70b", "accelerator": "nvidia-gb200", "accelerators": 144, "domain_size": 72,
        "tp": 8, "pp": 9, "vpp": 1, "dp": 2, "cp": 1, "ep": 1, "micro_batch": 1, "global_batch": 144,
        "seq_len": 8192, "recompute": "selective", "zero": 1, "precision": "bf16", "change_percent": 20,
    }  # fmt: skip
    groups = (
        (_l("Model"), ("model", "precision")),
        (
            _l("Hardware"),
            ("accelerator", "catalogue", "accelerators", "domain_size", "scale_up_gb_s", "scale_out_gb_s"),
        ),
        (_l("Layout"), LAYOUT),
        (_l("Change"), ("change_percent",)),
    )

    model = f.ModelField(label=_l("Model"))
    precision = f.precision()
    accelerators = f.whole(_l("Accelerators"))
    tp, pp, vpp = (
        f.whole(_l("Tensor (TP)")),
        f.whole(_l("Pipeline (PP)")),
        f.whole(_l("Virtual stages (VPP)")),
    )
    dp, cp, ep = f.whole(_l("Data (DP)")), f.whole(_l("Context (CP)")), f.whole(_l("Expert (EP)"))
    micro_batch = f.whole(_l("Micro-batch"))
    global_batch = f.whole(_l("Global batch, sequences"))
    seq_len = f.whole(_l("Sequence length, tokens"), most=10_000_000)
    recompute = forms.ChoiceField(
        choices=[("none", _l("none")), ("selective", _l("selective")), ("full", _l("full"))],
        label=_l("Recomputation"),
    )
    zero = f.whole("ZeRO", least=0, most=3)
    change_percent = f.number(_l("Figures lower and higher by"), least=1, most=90, unit="%")

    def values(self) -> dict[str, Any]:
        """The cleaned input; of a plan's version also what it says beyond the fields, so that its step is the same."""
        data = super().values()
        if self.plan is None or is_search(self.plan.input):
            return data
        system, parallel = self.plan.input["system"], self.plan.input["parallel"]
        start = {"domain_size": data["domain_size"]}  # which a plan need not state
        beyond: dict[str, Any] = {
            "options": {key: value for key, value in parallel.items() if key not in self.fields}
        }
        if all(data[name] == system.get(name, start.get(name)) for name in SAME_SYSTEM):
            beyond |= {name: system[name] for name in OF_SYSTEM if name in system}
        return data | beyond


def plan_of(values: Values) -> PlanInput:
    """The plan of cleaned values. Raises Invalid with pointers to the fields."""
    chosen = {name: values[name] for name in LAYOUT} | {"precision": values["precision"]}
    parallel = (values.get("options") or {}) | chosen
    try:
        return read_plan({"model": values["model"], "system": system_document(values), "parallel": parallel})
    except Invalid as error:
        errors = [
            FieldError(pointer="/" + one.pointer.rpartition("/")[2], message=one.message, code=one.code)
            for one in error.errors
        ]
        raise Invalid(error.message, code=error.code, errors=errors) from error


def compute(values: Values) -> Result:
    """Swings, curves over factors, and the grid of bandwidth and efficiency, as JSON values."""
    plan, c = plan_of(values), shipped_coefficients()
    base, limit = estimate(plan), rates(plan.system.accelerator, plan.workload.precision, c)
    return {
        "iteration_time_s": base.iteration_time_s,
        "tokens_per_s": base.tokens_per_s,
        "mfu": base.mfu,
        "fits": base.memory.fits,
        "swings": [
            {"name": one.name, "lowered_s": one.lowered_s, "raised_s": one.raised_s}
            for one in sensitivity(plan, change=values["change_percent"] / 100)
        ],
        "factors": list(FACTORS),
        "grid_factors": list(GRID),
        "curves": {name: [_seconds(plan, c, {name: factor}) for factor in FACTORS] for name in CURVES},
        "grid": [
            [_seconds(plan, c, {"scale_up_bandwidth": up, "matrix_efficiency": rate}) for up in GRID]
            for rate in GRID
        ],
        "efficiency_limit": limit.peak_flops / limit.matrix_flops,
        "warnings": domain_rows(values),
        "assumptions": _assumptions(values, base.assumptions),
    }


def _seconds(plan: PlanInput, c: Coefficients, factors: dict[str, float]) -> float:
    for name, factor in factors.items():
        plan, c = scaled(plan, c, name, factor)
    return float(step_time(plan.model, plan.system, plan.workload, plan.layout, c).total[0])


def _assumptions(values: Values, assumptions: Any) -> list[dict[str, Any]]:
    assumed, own = Assumed(), values.get("figures") or {}
    for one in assumptions:
        stated = own[one.name]["confidence"] if one.name in own else "derived"
        assumed.add(one.name, one.value, one.source, "rule_of_thumb" if one.uncertain else stated)
    measured = values.get("measured") or {}
    source = of_row({"message": measured.get("source", ""), **measured.get("said", {})})
    for name, value in measured.items():
        if name not in ("source", "said"):
            assumed.add(name, value, source, "measured")
    return assumed.rows


def show(values: Values, result: Result) -> list[Block]:
    """Stats, curves, swings, and the grid."""
    swings, base = result["swings"], result["iteration_time_s"]
    widest = swings[0]
    stats = [
        Stat(label=_("Step"), value=show_seconds(base)),
        Stat(label="MFU", value=f"{100 * result['mfu']:.1f}", unit="%"),
        Stat(
            label=_("Widest swing"),
            value=show_change(widest["lowered_s"] / base - 1),
            note=_on_what(values, widest),
        ),
    ]
    return [
        Stats(stats=stats),
        *_notes(result),
        _curves_chart(result),
        _swing_table(values, result),
        _grid_table(result),
        Figures(title=_("How it is computed"), figures=list(_figures(result))),
        Assumptions(rows=result["assumptions"]),
    ]


def _on_what(values: Values, swing: Result) -> str:
    said = {"figure": SWINGS[swing["name"]], "change": f"{values['change_percent']:g} %"}
    return _("%(figure)s %(change)s lower") % said


def _notes(result: Result) -> Iterator[Note]:
    yield from warning_notes(result["warnings"])
    if not result["fits"]:
        yield Note(
            tone="warn",
            title=_("This layout does not fit the memory"),
            text=_("Its times are what they would be."),
        )
    if result["efficiency_limit"] < FACTORS[-1]:
        text = _("At %(factor)s × products reach the peak of the accelerator; beyond it the curve is flat.")
        yield Note(
            tone="neutral",
            title=_("Efficiency ends at the peak"),
            text=text % {"factor": f"{result['efficiency_limit']:.2f}"},
        )
    half = result["curves"]["scale_up_bandwidth"][FACTORS.index(0.5)] / result["iteration_time_s"] - 1
    text = _(
        "With half of the scale-up bandwidth, as a wrong firmware can cause, a step takes %(more)s longer."
    )
    yield Note(
        tone="neutral",
        title=_("What half of the bandwidth costs"),
        text=text % {"more": show_share(half)},
    )


def _curves_chart(result: Result) -> Chart:
    base = result["iteration_time_s"]
    return Chart(
        id="curves",
        title=_("Speed over each figure"),
        summary=_("A steep line is a figure that the step hangs on; a flat one has room to spare."),
        figure={
            "data": [
                line(SWINGS[name], FACTORS, [base / one for one in seconds], dash=dash)
                for (name, seconds), dash in zip(result["curves"].items(), DASHES, strict=True)
            ],
            "layout": axes(_("figure, as a factor"), _("throughput, as a factor")),
        },
        columns=[_("Factor"), *(SWINGS[name] for name in result["curves"])],
        rows=[
            [f"{factor:g}", *(show_seconds(seconds[place]) for seconds in result["curves"].values())]
            for place, factor in enumerate(FACTORS)
        ],
    )


def _swing_table(values: Values, result: Result) -> Table:
    base, change = result["iteration_time_s"], f"{values['change_percent']:g} %"
    rows = [
        [SWINGS[one["name"]], *(show_change(one[end] / base - 1, 2) for end in ("lowered_s", "raised_s"))]
        for one in result["swings"]
    ]
    columns = [_("Figure"), f"−{change}", f"+{change}"]
    return Table(title=_("Change of the step"), columns=columns, rows=rows, icon="adjustments")


def _grid_table(result: Result) -> Table:
    rows = [
        [f"{factor:g} ×", *(show_seconds(one) for one in row)]
        for factor, row in zip(GRID, result["grid"], strict=True)
    ]
    return Table(
        title=_("Step by efficiency (down) and scale-up bandwidth (across)"),
        columns=[_("Efficiency"), *(f"{factor:g} ×" for factor in GRID)],
        rows=rows,
    )


def _figures(result: Result) -> Iterator[Figure]:
    yield Figure(key="sensitivity.step", name=_("Step"), value=show_seconds(result["iteration_time_s"]))
    yield Figure(
        key="sensitivity.swing", name=_("Widest swing"), value=str(SWINGS[result["swings"][0]["name"]])
    )


STUDY = Study(
    key="sensitivity",
    title=_l("Sensitivity"),
    question=_l("On which figures does a layout's speed hang, and how much?"),
    icon="adjustments",
    form=SensitivityForm,
    compute=compute,
    show=show,
)
