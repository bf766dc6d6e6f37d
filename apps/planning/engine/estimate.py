"""Estimate: everything the engine says about one configuration, with the assumptions behind it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from apps.catalogue.engine.models import AttentionFlops, ModelSpec
from apps.core.texts import kept, say
from apps.planning.engine.coefficients import Coefficients, shipped_coefficients
from apps.planning.engine.energy import step_energy_j
from apps.planning.engine.intervals import half_width, interval
from apps.planning.engine.kinds import kind_of, published_kinds
from apps.planning.engine.layouts import WORDS, Floats, Layouts
from apps.planning.engine.memory import StageMemory, stage_memory
from apps.planning.engine.stages import content
from apps.planning.engine.states import bytes_per_param
from apps.planning.engine.step_time import StepTime, step_time
from apps.planning.engine.system import System, peak_flops
from apps.planning.engine.warnings import Warning, plan_warnings
from apps.planning.engine.workload import Workload


@dataclass(frozen=True, slots=True, kw_only=True)
class Assumption:
    """An input that was not given: its value and where that comes from. `uncertain` widens the interval."""

    name: str
    value: str | float | int | bool
    source: str
    uncertain: bool = False

    def to_json(self) -> dict[str, Any]:
        """As the commands print it."""
        return {"name": self.name, "value": self.value, "source": self.source, **kept(self.source)}


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanInput:
    """One configuration of one model on one system; `layout` holds arrays of length one."""

    model: ModelSpec
    system: System
    workload: Workload
    layout: Layouts
    assumptions: tuple[Assumption, ...] = ()
    ignored: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class StageLedger:
    """Bytes on one card of one stage."""

    stage: int
    layers: int
    weights_bytes: float
    gradients_bytes: float
    optimizer_bytes: float
    activations_bytes: float
    logits_bytes: float
    buffers_bytes: float
    total_bytes: float


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryLedger:
    """All stages against the capacity of a card; `reserve_share` must stay free, `headroom_share` does."""

    stages: tuple[StageLedger, ...]
    peak_bytes: float
    capacity_bytes: float
    fits: bool
    reserve_share: float
    headroom_share: float


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeLedger:
    """Seconds of one step. All but `exposed_communication_s` (tp + cp + ep + pp + dp) and `traffic_s`
    (communication before overlap) add up to the step."""

    compute_s: float
    tp_s: float
    cp_s: float
    ep_s: float
    pp_s: float
    dp_s: float
    bubble_s: float
    optimizer_s: float
    other_s: float
    exposed_communication_s: float
    traffic_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """The answer to one plan. FLOPs are those of the model, attention counted in full; `hfu` adds what is
    computed again."""

    iteration_time_s: float
    iteration_time_low_s: float
    iteration_time_high_s: float
    tokens_per_s: float
    model_tflops_per_accelerator: float
    mfu: float
    hfu: float
    energy_j_per_token: float
    memory: MemoryLedger
    time: TimeLedger
    warnings: tuple[Warning, ...] = ()
    assumptions: tuple[Assumption, ...] = ()
    configuration: Mapping[str, Any] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Plain values, in the shape that the commands print."""
        memory = {name: getattr(self.memory, name) for name in MemoryLedger.__slots__ if name != "stages"}
        stages = [{k: getattr(s, k) for k in StageLedger.__slots__} for s in self.memory.stages]
        return {
            "iteration_time_s": self.iteration_time_s,
            "iteration_time_low_s": self.iteration_time_low_s,
            "iteration_time_high_s": self.iteration_time_high_s,
            "tokens_per_s": self.tokens_per_s,
            "model_tflops_per_accelerator": self.model_tflops_per_accelerator,
            "mfu": self.mfu,
            "hfu": self.hfu,
            "energy_j_per_token": self.energy_j_per_token,
            "memory": {"stages": stages, **memory},
            "time": {name: getattr(self.time, name) for name in TimeLedger.__slots__},
            "warnings": [{"code": w.code, "message": w.message, **kept(w.message)} for w in self.warnings],
            "assumptions": [a.to_json() for a in self.assumptions],
            "configuration": dict(self.configuration),
        }


def estimate(plan: PlanInput, coefficients: Coefficients | None = None) -> Estimate:
    """Memory per stage, time of a step and what follows from both.

    Raises OutOfRange where the card lacks a figure that is needed (memory, bandwidth, peak of the format).
    """
    c = coefficients or shipped_coefficients()
    memory = memory_ledger(plan, c)
    step = step_time(plan.model, plan.system, plan.workload, plan.layout, c)
    total = float(step.total[0])
    low, high = interval(total, _half_width(plan, c))
    sequences, seq_len = int(plan.layout.global_batch[0]), plan.workload.seq_len
    cards = int(plan.layout.accelerators[0])
    flops = plan.model.model_flops(sequences=sequences, seq_len=seq_len)
    repeated = plan.model.recompute_flops(
        sequences=sequences, seq_len=seq_len, level=WORDS["recompute"][int(plan.layout.recompute[0])]
    )
    achieved = flops / total / cards
    peak = peak_flops(plan.system.accelerator, plan.workload.precision)
    warnings = plan_warnings(plan.model, plan.system, plan.workload, plan.layout, memory.peak_bytes, c)
    ignored = tuple(
        Warning(code="ignored_input", message=say("%(pointer)s is not used", pointer=pointer))
        for pointer in plan.ignored
    )
    return Estimate(
        iteration_time_s=total,
        iteration_time_low_s=low,
        iteration_time_high_s=high,
        tokens_per_s=sequences * seq_len / total,
        model_tflops_per_accelerator=achieved / 1e12,
        mfu=achieved / peak,
        hfu=achieved / peak * (1.0 + repeated / flops),
        energy_j_per_token=float(step_energy_j(plan.system, plan.layout, step)[0]) / (sequences * seq_len),
        memory=memory,
        time=_time_ledger(step),
        warnings=warnings + ignored,
        assumptions=plan.assumptions + _conventions(plan),
        configuration=plan.layout.named(0),
    )


def _half_width(plan: PlanInput, c: Coefficients) -> float:
    uncertain = (a.name for a in plan.assumptions if a.uncertain)
    kind = kind_of(plan.model, plan.system, plan.workload)
    return half_width(uncertain, c, kind=kind, published=kind in published_kinds())


def memory_ledger(plan: PlanInput, coefficients: Coefficients | None = None) -> MemoryLedger:
    """What a card of every stage holds."""
    c = coefficients or shipped_coefficients()
    stages = int(plan.layout.pp[0])
    repeated = plan.layout.take(np.zeros(stages, dtype=np.int64))
    ledger = stage_memory(plan.model, plan.workload, repeated, np.arange(stages), c)
    rows = tuple(_stage_ledger(plan, ledger, stage) for stage in range(stages))
    peak = max(row.total_bytes for row in rows)
    capacity = plan.system.capacity_bytes
    return MemoryLedger(
        stages=rows,
        peak_bytes=peak,
        capacity_bytes=capacity,
        fits=peak <= capacity * (1.0 - plan.workload.reserve_share),
        reserve_share=plan.workload.reserve_share,
        headroom_share=1.0 - peak / capacity,
    )


def _stage_ledger(plan: PlanInput, ledger: StageMemory, stage: int) -> StageLedger:
    def at(column: Floats) -> float:
        return float(column[stage])

    return StageLedger(
        stage=stage,
        layers=int(content(plan.model, plan.layout, np.array([stage])).layers[0]),
        weights_bytes=at(ledger.weights),
        gradients_bytes=at(ledger.gradients),
        optimizer_bytes=at(ledger.optimizer),
        activations_bytes=at(ledger.activations),
        logits_bytes=at(ledger.logits),
        buffers_bytes=at(ledger.buffers),
        total_bytes=at(ledger.total),
    )


def _time_ledger(step: StepTime) -> TimeLedger:
    names = ("compute", "tp", "cp", "ep", "pp", "dp", "bubble", "optimizer", "other")
    parts = {f"{name}_s": float(getattr(step, name)[0]) for name in names}
    return TimeLedger(
        **parts,
        exposed_communication_s=float(step.exposed_communication[0]),
        traffic_s=float(step.traffic[0]),
    )


def _conventions(plan: PlanInput) -> tuple[Assumption, ...]:
    """Which of several usual ways of counting the figures follow."""
    zero, ranks = int(plan.layout.zero[0]), int(plan.layout.data_ranks[0])
    kind = kind_of(plan.model, plan.system, plan.workload)
    state = bytes_per_param(zero=zero, data_ranks=ranks, gradient_bytes=plan.workload.gradient_bytes)
    return (
        Assumption(
            name="state_bytes_per_parameter",
            value=state,
            source=say(
                "2 weights, %(gradient_bytes)s gradients, 12 optimizer; ZeRO %(zero)s over %(ranks)s",
                gradient_bytes=f"{plan.workload.gradient_bytes:g}",
                zero=zero,
                ranks=ranks,
            ),
        ),
        Assumption(
            name="attention_flops",
            value=str(AttentionFlops.FULL),
            source="Korthikanti et al. 2022, equation 7",
        ),
        Assumption(
            name="published_runs",
            value=kind in published_kinds(),
            source=say(
                "of %(architecture)s, %(precision)s and %(framework)s, %(experts)s; without any the interval is wider",
                architecture=kind.architecture,
                precision=kind.precision,
                framework=kind.framework,
                experts=say("models with experts") if kind.experts else say("models without experts"),
            ),
        ),
        Assumption(
            name="capacity_bytes",
            value=plan.system.capacity_bytes,
            source=say("catalogue, %(name)s, decimal GB", name=plan.system.accelerator.name),
        ),
    )
