"""Megatron-LM: the arguments of pretrain_gpt.py for a plan."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

import numpy as np

from apps.catalogue.engine.models import ModelSpec
from apps.planning.engine.estimate import PlanInput
from apps.planning.engine.layouts import Placement, Recompute
from apps.planning.engine.snippets.options import Option, require_known
from apps.planning.engine.stages import content
from apps.planning.engine.workload import Precision

MOE_DISPATCHER = "alltoall"


def megatron_options(plan: PlanInput) -> tuple[Option, ...]:
    """All arguments that the plan decides, in groups: model, parallel sizes, batch, precision, overlap."""
    groups = (_model(plan.model), _attention(plan.model), _experts(plan.model), _parallel(plan))
    options = tuple(option for group in (*groups, _batch(plan), _training(plan)) for option in group)
    require_known("megatron_lm", [option.name for option in options])
    return options


def megatron_arguments(plan: PlanInput) -> str:
    """The arguments as text, one a line, for a shell."""
    return " \\\n".join(option.text for option in megatron_options(plan))


def _switch(name: str, wanted: bool) -> list[Option]:
    return [Option(name=name)] if wanted else []


def _valued(**values: int) -> list[Option]:
    return [Option(name="--" + key.replace("_", "-"), value=str(value)) for key, value in values.items()]


def _model(model: ModelSpec) -> list[Option]:
    ffn = model.ffn_hidden or model.expert_ffn_hidden
    return [
        *_valued(
            num_layers=model.layers, hidden_size=model.hidden, ffn_hidden_size=ffn, vocab_size=model.vocab
        ),
        *_switch("--swiglu", model.gated_mlp),
        *_switch("--disable-bias-linear", not model.biases),
        *_switch("--untie-embeddings-and-output-weights", not model.tied_embeddings),
    ]


def _attention(model: ModelSpec) -> list[Option]:
    heads = _valued(num_attention_heads=model.heads)
    if model.mla:
        mla = model.mla
        widths = _valued(
            kv_lora_rank=mla.kv_lora_rank,
            qk_head_dim=mla.qk_nope_head_dim,
            qk_pos_emb_head_dim=mla.qk_rope_head_dim,
            v_head_dim=mla.v_head_dim,
        )
        query = _valued(q_lora_rank=mla.q_lora_rank) if mla.q_lora_rank else []
        return [*heads, Option(name="--multi-latent-attention"), *query, *widths]
    grouped = model.kv_heads != model.heads
    queries = [Option(name="--group-query-attention"), *_valued(num_query_groups=model.kv_heads)]
    own_width = model.head_dim * model.heads != model.hidden
    return [
        *heads,
        *(queries if grouped else []),
        *(_valued(kv_channels=model.head_dim) if own_width else []),
    ]


def _experts(model: ModelSpec) -> list[Option]:
    if not model.is_moe:
        return []
    shared = model.shared_expert_ffn_hidden
    frequency = f"([0]*{model.dense_layers}+[1]*{model.moe_layers})"
    return [
        *_valued(
            num_experts=model.experts, moe_router_topk=model.topk, moe_ffn_hidden_size=model.expert_ffn_hidden
        ),
        *(_valued(moe_shared_expert_intermediate_size=shared) if shared else []),
        *([Option(name="--moe-layer-freq", value=f"'{frequency}'")] if model.dense_layers else []),
        Option(name="--moe-token-dispatcher-type", value=MOE_DISPATCHER),
        Option(name="--moe-grouped-gemm"),
        *(_valued(mtp_num_layers=model.mtp_layers) if model.mtp_layers else []),
    ]


def _parallel(plan: PlanInput) -> list[Option]:
    row = plan.layout.row(0)
    experts = _valued(expert_model_parallel_size=int(row["ep"]), expert_tensor_parallel_size=int(row["etp"]))
    return [
        *_valued(
            tensor_model_parallel_size=int(row["tp"]),
            pipeline_model_parallel_size=int(row["pp"]),
            context_parallel_size=int(row["cp"]),
        ),
        *(experts if plan.model.is_moe else []),
        *_chunks(plan),
        *_switch("--sequence-parallel", bool(row["sequence_parallel"])),
        *_switch("--use-tp-pp-dp-mapping", row["placement"] == Placement.TP_CP_PP_DP),
    ]


def _chunks(plan: PlanInput) -> list[Option]:
    """Chunks of a stage, and which layers each holds where Megatron-LM would not cut them like that by itself.

    It knows first and last stages of their own only with equal stages between them, and takes no number of chunks
    beside a layout in letters.
    """
    stages, chunks = int(plan.layout.pp[0]), int(plan.layout.vpp[0])
    held = [content(plan.model, plan.layout, np.array([stage])) for stage in range(stages)]
    predicted = [int(stage.mtp_layers[0]) for stage in held]
    layers = [int(stage.layers[0]) - extra for stage, extra in zip(held, predicted, strict=True)]
    if len({*layers}) == 1 and layers[0] % chunks == 0:
        return _valued(num_virtual_stages_per_pipeline_rank=chunks) if chunks > 1 else []
    if chunks == 1 and len({*layers[1:-1]}) <= 1 and not sum(predicted[:-1]):
        return _valued(
            decoder_first_pipeline_num_layers=layers[0], decoder_last_pipeline_num_layers=layers[-1]
        )
    return [Option(name="--pipeline-model-parallel-layout", value=f"'{_letters(layers, predicted, chunks)}'")]


def _letters(layers: Sequence[int], predicted: Sequence[int], chunks: int) -> str:
    """The layers of each stage: E embedding, t layer, m layer of multi-token prediction, L loss, | the next chunk."""
    parts = [
        "t" * (count // chunks + (chunk < count % chunks)) for chunk in range(chunks) for count in layers
    ]
    parts[0] = "E" + parts[0]
    for stage, extra in enumerate(predicted, start=len(parts) - len(layers)):
        parts[stage] += "m" * extra
    parts[-1] += "L"
    runs = [(part, len([*same])) for part, same in groupby(parts[:-1])]
    return "".join(f"{part}|" if count == 1 else f"({part}|)*{count}" for part, count in runs) + parts[-1]


def _batch(plan: PlanInput) -> list[Option]:
    row = plan.layout.row(0)
    return _valued(
        seq_length=plan.workload.seq_len,
        max_position_embeddings=plan.model.learned_positions or plan.workload.seq_len,
        micro_batch_size=int(row["micro_batch"]),
        global_batch_size=int(row["global_batch"]),
    )


def _training(plan: PlanInput) -> list[Option]:
    workload, row = plan.workload, plan.layout.row(0)
    level = Recompute(int(row["recompute"]))
    recompute = {
        Recompute.NONE: [],
        Recompute.SELECTIVE: [Option(name="--recompute-granularity", value="selective")],
        Recompute.FULL: [
            Option(name="--recompute-granularity", value="full"),
            Option(name="--recompute-method", value="uniform"),
            Option(name="--recompute-num-layers", value="1"),
        ],
    }[level]
    sharded, sequence_parallel = int(row["zero"]) >= 1, bool(row["sequence_parallel"])
    return [
        *_precision(workload.precision),
        *recompute,
        *_switch("--use-distributed-optimizer", sharded),
        *_fully_sharded(int(row["zero"])),
        *_switch("--overlap-grad-reduce", workload.overlap_dp),
        *_switch("--overlap-param-gather", workload.overlap_dp and sharded),
        *_switch("--tp-comm-overlap", workload.overlap_tp and sequence_parallel and int(row["tp"]) > 1),
        Option(name="--use-mcore-models"),
    ]


def _fully_sharded(zero: int) -> list[Option]:
    """From ZeRO 2 on: Megatron FSDP, which has a checkpoint format of its own and fuses no accumulation."""
    if zero < 2:
        return []
    return [
        Option(name="--use-megatron-fsdp"),
        Option(
            name="--data-parallel-sharding-strategy", value="optim_grads" + ("_params" if zero == 3 else "")
        ),
        Option(name="--no-gradient-accumulation-fusion"),
        Option(name="--ckpt-format", value="fsdp_dtensor"),
    ]


def _precision(precision: Precision) -> list[Option]:
    extra = {
        Precision.FP8: [
            Option(name="--fp8-format", value="hybrid"),
            Option(name="--fp8-recipe", value="tensorwise"),
        ],
        Precision.MXFP8: [
            Option(name="--fp8-format", value="e4m3"),
            Option(name="--fp8-recipe", value="mxfp8"),
        ],
        Precision.NVFP4: [Option(name="--fp4-format", value="e2m1")],
    }.get(precision, [])
    return [Option(name="--fp16" if precision is Precision.FP16 else "--bf16"), *extra]
