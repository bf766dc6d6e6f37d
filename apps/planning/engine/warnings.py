"""Warnings: traps that a plan may contain although it can run."""

from __future__ import annotations

from dataclasses import dataclass

from apps.catalogue.engine.models import ModelSpec
from apps.planning.engine.coefficients import Coefficients, is_validated
from apps.planning.engine.collectives import fabric, group
from apps.planning.engine.layouts import Layouts, Schedule
from apps.planning.engine.rules import REASONS
from apps.planning.engine.stages import content
from apps.planning.engine.system import System
from apps.planning.engine.workload import Framework, Workload

TIGHT_SHARE = 0.95
BOTH_WAYS = 1.8  # times the one-way figure of the catalogue


@dataclass(frozen=True, slots=True, kw_only=True)
class Warning:
    """One trap: a stable code and a sentence."""

    code: str
    message: str


def plan_warnings(
    model: ModelSpec,
    system: System,
    workload: Workload,
    layouts: Layouts,
    peak_bytes: float,
    coefficients: Coefficients,
) -> tuple[Warning, ...]:
    """Traps of one configuration (arrays of length one)."""
    found = [*_memory(system, workload, peak_bytes), *_groups(model, system, layouts, coefficients)]
    found += [*_pipeline(model, layouts), *_batch(workload, layouts)]
    return (*found, *_bandwidth(system), *_hardware(system))


def _hardware(system: System) -> list[Warning]:
    part = system.accelerator
    if is_validated(part.architecture):
        return []
    return [
        Warning(
            code="hardware_not_validated",
            message=f"no published run of {part.architecture} is part of the validation, so the interval is wider",
        )
    ]


def _bandwidth(system: System) -> list[Warning]:
    """A bandwidth that looks like the vendor's sum of both directions."""
    one_way = system.accelerator.scale_up.unidirectional_bytes_per_s
    if one_way is None or system.scale_up_bytes_per_s < BOTH_WAYS * one_way:
        return []
    return [
        Warning(
            code="bandwidth_both_ways",
            message=f"scale-up of {system.scale_up_bytes_per_s / 1e9:.0f} GB/s looks like the sum of both "
            f"directions, the catalogue has {one_way / 1e9:.0f} GB/s one way",
        )
    ]


def _memory(system: System, workload: Workload, peak_bytes: float) -> list[Warning]:
    used = peak_bytes / system.capacity_bytes
    if used > 1.0:
        return [Warning(code="does_not_fit", message=f"needs {used:.0%} of the memory of a card")]
    if used > TIGHT_SHARE:
        return [Warning(code="memory_tight", message=f"uses {used:.1%} of the memory of a card")]
    if used > 1.0 - workload.reserve_share:
        return [
            Warning(
                code="reserve_used",
                message=f"leaves {1 - used:.1%} of memory, less than the reserve of {workload.reserve_share:.0%}",
            )
        ]
    return []


def _groups(model: ModelSpec, system: System, layouts: Layouts, coefficients: Coefficients) -> list[Warning]:
    found = []
    ones = layouts.tp // layouts.tp
    net = fabric(system, coefficients)
    tensor = group(layouts.tp, ones, net)
    if tensor.domains[0] > 1:
        found.append(
            Warning(
                code="tp_leaves_domain",
                message=f"a tensor-parallel group spans {tensor.domains[0]} domains of {system.domain_size} cards",
            )
        )
    if tensor.domains[0] == 1 and tensor.sub_domains[0] > 1:
        found.append(
            Warning(
                code="tp_leaves_sub_domain",
                message=f"a tensor-parallel group spans {tensor.sub_domains[0]} sub-domains",
            )
        )
    experts = group(layouts.ep, layouts.etp, net)
    if model.is_moe and experts.domains[0] > 1:
        found.append(
            Warning(
                code="ep_leaves_domain",
                message=f"an expert-parallel group spans {experts.domains[0]} domains of {system.domain_size} cards",
            )
        )
    together = group(layouts.ep * layouts.tp, ones, net)
    if model.is_moe and layouts.tp[0] > 1 and experts.domains[0] == 1 and together.domains[0] > 1:
        found.append(
            Warning(
                code="ep_with_tp_leaves_domain",
                message=f"tp x ep is {int(layouts.tp[0] * layouts.ep[0])}, above the domain of "
                f"{system.domain_size} cards: experts must not be cut by tp as well",
            )
        )
    if 1 < model.kv_heads < layouts.tp[0] and model.mla is None:
        found.append(Warning(code="kv_heads_repeated", message="tp is above kv_heads, so keys are repeated"))
    return found


def _pipeline(model: ModelSpec, layouts: Layouts) -> list[Warning]:
    stages = int(layouts.pp[0])
    if stages == 1:
        return []
    found = []
    counts = [int(content(model, layouts, layouts.pp * 0 + stage).layers[0]) for stage in range(stages)]
    if min(counts) != max(counts):
        found.append(
            Warning(
                code="uneven_stages",
                message=f"{sum(counts)} layers on {stages} stages: {min(counts)} to {max(counts)} each, "
                "the heaviest sets the pace",
            )
        )
    micro = int(layouts.micro_batches[0])
    if layouts.schedule[0] == Schedule.INTERLEAVED and micro % stages:
        found.append(
            Warning(
                code="interleave_padded", message=f"{micro} micro-batches are no multiple of {stages} stages"
            )
        )
    if micro < stages:
        found.append(
            Warning(code="pipeline_starved", message=f"{micro} micro-batches cannot fill {stages} stages")
        )
    return found


def _batch(workload: Workload, layouts: Layouts) -> list[Warning]:
    found = []
    if layouts.dp[0] == 1:
        found.append(
            Warning(code="no_replicas", message="there is one replica, so no gradients are all-reduced")
        )
    if layouts.data_ranks[0] == 1 and layouts.zero[0] > 0:
        found.append(
            Warning(code="nothing_to_shard", message="there is one replica, so sharding saves nothing")
        )
    if layouts.zero[0] >= 2 and layouts.pp[0] > 1:
        code = "zero_with_pipeline"
        found.append(Warning(code=code, message=f"{REASONS[code][1]} in most frameworks"))
    if workload.framework is Framework.FSDP and layouts.pp[0] > 1:
        found.append(Warning(code="fsdp_with_pipeline", message="FSDP with pipeline stages is unusual"))
    return found
