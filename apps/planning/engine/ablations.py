"""Ablations: the few configurations to run for real before a plan is trusted, with what each one tells."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from apps.core.texts import say
from apps.planning.engine.coefficients import Coefficients
from apps.planning.engine.estimate import Estimate, PlanInput, estimate
from apps.planning.engine.layouts import Layouts, Schedule
from apps.planning.engine.reading_parallel import usual_overlaps
from apps.planning.engine.rules import REASONS, rejected_with, violations

MOST_ZERO_OF_PIPELINES = 1  # gradients and weights that are sharded do not go with stages


@dataclass(frozen=True, slots=True, kw_only=True)
class Ablation:
    """One configuration to run: its sizes, the question it answers, the prediction, or why it cannot run."""

    tp: int
    pp: int
    dp: int
    question: str
    plan: PlanInput | None
    prediction: Estimate | None
    problems: tuple[str, ...] = ()


def ablation_sizes(accelerators: int) -> tuple[tuple[int, int, int, str], ...]:
    """Sizes to compare: one deep pipeline, tensor groups twice as wide, and two replicas in its place.

    For 144 cards: TP8 PP18, TP16 PP9, TP8 PP9 DP2. Sizes that do not divide the cards are left out.
    """
    wanted = (
        (8, 1, say("one replica, tensor groups of one host")),
        (16, 1, say("wider tensor groups: what leaving a host costs, or the domain saves")),
        (8, 2, say("two replicas: gradient traffic against a shorter pipeline")),
        (4, 2, say("narrower tensor groups: larger products against more layers a card")),
    )
    sizes = []
    for tp, dp, question in wanted:
        if accelerators % (tp * dp) == 0 and accelerators >= tp * dp:
            sizes.append((tp, accelerators // (tp * dp), dp, question))
    return tuple(sizes)


def ablations(plan: PlanInput, coefficients: Coefficients | None = None) -> tuple[Ablation, ...]:
    """The list for a plan's model, system and batch, each with its prediction."""
    return tuple(
        _ablation(plan, tp, pp, dp, question, coefficients)
        for tp, pp, dp, question in ablation_sizes(plan.system.accelerators)
    )


def _ablation(
    plan: PlanInput, tp: int, pp: int, dp: int, question: str, coefficients: Coefficients | None
) -> Ablation:
    row = plan.layout.row(0)
    fixed = {"tp": tp, "pp": pp, "dp": dp, "cp": 1, "vpp": 1, "ep": 1, "etp": 1}
    if pp > 1:
        fixed["zero"] = min(int(row["zero"]), MOST_ZERO_OF_PIPELINES)
    schedule = int(Schedule.ONE_F_ONE_B)
    layout = Layouts.single(**(row | fixed | {"sequence_parallel": tp > 1, "schedule": schedule}))
    layout = _with_whole_batches(layout)
    found = violations(
        plan.model, layout, accelerators=plan.system.accelerators, seq_len=plan.workload.seq_len
    )
    refused = rejected_with(plan.workload.framework)
    problems = tuple(REASONS[code][1] for code, mask in found.items() if mask[0] and code in refused)
    if problems:
        return Ablation(tp=tp, pp=pp, dp=dp, question=question, plan=None, prediction=None, problems=problems)
    changed = _with_layout(plan, layout)
    return Ablation(
        tp=tp, pp=pp, dp=dp, question=question, plan=changed, prediction=estimate(changed, coefficients)
    )


def _with_layout(plan: PlanInput, layout: Layouts) -> PlanInput:
    """The plan with another layout; what was assumed of its traffic follows from that one."""
    usual = usual_overlaps(zero=int(layout.zero[0]), sequence_parallel=bool(layout.sequence_parallel[0]))
    assumed: dict[str, Any] = {a.name: usual[a.name] for a in plan.assumptions if a.name in usual}
    return replace(
        plan,
        layout=layout,
        workload=replace(plan.workload, **assumed),
        assumptions=tuple(replace(a, value=assumed.get(a.name, a.value)) for a in plan.assumptions),
    )


def _with_whole_batches(layout: Layouts) -> Layouts:
    """The configuration with its micro-batch lowered until it divides the share of a replica."""
    per_replica = int(layout.global_batch[0]) // int(layout.dp[0])
    micro = int(layout.micro_batch[0])
    while micro > 1 and per_replica % micro:
        micro -= 1
    return replace(layout, micro_batch=np.array([micro]))
