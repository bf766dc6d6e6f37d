"""Reading the parallel configuration and the training options from the JSON of a plan."""

from __future__ import annotations

from dataclasses import dataclass

from apps.catalogue.engine.models import ModelSpec
from apps.core.texts import say
from apps.planning.engine.estimate import Assumption
from apps.planning.engine.json_fields import Fields
from apps.planning.engine.layouts import WORDS, Layouts, Placement, Recompute, Schedule
from apps.planning.engine.system import System
from apps.planning.engine.workload import AttentionKernel, Framework, Precision, Workload

RECOMPUTE = dict(zip(WORDS["recompute"], Recompute, strict=True))
SCHEDULES = dict(zip(WORDS["schedule"], Schedule, strict=True))
PLACEMENTS = dict(zip(WORDS["placement"], Placement, strict=True))
GRADIENT_BYTES = {"fp32": 4.0, "bf16": 2.0, "fp16": 2.0}
HOST_DOMAIN = 8  # cards of one host
COMPRESSED_BYTES = {"none": None, "fp16": 2.0, "int8": 1.0, "int4": 0.5}


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """Training options before defaults are filled in; None where the plan says nothing."""

    precision: Precision
    framework: Framework = Framework.MEGATRON
    attention: AttentionKernel | None = None
    dropout: bool | None = None
    fused_cross_entropy: bool = True
    gradient_dtype: str | None = None
    gradient_compression: str = "none"
    imbalance: float = 1.0
    routed_domains: int | None = None
    in_network_reduction: bool = False
    graphs: bool | None = None
    overlap: dict[str, bool] | None = None
    reserve_share: float = 0.10


def workload_for(
    model: ModelSpec, system: System, options: Options, *, seq_len: int, zero: int, sequence_parallel: bool
) -> tuple[Workload, tuple[Assumption, ...]]:
    """Fill in what the options leave open by rules of recipe, and say which.

    fp16 training dates from before fused attention, so its scores are kept; dropout goes with plain (GPT)
    MLPs; cards made for large domains come with recipes that capture layers in graphs.
    """
    old = options.precision is Precision.FP16
    large = (system.accelerator.scale_up.max_domain or 1) > HOST_DOMAIN
    usual = {
        "attention": AttentionKernel.UNFUSED if old else AttentionKernel.FLASH,
        "dropout": not model.gated_mlp,
        "graphs": large,
        "gradient_dtype": "fp32" if options.framework is Framework.MEGATRON else "bf16",
    }
    chosen = {name: _given(getattr(options, name), otherwise) for name, otherwise in usual.items()}
    overlaps, assumed_overlaps = _overlaps(options, zero=zero, sequence_parallel=sequence_parallel)
    gradient_bytes = GRADIENT_BYTES[str(chosen["gradient_dtype"])]
    workload = Workload(
        seq_len=seq_len,
        precision=options.precision,
        framework=options.framework,
        attention=AttentionKernel(str(chosen["attention"])),
        dropout=bool(chosen["dropout"]),
        fused_cross_entropy=options.fused_cross_entropy,
        gradient_bytes=gradient_bytes,
        sent_gradient_bytes=COMPRESSED_BYTES[options.gradient_compression] or gradient_bytes,
        imbalance=options.imbalance,
        routed_domains=options.routed_domains,
        in_network_reduction=options.in_network_reduction,
        graphs=bool(chosen["graphs"]),
        reserve_share=options.reserve_share,
        **overlaps,
    )
    assumed = tuple(
        Assumption(name=name, value=_plain(chosen[name]), source=WHY[name])
        for name in usual
        if getattr(options, name) is None
    )
    return workload, assumed + assumed_overlaps


WHY = {
    "attention": say("fp16 recipes are older than fused attention, others use it"),
    "dropout": say("GPT recipes train with dropout, gated models without"),
    "graphs": say("recipes for cards made for large domains capture layers in graphs"),
    "gradient_dtype": say("Megatron-LM accumulates in fp32, DeepSpeed and FSDP in 16 bit"),
    "overlap_tp": say("recipes with a sharded optimizer and sequence parallelism overlap, older ones do not"),
    "overlap_dp": say("recipes with a sharded optimizer overlap, older ones do not"),
    "overlap_pp": say("recipes with a sharded optimizer overlap, older ones do not"),
    "overlap_cp": say("a ring passes on the next block while attention computes"),
    "overlap_ep": say("layers wait for their tokens, unless a recipe computes something else meanwhile"),
}


def _given(value: str | bool | None, otherwise: str | bool) -> str | bool:
    return otherwise if value is None else value


def _plain(value: str | bool) -> str | bool:
    return value if isinstance(value, bool) else str(value)


def usual_overlaps(*, zero: int, sequence_parallel: bool) -> dict[str, bool]:
    """What overlaps where a plan says nothing: gradients and stage traffic with a sharded optimizer, tensor-parallel
    traffic with sequence parallelism as well, rings always, all-to-all never."""
    sharded = zero >= 1
    return {
        "overlap_tp": sharded and sequence_parallel,
        "overlap_dp": sharded,
        "overlap_pp": sharded,
        "overlap_cp": True,
        "overlap_ep": False,
    }


def _overlaps(
    options: Options, *, zero: int, sequence_parallel: bool
) -> tuple[dict[str, bool], tuple[Assumption, ...]]:
    usual = usual_overlaps(zero=zero, sequence_parallel=sequence_parallel)
    given = {f"overlap_{name}": value for name, value in (options.overlap or {}).items()}
    assumed = tuple(
        Assumption(name=name, value=value, source=WHY[name])
        for name, value in usual.items()
        if name not in given
    )
    return usual | given, assumed


def read_options(fields: Fields) -> Options:
    """Training options of the parallel object."""
    overlap = fields.child("overlap", required=False)
    attention = fields.choice("attention", [*AttentionKernel, "default"], default="default")
    reserve = fields.number("reserve_share", default=0.10, least=0.0)
    if reserve is not None and reserve >= 1:
        fields.wrong("reserve_share", say("reserve_share must be below 1"), "out_of_range")
    return Options(
        precision=Precision(fields.choice("precision", list(Precision))),
        framework=Framework(fields.choice("framework", list(Framework), default="megatron")),
        attention=None if attention == "default" else AttentionKernel(attention),
        dropout=fields.flag("dropout", default=False) if fields.has("dropout") else None,
        fused_cross_entropy=fields.flag("fused_cross_entropy", default=True),
        gradient_dtype=fields.choice("gradient_dtype", list(GRADIENT_BYTES), default="fp32")
        if fields.has("gradient_dtype")
        else None,
        gradient_compression=fields.choice("gradient_compression", list(COMPRESSED_BYTES), default="none"),
        imbalance=fields.number("expert_imbalance", default=1.0) or 1.0,
        routed_domains=fields.whole("routed_domains") if fields.has("routed_domains") else None,
        in_network_reduction=fields.flag("in_network_reduction", default=False),
        graphs=fields.flag("graphs", default=False) if fields.has("graphs") else None,
        overlap={
            name: overlap.flag(name, default=True)
            for name in ("tp", "dp", "pp", "cp", "ep")
            if overlap.has(name)
        },
        reserve_share=reserve if reserve is not None else 0.10,
    )


def read_layout(fields: Fields) -> Layouts:
    """One configuration, as arrays of length one."""
    vpp = fields.whole("vpp", default=1, most=10_000)
    default_schedule = "interleaved" if vpp > 1 else "1f1b"
    schedule = fields.choice("schedule", list(SCHEDULES), default=default_schedule)
    if vpp > 1 and schedule == "1f1b":
        schedule = "interleaved"
    tp = fields.whole("tp")
    zero = fields.whole("zero", default=0, least=0, most=3)
    return Layouts.single(
        tp=tp,
        pp=fields.whole("pp"),
        vpp=vpp,
        dp=fields.whole("dp"),
        cp=fields.whole("cp", default=1),
        ep=fields.whole("ep", default=1),
        etp=fields.whole("etp", default=1),
        micro_batch=fields.whole("micro_batch"),
        global_batch=fields.whole("global_batch"),
        recompute=int(RECOMPUTE[fields.choice("recompute", list(RECOMPUTE), default="none")]),
        sequence_parallel=fields.flag("sequence_parallel", default=tp > 1),
        zero=zero,
        schedule=int(SCHEDULES[schedule]),
        placement=int(PLACEMENTS[fields.choice("placement", list(PLACEMENTS), default="tp-cp-dp-pp")]),
    )
