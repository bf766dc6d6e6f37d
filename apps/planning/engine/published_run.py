"""Published runs: one row of a table of measurements as a plan and its measured step time."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from apps.catalogue.engine.accelerators import Accelerator
from apps.catalogue.engine.models import AttentionFlops, ModelSpec
from apps.core.errors import Invalid
from apps.core.texts import joined, say
from apps.planning.engine.estimate import Assumption, PlanInput
from apps.planning.engine.layouts import WORDS, Layouts, Placement, Schedule
from apps.planning.engine.published_card import card_named
from apps.planning.engine.published_cells import STEP_COLUMNS, TIME_COLUMNS, plain_cells, wrong_cells
from apps.planning.engine.published_model import row_model
from apps.planning.engine.reading_parallel import RECOMPUTE, Options, workload_for
from apps.planning.engine.rules import OF_MEGATRON, REASONS, UNUSUAL, violations
from apps.planning.engine.system import System, default_system, require_figures
from apps.planning.engine.workload import Framework, Precision

PRECISIONS = {
    "16-bit": Precision.BF16,
    "amp_bf16": Precision.BF16,
    "amp_fp8": Precision.FP8,
    "amp_fp16": Precision.FP16,
    "fp8-cs": Precision.FP8,
    "fp8-ds": Precision.FP8,
    "fp8-sc": Precision.FP8,
    "fp8-mx": Precision.MXFP8,
} | {str(p): p for p in Precision}
DOMAIN_DEFAULT = 8
CHUNK_LAYERS = 2
DOMAINS = {"nvidia-gb200": 72, "nvidia-gb300": 72}
NETWORK_IN_NOTES = re.compile(r"(\d+(?:\.\d+)?) Gb/s per node")
COUNTING_IN_DEFINITION = re.compile(r"causal|full attention|form\b", re.IGNORECASE)
OVERLAP_IN_NOTES = re.compile(r"(?:DP/)?TP(?:/PP)? comm overlap on|TP overlap", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedRun:
    """A row that can be predicted."""

    id: str
    source: str
    plan: PlanInput
    measured_s: float
    group: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class UnusableRun:
    """A row that lacks inputs, or whose inputs contradict each other; `reasons` names them."""

    id: str
    source: str
    reasons: tuple[str, ...]


def read_run(row: Mapping[str, str]) -> PublishedRun | UnusableRun:
    """One row in the columns of published_runs.csv. What is missing is assumed by rule and named, or refused."""
    row = plain_cells(row)

    def unusable(*reasons: str) -> UnusableRun:
        return UnusableRun(id=row["id"], source=row["source"], reasons=reasons)

    if wrong := tuple(wrong_cells(row)):
        return unusable(*wrong)
    needed = ("gpu", "gpus", "tp", "pp", "seq_len", "global_batch")
    lacking = [name for name in needed if not row[name]]
    try:
        model, assumed, no_shape = row_model(row)
    except Invalid as refused:
        return unusable(say("model: %(why)s", why=refused.message))
    if lacking or no_shape or model is None:
        names = [*lacking, *(say("%(figure)s of the model", figure=name) for name in no_shape)]
        return unusable(say("missing: %(names)s", names=joined(", ", names)))
    part = card_named(row["gpu"])
    if part is None:
        return unusable(say("gpu %(gpu)s is not in the catalogue", gpu=row["gpu"]))
    try:
        return _complete(row, model, part, assumed)
    except Invalid as refused:
        return unusable(refused.message)


def _complete(
    row: Mapping[str, str], model: ModelSpec, part: Accelerator, assumed: list[Assumption]
) -> PublishedRun:
    system, from_system = _system(row, part)
    layout, from_layout = _layout(row, model)
    options, from_options = _options(row, part)
    require_figures(part, options.precision)
    seq_len = int(row["seq_len"])
    found = violations(model, layout, accelerators=system.accelerators, seq_len=seq_len)
    ran = UNUSUAL | OF_MEGATRON  # it was measured, so a rule of one framework cannot speak against it
    broken = [REASONS[code][1] for code, mask in found.items() if mask[0] and code not in ran]
    if broken:
        raise Invalid(joined("; ", broken))
    workload, from_workload = workload_for(
        model,
        system,
        options,
        seq_len=seq_len,
        zero=int(layout.zero[0]),
        sequence_parallel=bool(layout.sequence_parallel[0]),
    )
    plan = PlanInput(
        model=model,
        system=system,
        workload=workload,
        layout=layout,
        assumptions=(*assumed, *from_system, *from_layout, *from_options, *from_workload, *_counting(row)),
    )
    return PublishedRun(
        id=row["id"],
        source=row["source"],
        plan=plan,
        measured_s=measured_seconds(row, plan),
        group=(row["source"], row["model"], row["gpu"], row["gpus"], row["global_batch"], row["seq_len"]),
    )


def _system(row: Mapping[str, str], part: Accelerator) -> tuple[System, list[Assumption]]:
    domain = DOMAINS.get(part.id, DOMAIN_DEFAULT)
    assumed = [Assumption(name="domain_size", value=domain, source=say("72 for GB200 and GB300, else 8"))]
    stated = NETWORK_IN_NOTES.search(row["notes"])
    out = float(stated.group(1)) / 8 / DOMAIN_DEFAULT * 1e9 if stated else None
    system = default_system(part, int(row["gpus"]), domain_size=domain, scale_out_bytes_per_s=out)
    if out is None:
        assumed.append(
            Assumption(
                name="scale_out_gb_s",
                value=system.scale_out_bytes_per_s / 1e9,
                source=say("usual network of %(architecture)s systems", architecture=part.architecture),
                uncertain=True,
            )
        )
    return system, assumed


def _layout(row: Mapping[str, str], model: ModelSpec) -> tuple[Layouts, list[Assumption]]:
    assumed: list[Assumption] = []

    def default(name: str, value: int | str | bool, source: str, *, uncertain: bool = False) -> None:
        assumed.append(Assumption(name=name, value=value, source=source, uncertain=uncertain))

    def size(name: str, otherwise: int, source: str, *, uncertain: bool = False) -> int:
        if row[name]:
            return int(row[name])
        default(name, otherwise, source, uncertain=uncertain)
        return otherwise

    tp, pp = int(row["tp"]), int(row["pp"])
    vpp = _chunks(row, model, default)
    cp, ep = size("cp", 1, say("none stated")), size("ep", 1, say("none stated"))
    dp = max(1, int(row["gpus"]) // (tp * pp * cp))
    if row["dp"] != str(dp):
        default("dp", dp, say("gpus / (tp x pp x cp); the row says %(dp)s", dp=row["dp"] or "nothing"))
    sequence_parallel = row["sequence_parallel"] == "yes"
    if not row["sequence_parallel"]:
        sequence_parallel = tp > 1
        default("sequence_parallel", sequence_parallel, say("on with tensor parallelism in today's recipes"))
    recompute = row["recompute"] or "none"
    if not row["recompute"]:
        default("recompute", "none", say("recipes keep activations where they fit"), uncertain=True)
    zero, stated = _zero(row["zero_distopt"])
    if not stated:
        default("zero", zero, say("distributed optimizer, the default of today's recipes"))
    layout = Layouts.single(
        tp=tp,
        pp=pp,
        vpp=vpp,
        dp=dp,
        cp=cp,
        ep=ep,
        etp=1,
        micro_batch=size("micro_batch", 1, "smallest", uncertain=True),
        global_batch=int(row["global_batch"]),
        recompute=int(RECOMPUTE[recompute]),
        sequence_parallel=sequence_parallel,
        zero=zero,
        schedule=int(Schedule.INTERLEAVED if vpp > 1 else Schedule.ONE_F_ONE_B),
        placement=int(Placement.TP_CP_DP_PP),
    )
    return layout, assumed


def _chunks(row: Mapping[str, str], model: ModelSpec, default: Callable[..., None]) -> int:
    """Interleaved chunks per stage: as stated; else chunks of about two layers in recipes with a sharded
    optimizer, which interleave, and one chunk in older ones."""
    stages = int(row["pp"])
    if row["vpp"] or stages == 1:
        return int(row["vpp"] or 1) if stages > 1 else 1
    per_stage = model.layers // stages
    divisors = [v for v in range(1, per_stage + 1) if per_stage % v == 0 and per_stage // v >= CHUNK_LAYERS]
    modern = _zero(row["zero_distopt"])[0] >= 1 and model.layers % stages == 0
    chunks = max(divisors, default=1) if modern else 1
    default(
        "vpp", chunks, say("chunks of two layers or more with a sharded optimizer, else none"), uncertain=True
    )
    return chunks


def _zero(text: str) -> tuple[int, bool]:
    """ZeRO stage of a column, and whether the column says it."""
    if text.startswith("zero"):
        return int(text[4]), True
    if text.startswith("fsdp"):
        return 3, True
    if text.startswith("none"):
        return 0, True
    return 1, text == "distopt"


def _options(row: Mapping[str, str], part: Accelerator) -> tuple[Options, list[Assumption]]:
    assumed = []
    name = row["precision"]
    if not name:
        name = "fp8" if "fp8" in part.dense_flops else "fp16" if "bf16" in part.unsupported else "bf16"
        assumed.append(
            Assumption(
                name="precision",
                value=name,
                source=say("narrowest format that training recipes use"),
                uncertain=True,
            )
        )
    if name not in PRECISIONS:
        raise Invalid(say("precision %(name)s is not known", name=name))
    framework = _framework(row)
    overlap = {}
    if OVERLAP_IN_NOTES.search(row["notes"]):
        overlap = {"tp": True, "dp": True, "pp": True}
    return Options(precision=PRECISIONS[name], framework=framework, overlap=overlap), assumed


def _counting(row: Mapping[str, str]) -> list[Assumption]:
    """How attention FLOPs were counted, where seconds follow from TFLOP/s and their definition leaves it open."""
    has_time = any(row[name] for name in TIME_COLUMNS)
    if has_time or COUNTING_IN_DEFINITION.search(row["tflops_definition"]):
        return []
    source = say("counted in full unless the source says causal")
    return [Assumption(name="tflops_counting", value=str(AttentionFlops.FULL), source=source, uncertain=True)]


def _framework(row: Mapping[str, str]) -> Framework:
    """PyTorch FSDP where the sharding column says so, DeepSpeed where the notes do, else Megatron."""
    if "(fsdp)" in row["zero_distopt"]:
        return Framework.FSDP
    return Framework.DEEPSPEED if "DeepSpeed" in row["notes"] else Framework.MEGATRON


def measured_seconds(row: Mapping[str, str], plan: PlanInput) -> float:
    """Measured step time: stated, derived by the table's author, or from tokens/s or TFLOP/s per card.

    TFLOP/s count hardware FLOPs where the row's definition says so, and attention in full unless it says
    causal: halved figures of the long-sequence tables would need more than the cards' 16-bit peak.
    """
    for column in STEP_COLUMNS:
        if row[column]:
            return float(row[column])
    sequences, cards = int(row["global_batch"]), int(row["gpus"])
    seq_len = plan.workload.seq_len
    if row["tokens_per_s_gpu"]:
        return sequences * seq_len / (float(row["tokens_per_s_gpu"]) * cards)
    if not row["tflops_per_gpu"]:
        raise Invalid(say("no measured time, tokens/s or TFLOP/s"))
    definition = row["tflops_definition"]
    convention = AttentionFlops.CAUSAL if "causal" in definition else AttentionFlops.FULL
    flops = plan.model.model_flops(sequences=sequences, seq_len=seq_len, convention=convention)
    if definition.startswith("hardware"):
        level = WORDS["recompute"][int(plan.layout.recompute[0])]
        flops += plan.model.recompute_flops(
            sequences=sequences, seq_len=seq_len, level=level, convention=convention
        )
    return flops / (float(row["tflops_per_gpu"]) * 1e12 * cards)
