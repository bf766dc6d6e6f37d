"""Warnings: traps that a plan may contain although it can run."""

from __future__ import annotations

from dataclasses import dataclass

from apps.catalogue.engine.models import ModelSpec
from apps.core.texts import say
from apps.planning.engine.coefficients import Coefficients
from apps.planning.engine.collectives import Fabric, fabric, group
from apps.planning.engine.kinds import is_validated
from apps.planning.engine.layouts import Layouts, Schedule
from apps.planning.engine.rules import OF_MEGATRON, REASONS, violations
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
    found += [*_pipeline(model, layouts), *_batch(workload, layouts), *_megatron(model, workload, layouts)]
    return (*found, *_bandwidth(system), *domain_warnings(system), *_hardware(system))


def domain_warnings(system: System) -> tuple[Warning, ...]:
    """A scale-up domain of more cards than ship in one: its bandwidth is nobody's."""
    most = system.accelerator.scale_up.max_domain
    if most is None or system.domain_size <= most:
        return ()
    return (
        Warning(
            code="domain_above_catalogue",
            message=say(
                "%(name)s ships in scale-up domains of up to %(most)s cards; one of %(domain_size)s is hypothetical",
                name=system.accelerator.name,
                most=most,
                domain_size=system.domain_size,
            ),
        ),
    )


def _megatron(model: ModelSpec, workload: Workload, layouts: Layouts) -> list[Warning]:
    """What Megatron-LM would refuse, where it is another framework's plan or a run that was measured."""
    broken = violations(model, layouts, accelerators=int(layouts.accelerators[0]), seq_len=workload.seq_len)
    return [
        Warning(code=code, message=say("Megatron-LM would refuse it: %(reason)s", reason=REASONS[code][1]))
        for code, mask in broken.items()
        if mask[0] and code in OF_MEGATRON
    ]


def _hardware(system: System) -> list[Warning]:
    part = system.accelerator
    if is_validated(part.architecture):
        return []
    return [
        Warning(
            code="hardware_not_validated",
            message=say(
                "no published run of %(architecture)s is part of the validation, so the interval is wider",
                architecture=part.architecture,
            ),
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
            message=say(
                "scale-up of %(scale_up_bytes_per_s)s GB/s looks like the sum of both directions, "
                "the catalogue has %(one_way)s GB/s one way",
                scale_up_bytes_per_s=f"{system.scale_up_bytes_per_s / 1000000000.0:.0f}",
                one_way=f"{one_way / 1000000000.0:.0f}",
            ),
        )
    ]


def _memory(system: System, workload: Workload, peak_bytes: float) -> list[Warning]:
    used = peak_bytes / system.capacity_bytes
    if used > 1.0:
        return [
            Warning(
                code="does_not_fit", message=say("needs %(used)s of the memory of a card", used=f"{used:.0%}")
            )
        ]
    if used > TIGHT_SHARE:
        return [
            Warning(
                code="memory_tight", message=say("uses %(used)s of the memory of a card", used=f"{used:.1%}")
            )
        ]
    if used > 1.0 - workload.reserve_share:
        return [
            Warning(
                code="reserve_used",
                message=say(
                    "leaves %(value)s of memory, less than the reserve of %(reserve_share)s",
                    value=f"{1 - used:.1%}",
                    reserve_share=f"{workload.reserve_share:.0%}",
                ),
            )
        ]
    return []


def _groups(model: ModelSpec, system: System, layouts: Layouts, coefficients: Coefficients) -> list[Warning]:
    net = fabric(system, coefficients)
    found = [*_tensor_groups(system, layouts, net)]
    if model.is_moe:
        found += _expert_groups(system, layouts, net)
    if 1 < model.kv_heads < layouts.tp[0] and model.mla is None:
        message = say("tp is above kv_heads, so keys are repeated; older releases of Megatron-LM refuse it")
        found.append(Warning(code="kv_heads_repeated", message=message))
    return found


def _tensor_groups(system: System, layouts: Layouts, net: Fabric) -> list[Warning]:
    tensor = group(layouts.tp, layouts.tp // layouts.tp, net)
    domains, sub_domains = tensor.domains[0], tensor.sub_domains[0]
    if domains > 1:
        message = say(
            "a tensor-parallel group spans %(domains)s domains of %(domain_size)s cards",
            domains=domains,
            domain_size=system.domain_size,
        )
        return [Warning(code="tp_leaves_domain", message=message)]
    if sub_domains > 1:
        message = say("a tensor-parallel group spans %(sub_domains)s sub-domains", sub_domains=sub_domains)
        return [Warning(code="tp_leaves_sub_domain", message=message)]
    return []


def _expert_groups(system: System, layouts: Layouts, net: Fabric) -> list[Warning]:
    experts = group(layouts.ep, layouts.etp, net)
    if experts.domains[0] > 1:
        message = say(
            "an expert-parallel group spans %(domains)s domains of %(domain_size)s cards",
            domains=experts.domains[0],
            domain_size=system.domain_size,
        )
        return [Warning(code="ep_leaves_domain", message=message)]
    together = group(layouts.ep * layouts.tp, layouts.tp // layouts.tp, net)
    if layouts.tp[0] > 1 and together.domains[0] > 1:
        message = say(
            "tp x ep is %(tp)s, above the domain of %(domain_size)s cards: experts must not be cut by tp as well",
            tp=int(layouts.tp[0] * layouts.ep[0]),
            domain_size=system.domain_size,
        )
        return [Warning(code="ep_with_tp_leaves_domain", message=message)]
    return []


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
                message=say(
                    "%(counts)s layers on %(stages)s stages: %(least)s to %(most)s each, the heaviest "
                    "sets the pace",
                    counts=sum(counts),
                    stages=stages,
                    least=min(counts),
                    most=max(counts),
                ),
            )
        )
    micro = int(layouts.micro_batches[0])
    if layouts.schedule[0] == Schedule.INTERLEAVED and micro % stages:
        found.append(
            Warning(
                code="interleave_padded",
                message=say(
                    "micro-batches (%(micro)s) are no multiple of %(stages)s stages",
                    micro=micro,
                    stages=stages,
                ),
            )
        )
    if micro < stages:
        found.append(
            Warning(
                code="pipeline_starved",
                message=say(
                    "micro-batches (%(micro)s) cannot fill %(stages)s stages", micro=micro, stages=stages
                ),
            )
        )
    return found


def _batch(workload: Workload, layouts: Layouts) -> list[Warning]:
    found = []
    if layouts.dp[0] == 1:
        found.append(
            Warning(code="no_replicas", message=say("there is one replica, so no gradients are all-reduced"))
        )
    if layouts.data_ranks[0] == 1 and layouts.zero[0] > 0:
        found.append(
            Warning(code="nothing_to_shard", message=say("there is one replica, so sharding saves nothing"))
        )
    if layouts.zero[0] >= 2 and layouts.pp[0] > 1:
        code = "zero_with_pipeline"
        found.append(
            Warning(code=code, message=say("%(reasons)s in most frameworks", reasons=REASONS[code][1]))
        )
    if workload.framework is Framework.FSDP and layouts.pp[0] > 1:
        found.append(Warning(code="fsdp_with_pipeline", message=say("FSDP with pipeline stages is unusual")))
    return found
