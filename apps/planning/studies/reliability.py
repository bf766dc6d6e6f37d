"""Reliability: how often a job fails, how often to save, and what share of the time is useful work."""

from __future__ import annotations

from math import inf, isfinite
from typing import Any

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _l

from apps.core import clock
from apps.core.texts import say
from apps.fleet.queries import clusters_visible
from apps.planning.engine import reliability as engine
from apps.planning.engine.operations import failure_presets
from apps.planning.engine.reliability import Checkpointing, FailureModel
from apps.planning.engine.simulation import simulate_goodput
from apps.planning.queries.history import fault_history
from apps.planning.studies import fields as f
from apps.planning.studies.base import Result, Study, Values
from apps.planning.studies.blocks import (
    Assumed,
)
from apps.planning.studies.reliability_shown import show

DAY_S = 86_400.0
OWN, HISTORY = "own", "history"
MOST_FAILURES = 2000  # that one simulated run goes through; longer periods are cut
CURVE_POINTS = 41
PRESET_WORDS = {
    "optimistic": _l("0.5 % of nodes a week (planning figure)"),
    "published_16k": _l("2.65 % of nodes a week (published run on 16,384 accelerators)"),
}


class ReliabilityForm(f.StudyForm):
    """How nodes fail, what is saved and how, and how sure spares should make it."""

    start = {
        "nodes": 18, "rate": "optimistic", "history_days": 90, "domains": 1, "domain_percent_per_week": 0.1,
        "period_days": 7, "params_billion": 70, "storage_gb_s": 20, "async_stall_s": 5, "restart_s": 600,
        "repair_hours": 24, "spare_target_percent": 99, "baseline_s": 60, "runs": 400,
    }  # fmt: skip
    groups = (
        (_l("Failures"), ("nodes", "rate", "own_percent_per_week", "history_cluster", "history_days", "domains",
                          "domain_percent_per_week", "period_days")),
        (_l("Checkpoints"), ("params_billion", "storage_gb_s", "async_stall_s", "restart_s")),
        (_l("Spares and time-outs"), ("repair_hours", "spare_target_percent", "baseline_s", "runs")),
    )  # fmt: skip

    nodes = f.whole(_l("Nodes of the job"), most=100_000)
    rate = forms.ChoiceField(label=_l("How often a node fails"), choices=[])
    own_percent_per_week = f.percent(_l("Own rate, per node and week"), most=99.9, required=False)
    history_cluster = forms.ModelChoiceField(
        None, required=False, label=_l("Cluster whose faults count"), to_field_name="slug", empty_label="—"
    )
    history_days = f.number(_l("Look back"), least=1, most=3650, unit=_l("days"))
    domains = f.whole(_l("Scale-up domains"), least=0, most=100_000)
    domain_percent_per_week = f.percent(
        _l("A whole domain fails, per week"),
        most=99.9,
        help_text=_l("Switch tray, power, re-initialisation."),
    )
    period_days = f.number(_l("Period"), least=0.01, most=3650, unit=_l("days"))
    params_billion = f.number(_l("Parameters, billions"), least=1e-6)
    storage_gb_s = f.number(_l("Storage takes, all nodes together"), least=1e-6, unit="GB/s")
    async_stall_s = f.number(_l("Stall of an asynchronous save"), least=1e-3, most=1e6, unit="s")
    restart_s = f.number(_l("Restart after a failure"), most=1e6, unit="s")
    repair_hours = f.number(_l("A failed node is back after"), most=10_000, unit="h")
    spare_target_percent = f.number(_l("Spares suffice with"), least=1, most=99.999, unit="%")
    baseline_s = f.number(_l("Slowest healthy collective"), least=1e-6, most=1e6, unit="s")
    runs = f.whole(_l("Simulated runs"), least=10, most=2000)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        presets = [(key, PRESET_WORDS.get(key, row.title)) for key, row in failure_presets().items()]
        chosen: Any = self.fields["rate"]
        chosen.choices = [*presets, (OWN, _("own rate")), (HISTORY, _("own fault history"))]
        clusters: Any = self.fields["history_cluster"]
        clusters.queryset = clusters_visible(self.actor)

    def clean(self) -> dict[str, Any]:
        data = super().clean() or {}
        if data.get("rate") == OWN and data.get("own_percent_per_week") is None:
            self.add_error("own_percent_per_week", _("Say the rate, or choose another one."))
        if data.get("rate") == HISTORY and data.get("history_cluster") is None:
            self.add_error("history_cluster", _("Choose the cluster whose faults count."))
        return data

    def values(self) -> dict[str, Any]:
        data = super().values()
        cluster, rate = data.pop("history_cluster"), data["rate"]
        if rate == HISTORY:
            found = fault_history(self.actor, cluster, days=data["history_days"], now=clock.now())
            said = {"failures": found.failures, "nodes": found.nodes, "days": f"{found.days:.1f}"}
            text = _(
                "%(failures)s failures of %(nodes)s nodes in %(days)s days, faults of a node on one day being one; "
                "one failure of a usual cluster weighed in"
            )
            return data | {"per_node_week": found.per_node_week, "rate_source": text % said}
        if rate == OWN:
            share = data["own_percent_per_week"] / 100
            return data | {"per_node_week": share, "rate_source": _("given by you")}
        preset = failure_presets()[rate]
        return data | {"per_node_week": preset.per_node_week, "rate_source": preset.source}


CONFIDENCE_OF_RATE = {HISTORY: "measured", OWN: "given", "published_16k": "published"}


def compute(values: Values) -> Result:
    """Failures, intervals and goodput as JSON values; shares lie between 0 and 1, times are seconds."""
    model = FailureModel(
        nodes=values["nodes"],
        per_node_week=values["per_node_week"],
        domains=values["domains"],
        per_domain_week=values["domain_percent_per_week"] / 100,
    )
    alone = FailureModel(nodes=values["nodes"], per_node_week=values["per_node_week"])
    size = engine.checkpoint_bytes(values["params_billion"] * 1e9)
    save_s = max(size / (values["storage_gb_s"] * 1e9), 1e-3)
    modes = {
        "synchronous": Checkpointing(stall_s=save_s, drain_s=save_s, restart_s=values["restart_s"]),
        "asynchronous": Checkpointing(
            stall_s=values["async_stall_s"],
            drain_s=max(save_s, values["async_stall_s"]),
            restart_s=values["restart_s"],
        ),
    }
    period_s = values["period_days"] * DAY_S
    p_down = min(0.99, model.rate_per_s / values["nodes"] * values["repair_hours"] * 3600.0)
    return {
        "nodes": {
            "p_any_week": alone.p_any(engine.WEEK_S),
            "p_any_period": alone.p_any(period_s),
            "mtbf_s": _finite(alone.mtbf_s),
        },
        "job": {
            "p_any_week": model.p_any(engine.WEEK_S),
            "p_any_period": model.p_any(period_s),
            "mtbf_s": _finite(model.mtbf_s),
        },
        "checkpoint_bytes": size,
        "modes": {name: _mode(model, saving, period_s, values["runs"]) for name, saving in modes.items()},
        "spares": {
            "p_down": p_down,
            "needed": _spares(values["nodes"], p_down, values["spare_target_percent"] / 100),
        },
        "timeout_s": list(engine.timeout_range_s(values["baseline_s"])),
        "growth": _growth(values),
        "assumptions": _assumptions(values),
    }


def _finite(value: float) -> float | None:
    return value if isfinite(value) else None


def _mode(model: FailureModel, saving: Checkpointing, period_s: float, runs: int) -> Result:
    """Intervals of one way to save, its goodput over the interval, and a simulation at the best one."""
    best = engine.best_interval_s(model, saving)
    found: Result = {
        "stall_s": saving.stall_s,
        "drain_s": saving.drain_s,
        "young_s": None,
        "daly_s": None,
        "availability_s": None,
        "best_s": _finite(best),
        "goodput": 1.0,
        "simulated": None,
        "curve": [],
    }
    if best == inf:
        return found
    simulated_s = min(period_s, MOST_FAILURES * model.mtbf_s)
    drawn = simulate_goodput(model, saving, interval_s=best, period_s=simulated_s, runs=runs)
    steps = [best * 10 ** (place / 20 - 1) for place in range(CURVE_POINTS)]
    return found | {
        "young_s": engine.young_interval_s(saving.stall_s, model.mtbf_s),
        "daly_s": engine.daly_interval_s(saving.stall_s, model.mtbf_s),
        "availability_s": engine.availability_interval_s(saving.stall_s, model.mtbf_s, saving.restart_s),
        "goodput": engine.goodput(model, saving, best),
        "simulated": {
            "mean": drawn.mean,
            "low": drawn.low,
            "high": drawn.high,
            "failures_per_run": drawn.failures_per_run,
            "period_s": simulated_s,
        },
        "curve": [
            [step, engine.goodput(model, saving, step)]
            for step in steps
            if step >= saving.shortest_interval_s
        ],
    }


def _spares(nodes: int, p_down: float, target: float) -> int | None:
    """Spares that suffice; None where so many are down that no sensible number does."""
    return engine.spares_for(needed=nodes, p_down=p_down, target=target) if nodes * p_down < 500 else None


def _growth(values: Values) -> list[list[float]]:
    """Nodes, P(any failure in a week) and MTBF in seconds for sizes around the job's."""
    sizes = sorted({9, 18, 36, 72, 144, 288, 576, 1152, 2048, int(values["nodes"])})
    models = [FailureModel(nodes=size, per_node_week=values["per_node_week"]) for size in sizes]
    return [[m.nodes, m.p_any(engine.WEEK_S), m.mtbf_s if isfinite(m.mtbf_s) else 0.0] for m in models]


def _assumptions(values: Values) -> list[dict[str, Any]]:
    assumed = Assumed()
    confidence = CONFIDENCE_OF_RATE.get(values["rate"], "rule_of_thumb")
    assumed.add("per_node_week", values["per_node_week"], values["rate_source"], confidence)
    assumed.add("bytes_per_parameter", 14, say("2 of weights and 12 of optimizer"), "derived")
    assumed.add(
        "failures", say("exponential"), say("independent of each other and without memory"), "rule_of_thumb"
    )
    assumed.add("seed", 1, say("random numbers of the simulation, repeatable"), "stated")
    return assumed.rows


STUDY = Study(
    key="reliability",
    title=_l("Reliability"),
    question=_l(
        "How often does a job fail, how often should it save, and how much of the time is useful work?"
    ),
    icon="heartbeat",
    form=ReliabilityForm,
    compute=compute,
    show=show,
)
