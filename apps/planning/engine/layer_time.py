"""Layer time: seconds that one layer takes on one card, by kind of kernel, forward and backward."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from apps.catalogue.engine.models import ModelSpec
from apps.planning.engine.coefficients import Coefficients
from apps.planning.engine.gemm import HALF, Product, product_s
from apps.planning.engine.layouts import Floats, Layouts
from apps.planning.engine.system import Rates
from apps.planning.engine.workload import AttentionKernel, Framework, Precision, Workload

BACKWARD_PRODUCTS = 2.0  # gradients of inputs and of weights
BACKWARD_BYTES = 2.0  # memory-bound kernels read the gradient beside the operand
FLASH_BACKWARD = 2.5  # a fused kernel computes the scores again: five products against two
UNFUSED_BACKWARD = 2.0
FORWARD_KERNELS_PLAIN = 24.0
FORWARD_KERNELS_MOE = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class PassTime:
    """Seconds of one layer for one micro-batch: device time forward and backward, attention core of the
    forward pass (what selective recomputation repeats), and host time to launch a forward pass."""

    forward: Floats
    backward: Floats
    core: Floats
    host_forward: Floats


@dataclass(frozen=True, slots=True, kw_only=True)
class Kernels:
    """What all layer times depend on."""

    model: ModelSpec
    workload: Workload
    layouts: Layouts
    rates: Rates
    coefficients: Coefficients

    @property
    def tokens(self) -> Floats:
        """Tokens of one micro-batch on one rank, context parallelism taken off."""
        return self.workload.seq_len * self.layouts.micro_batch / self.layouts.cp

    def matrix_s(
        self, rows: Floats, columns: Floats | float, inner: Floats | float, count: Floats | float = 1.0
    ) -> Floats:
        """Seconds of a product in the workload's format, quantisation of both operands included."""
        product = Product(rows=rows, columns=columns, inner=inner, count=count)
        time = product_s(
            product,
            rate=self.rates.matrix_flops,
            operand_bytes=self.rates.operand_bytes,
            rates=self.rates,
            coefficients=self.coefficients,
        )
        return time + self._quantise_s(rows * inner * count)

    def _quantise_s(self, elements: Floats) -> Floats | float:
        c = self.coefficients
        per_element = {
            Precision.FP8: c.quantise_bytes_8,
            Precision.MXFP8: c.quantise_bytes_block,
            Precision.NVFP4: c.quantise_bytes_4,
        }.get(self.workload.precision, 0.0)
        return per_element * elements / self.rates.memory_bytes_per_s

    @property
    def flash_share(self) -> float:
        """Rate of fused attention against a large 16-bit product; lower without the vendor's kernels."""
        c = self.coefficients
        return c.flash_share * (c.eager_flash_share if self.workload.framework is Framework.FSDP else 1.0)

    def memory_s(self, moved_bytes: Floats) -> Floats:
        """Seconds of memory-bound kernels that would move so many bytes with one kernel per operation."""
        scale = self.coefficients.elementwise_scale
        if self.workload.framework is Framework.FSDP:
            scale *= self.coefficients.eager_scale
        return scale * moved_bytes / self.rates.memory_bytes_per_s


def plain_layer(kernels: Kernels) -> PassTime:
    """A layer with an ordinary MLP."""
    matrices, moved = _attention(kernels)
    mlp_matrices, mlp_moved = _mlp(kernels, kernels.model.ffn_hidden)
    return _pass(kernels, matrices + mlp_matrices, moved + mlp_moved, FORWARD_KERNELS_PLAIN, 0.0)


def moe_layer(kernels: Kernels) -> PassTime:
    """A layer with experts: attention, router, permutation, grouped products and the shared expert."""
    matrices, moved = _attention(kernels)
    expert_matrices, expert_moved = _experts(kernels)
    sync = kernels.coefficients.moe_sync_s
    return _pass(kernels, matrices + expert_matrices, moved + expert_moved, FORWARD_KERNELS_MOE, sync)


def _pass(
    kernels: Kernels, matrices: Floats, moved_bytes: Floats, launches: float, sync_s: float
) -> PassTime:
    core, backward_factor = _core(kernels)
    memory = kernels.memory_s(moved_bytes)
    c = kernels.coefficients
    share = c.graph_host_share if kernels.workload.graphs else 1.0
    host = np.full(len(kernels.layouts), share * (launches * c.launch_s + sync_s))
    return PassTime(
        forward=matrices + core + memory,
        backward=BACKWARD_PRODUCTS * matrices + backward_factor * core + BACKWARD_BYTES * memory,
        core=core,
        host_forward=host,
    )


def _attention(kernels: Kernels) -> tuple[Floats, Floats]:
    """Projections of attention: seconds of products, bytes of memory-bound kernels, forward."""
    model, layouts, tokens = kernels.model, kernels.layouts, kernels.tokens
    tp, h = layouts.tp, float(model.hidden)
    output = kernels.matrix_s(tokens, h, model.value_width / tp)
    rotated = model.query_width + model.kv_width
    moved = tokens / tp * (2 * HALF * rotated) + _residual_bytes(kernels)
    if model.mla is None:
        return output + kernels.matrix_s(tokens, rotated / tp, h), moved
    latent = model.mla.kv_lora_rank
    narrow = latent + model.mla.qk_rope_head_dim
    up_width = model.heads * (model.mla.qk_nope_head_dim + model.mla.v_head_dim)
    down = kernels.matrix_s(tokens, float(narrow), h)
    up = kernels.matrix_s(tokens, up_width / tp, float(latent))
    rank = model.mla.q_lora_rank
    query = (
        kernels.matrix_s(tokens, float(rank), h)
        + kernels.matrix_s(tokens, model.query_width / tp, float(rank))
        if rank
        else kernels.matrix_s(tokens, model.query_width / tp, h)
    )
    norms = 2 * HALF * (latent + (rank or 0)) * tokens
    return output + down + up + query, moved + norms


def _residual_bytes(kernels: Kernels) -> Floats:
    """Bytes of two norms and two residual additions, with dropout where the model has it."""
    per_token = 2 * (2 * HALF) + 2 * (3 * HALF) + (2.0 if kernels.workload.dropout else 0.0)
    return per_token * kernels.model.hidden * kernels.tokens / kernels.layouts.token_shards


def _mlp(kernels: Kernels, width: int) -> tuple[Floats, Floats]:
    """An MLP cut by tp: seconds of products, bytes of its activation function, forward."""
    model, tokens, tp = kernels.model, kernels.tokens, kernels.layouts.tp
    h = float(model.hidden)
    inputs = model.mlp_matrices - 1
    matrices = kernels.matrix_s(tokens, inputs * width / tp, h) + kernels.matrix_s(tokens, h, width / tp)
    return matrices, HALF * (inputs + 1) * width / tp * tokens


def _experts(kernels: Kernels) -> tuple[Floats, Floats]:
    """Routed and shared experts: seconds of grouped products, bytes of permutation and activation function."""
    model, layouts, workload = kernels.model, kernels.layouts, kernels.workload
    h = float(model.hidden)
    gathered = np.where(layouts.sequence_parallel, layouts.etp, 1)
    copies = model.topk * workload.imbalance * kernels.tokens / layouts.token_shards * gathered
    local = np.maximum(1.0, model.experts / layouts.ep)
    width = model.expert_ffn_hidden / layouts.etp
    inputs = model.mlp_matrices - 1
    matrices = kernels.matrix_s(copies / local, inputs * width, h, local)
    matrices = matrices + kernels.matrix_s(copies / local, h, width, local)
    moved = copies * HALF * (4 * model.hidden + (inputs + 1) * width)
    router = 2 * HALF * kernels.tokens / layouts.token_shards * (model.hidden + 2 * model.experts)
    if not model.shared_expert_ffn_hidden:
        return matrices, moved + router
    shared, shared_moved = _mlp(kernels, model.shared_expert_ffn_hidden)
    return matrices + shared, moved + shared_moved + router


def _core(kernels: Kernels) -> tuple[Floats, float]:
    """Score and value products with softmax, forward seconds, and what the backward pass costs against it.

    A fused kernel skips the masked half and interleaves products with the exponentials of softmax. The unfused
    form scores all pairs and moves each score through memory: written by the product, read and written by
    softmax and by dropout, read by the value product.
    """
    model, layouts, workload = kernels.model, kernels.layouts, kernels.workload
    pair_width = (model.query_width + model.value_width) / layouts.tp
    per_token_pairs = workload.seq_len * kernels.tokens
    if workload.attention is AttentionKernel.FLASH:
        pairs = per_token_pairs / 2.0 * _windowed_share(model, workload.seq_len)
        products = 2.0 * pair_width * pairs / kernels.rates.half_flops
        scores = kernels.coefficients.softmax_flops * model.heads / layouts.tp * pairs
        softmax = scores / kernels.rates.vector_flops
        return (products + softmax) / kernels.flash_share, FLASH_BACKWARD
    flops = 2.0 * pair_width * per_token_pairs
    passes = 4 * HALF + (2 * HALF + 1.0 if workload.dropout else 0.0)
    scores = model.heads / layouts.tp * per_token_pairs
    compute = flops / (kernels.rates.half_flops * kernels.coefficients.unfused_share)
    return compute + kernels.memory_s(passes * scores), UNFUSED_BACKWARD


def _windowed_share(model: ModelSpec, seq_len: int) -> float:
    """Pairs that windows leave, as a share of causal attention, mean over layers."""
    window = min(2 * model.attention_window, seq_len)
    windowed = model.windowed_layers * window / seq_len if model.windowed_layers else 0.0
    return (model.layers - model.windowed_layers + windowed) / model.layers


def logits_s(kernels: Kernels) -> PassTime:
    """Logits and loss of one micro-batch on the last stage; 16 bit, and fp32 passes of the loss."""
    model, layouts = kernels.model, kernels.layouts
    product = Product(rows=kernels.tokens, columns=model.vocab / layouts.tp, inner=float(model.hidden))
    matrices = product_s(
        product,
        rate=kernels.rates.half_flops,
        operand_bytes=HALF,
        rates=kernels.rates,
        coefficients=kernels.coefficients,
    )
    matrices = matrices * (1 + model.mtp_layers)
    loss_bytes = 3 * 4.0 * kernels.tokens * model.vocab / layouts.tp * (1 + model.mtp_layers)
    memory = kernels.memory_s(loss_bytes)
    nothing = np.zeros(len(layouts))
    return PassTime(
        forward=matrices + memory,
        backward=BACKWARD_PRODUCTS * matrices + memory,
        core=nothing,
        host_forward=nothing,
    )
