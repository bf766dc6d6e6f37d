"""Activation memory: bytes that one layer keeps for the backward pass, by recomputation level.

The terms are those of Korthikanti et al. 2022 (arXiv 2205.05198), taken apart by width so that grouped heads,
latent attention, gated MLPs and experts follow: for a GPT they add up to s b h (34 + 5 a s / h).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from apps.catalogue.engine.models import ModelSpec
from apps.planning.engine.layouts import Floats, Layouts, Recompute
from apps.planning.engine.workload import AttentionKernel, Workload

HALF = 2.0  # bytes of a 16-bit element
SINGLE = 4.0  # bytes of a 32-bit element


@dataclass(frozen=True, slots=True, kw_only=True)
class LayerActivations:
    """Bytes per layer and micro-batch on one rank: kept until the backward pass, and in use while at work."""

    plain_kept: Floats
    moe_kept: Floats
    plain_whole: Floats
    moe_whole: Floats


def tokens_per_rank(workload: Workload, layouts: Layouts) -> Floats:
    """Tokens of one micro-batch on one rank: the sequence is cut by context parallelism."""
    return workload.seq_len * layouts.micro_batch / layouts.cp


def layer_activations(model: ModelSpec, workload: Workload, layouts: Layouts) -> LayerActivations:
    """Bytes that a layer of either kind keeps, with and without the configuration's recomputation."""
    tokens = tokens_per_rank(workload, layouts)
    residual = _residual_bytes(model, workload) * tokens / layouts.token_shards
    attention = _attention_bytes(model) * tokens / layouts.tp
    core = _core_bytes(model, workload, layouts) * tokens / layouts.tp
    plain_mlp = _mlp_bytes(model, model.ffn_hidden) * tokens / layouts.tp
    plain_whole = residual + attention + plain_mlp + core
    moe_whole = residual + attention + core + _expert_bytes(model, workload, layouts, tokens)
    selective = layouts.recompute == Recompute.SELECTIVE
    full = layouts.recompute == Recompute.FULL
    saved_input = HALF * model.hidden * tokens / layouts.token_shards
    core_dropped = np.where(selective, core, 0.0)
    return LayerActivations(
        plain_kept=np.where(full, saved_input, plain_whole - core_dropped),
        moe_kept=np.where(full, saved_input, moe_whole - core_dropped),
        plain_whole=plain_whole,
        moe_whole=moe_whole,
    )


def _residual_bytes(model: ModelSpec, workload: Workload) -> float:
    """Per token outside of the matrices: two norm inputs, the inputs of attention and MLP, dropout masks."""
    return model.hidden * (4 * HALF + (2.0 if workload.dropout else 0.0))


def _attention_bytes(model: ModelSpec) -> float:
    """Per token: queries, keys, values, and the input of the output projection."""
    latent = 0
    if model.mla:
        latent = (model.mla.q_lora_rank or 0) + model.mla.kv_lora_rank + model.mla.qk_rope_head_dim
    return HALF * (model.query_width + model.kv_width + model.value_width + latent)


def _core_bytes(model: ModelSpec, workload: Workload, layouts: Layouts) -> Floats:
    """Per token: kept scores (softmax, and dropout's mask and output), or the statistics of a fused kernel.

    Where the attention core is recomputed nothing of it is kept. Context-parallel rings score against all s.
    """
    if workload.attention is AttentionKernel.UNFUSED:
        per_score = HALF + (1.0 + HALF if workload.dropout else 0.0)
        return np.full(len(layouts), per_score * model.heads * workload.seq_len)
    return np.full(len(layouts), SINGLE * model.heads)


def _mlp_bytes(model: ModelSpec, width: int) -> float:
    """Per token: input and output of the activation function, and the gate where there is one."""
    return HALF * model.mlp_matrices * width


def _expert_bytes(model: ModelSpec, workload: Workload, layouts: Layouts, tokens: Floats) -> Floats:
    """Bytes of the expert part of a layer: dispatched copies of each token, their MLP, and the shared expert.

    A rank gets topk copies of its own share of the tokens on average (not divided by ep), times imbalance.
    """
    if not model.is_moe:
        return np.zeros(len(layouts))
    gathered = np.where(layouts.sequence_parallel, layouts.etp, 1)
    copies = model.topk * workload.imbalance * tokens / layouts.token_shards * gathered
    at_width = HALF * model.mlp_matrices * model.expert_ffn_hidden / layouts.etp
    routed = copies * (at_width + 2 * HALF * model.hidden)
    shared = _mlp_bytes(model, model.shared_expert_ffn_hidden) * tokens / layouts.tp
    return routed + shared


def logits_bytes(model: ModelSpec, workload: Workload, layouts: Layouts) -> Floats:
    """Logits and loss of one micro-batch on the last stage, fp32: twice where the loss is not fused."""
    copies = (1.0 if workload.fused_cross_entropy else 2.0) * (1 + model.mtp_layers)
    return copies * SINGLE * tokens_per_rank(workload, layouts) * model.vocab / layouts.tp


def embedding_mask_bytes(model: ModelSpec, workload: Workload, layouts: Layouts) -> Floats:
    """Dropout mask of the embedding, per micro-batch in flight on stage 0."""
    if not workload.dropout:
        return np.zeros(len(layouts))
    return model.hidden * tokens_per_rank(workload, layouts) / layouts.token_shards
