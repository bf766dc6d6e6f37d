"""Model specifications: the shape of a transformer, its parameter counts and its FLOP counts.

Counts are exact for the matrices, the biases and the norms that the shape implies. FLOPs are those of the
model (a multiply and an add count as two), forward and backward, without any recomputation.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from apps.core.errors import FieldError, OutOfRange
from apps.core.texts import say


class AttentionFlops(StrEnum):
    """How published figures count the score and value products of causal attention."""

    FULL = "full"  # all s x s pairs: Korthikanti 2022, SC21, PaLM
    CAUSAL = "causal"  # half of them: Megatron-LM and NeMo today


@dataclass(frozen=True, slots=True, kw_only=True)
class MlaSpec:
    """Widths of multi-head latent attention (DeepSeek-V2): ranks and per-head dimensions, in elements."""

    kv_lora_rank: int
    qk_nope_head_dim: int
    qk_rope_head_dim: int
    v_head_dim: int
    q_lora_rank: int | None = None

    @property
    def qk_head_dim(self) -> int:
        """Width of one head's query and key."""
        return self.qk_nope_head_dim + self.qk_rope_head_dim


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSpec:
    """The shape of a decoder-only transformer.

    `dense_layers` is how many of the first layers have an ordinary MLP in a mixture-of-experts model.
    `biases` adds biases to matrices and norms (GPT style); left None it follows `gated_mlp`.
    `windowed_layers` attend only to the last `attention_window` tokens.
    Raises OutOfRange, with a pointer per field, for a shape that cannot exist.
    """

    layers: int
    hidden: int
    heads: int
    vocab: int
    ffn_hidden: int = 0
    kv_heads: int = 0
    head_dim: int = 0
    gated_mlp: bool = True
    tied_embeddings: bool = False
    learned_positions: int = 0
    biases: bool | None = None
    experts: int = 0
    topk: int = 0
    expert_ffn_hidden: int = 0
    shared_expert_ffn_hidden: int = 0
    dense_layers: int = 0
    mla: MlaSpec | None = None
    mtp_layers: int = 0
    attention_window: int = 0
    windowed_layers: int = 0
    name: str = field(default="", compare=False)

    def __post_init__(self) -> None:
        if not self.kv_heads:
            object.__setattr__(self, "kv_heads", self.heads)
        if not self.head_dim and self.heads > 0:
            object.__setattr__(self, "head_dim", self.hidden // self.heads)
        if self.biases is None:
            object.__setattr__(self, "biases", not self.gated_mlp)
        problems = tuple(_problems(self))
        if problems:
            raise OutOfRange(problems[0].message, errors=problems)

    @property
    def is_moe(self) -> bool:
        """Whether some layers hold experts."""
        return self.experts > 0

    @property
    def moe_layers(self) -> int:
        """Layers with experts, MTP layers not counted."""
        return self.layers - self.dense_layers if self.is_moe else 0

    @property
    def plain_layers(self) -> int:
        """Layers with an ordinary MLP, MTP layers not counted."""
        return self.layers - self.moe_layers

    @property
    def mlp_matrices(self) -> int:
        """Matrices of one MLP: gate, up and down, or up and down."""
        return 3 if self.gated_mlp else 2

    @property
    def query_width(self) -> int:
        """Elements of all queries of one token."""
        return self.heads * (self.mla.qk_head_dim if self.mla else self.head_dim)

    @property
    def value_width(self) -> int:
        """Elements of all heads' attention outputs of one token."""
        return self.heads * (self.mla.v_head_dim if self.mla else self.head_dim)

    @property
    def kv_width(self) -> int:
        """Elements of keys and values of one token as attention reads them."""
        if self.mla:
            return self.heads * (self.mla.qk_head_dim + self.mla.v_head_dim)
        return 2 * self.kv_heads * self.head_dim

    @property
    def kv_cache_width(self) -> int:
        """Elements that one layer keeps per token for inference."""
        if self.mla:
            return self.mla.kv_lora_rank + self.mla.qk_rope_head_dim
        return 2 * self.kv_heads * self.head_dim

    # --- parameters

    def attention_matmul_params(self) -> int:
        """Matrix parameters of one layer's attention."""
        h = self.hidden
        if self.mla is None:
            return 2 * h * self.heads * self.head_dim + 2 * h * self.kv_heads * self.head_dim
        m = self.mla
        query = (
            h * m.q_lora_rank + m.q_lora_rank * self.query_width if m.q_lora_rank else h * self.query_width
        )
        latent = h * (m.kv_lora_rank + m.qk_rope_head_dim)
        keys_values = m.kv_lora_rank * self.heads * (m.qk_nope_head_dim + m.v_head_dim)
        return query + latent + keys_values + self.value_width * h

    def dense_mlp_matmul_params(self) -> int:
        """Matrix parameters of an ordinary MLP."""
        return self.mlp_matrices * self.hidden * self.ffn_hidden

    def expert_matmul_params(self) -> int:
        """Matrix parameters of one routed expert."""
        return self.mlp_matrices * self.hidden * self.expert_ffn_hidden

    def shared_expert_matmul_params(self) -> int:
        """Matrix parameters of the expert that sees every token."""
        return self.mlp_matrices * self.hidden * self.shared_expert_ffn_hidden

    def router_params(self) -> int:
        """Parameters of one layer's router."""
        return self.hidden * self.experts

    def layer_vector_params(self) -> int:
        """Norm weights of one layer, and its biases where the model has them."""
        norms = 2 * self.hidden + (self.mla.kv_lora_rank + (self.mla.q_lora_rank or 0) if self.mla else 0)
        if not self.biases:
            return norms
        attention = self.query_width + self.kv_width + self.hidden
        mlp = self.ffn_hidden * (self.mlp_matrices - 1) + self.hidden
        return 2 * norms + attention + mlp

    def dense_layer_params(self) -> int:
        """Parameters of one layer with an ordinary MLP."""
        return self.attention_matmul_params() + self.dense_mlp_matmul_params() + self.layer_vector_params()

    def moe_layer_params(self) -> int:
        """Parameters of one layer with experts, all of them."""
        experts = self.experts * self.expert_matmul_params() + self.shared_expert_matmul_params()
        return self.attention_matmul_params() + experts + self.router_params() + self.layer_vector_params()

    def moe_layer_active_params(self) -> int:
        """Parameters of one layer with experts that one token meets."""
        experts = self.topk * self.expert_matmul_params() + self.shared_expert_matmul_params()
        return self.attention_matmul_params() + experts + self.router_params() + self.layer_vector_params()

    def mtp_extra_params(self) -> int:
        """Parameters of one multi-token-prediction layer besides its transformer layer."""
        return 2 * self.hidden * self.hidden + 3 * self.hidden if self.mtp_layers else 0

    def embedding_params(self) -> int:
        """Token embedding, and learned positions where the model has them."""
        return self.vocab * self.hidden + self.learned_positions * self.hidden

    def output_params(self) -> int:
        """Output matrix, none where it is tied to the embedding."""
        return 0 if self.tied_embeddings else self.vocab * self.hidden

    def final_norm_params(self) -> int:
        """Norm after the last layer."""
        return self.hidden * (2 if self.biases else 1)

    def total_params(self, *, with_mtp: bool = True) -> int:
        """All parameters; MTP layers only where `with_mtp` asks for them."""
        body = self.plain_layers * self.dense_layer_params() + self.moe_layers * self.moe_layer_params()
        mtp = self.mtp_layers * (self._last_layer_params() + self.mtp_extra_params()) if with_mtp else 0
        return body + mtp + self.embedding_params() + self.output_params() + self.final_norm_params()

    def active_params(self) -> int:
        """Parameters that one token meets, embeddings included, MTP left out."""
        body = (
            self.plain_layers * self.dense_layer_params() + self.moe_layers * self.moe_layer_active_params()
        )
        return body + self.embedding_params() + self.output_params() + self.final_norm_params()

    def _last_layer_params(self) -> int:
        return self.moe_layer_params() if self.is_moe else self.dense_layer_params()

    # --- FLOPs

    def dense_layer_matmul_params(self) -> int:
        """Matrix parameters that one token meets in a layer with an ordinary MLP."""
        return self.attention_matmul_params() + self.dense_mlp_matmul_params()

    def moe_layer_matmul_params(self) -> int:
        """Matrix parameters that one token meets in a layer with experts."""
        experts = self.topk * self.expert_matmul_params() + self.shared_expert_matmul_params()
        return self.attention_matmul_params() + experts + self.router_params()

    def matmul_params(self) -> int:
        """Matrix parameters that one token meets in a training step: layers, MTP layers, logits."""
        body = self.plain_layers * self.dense_layer_matmul_params()
        body += self.moe_layers * self.moe_layer_matmul_params()
        last = self.moe_layer_matmul_params() if self.is_moe else self.dense_layer_matmul_params()
        mtp = self.mtp_layers * (last + 2 * self.hidden * self.hidden)
        return body + mtp + (1 + self.mtp_layers) * self.vocab * self.hidden

    def attention_pairs(self, seq_len: int, convention: AttentionFlops) -> float:
        """Token pairs scored in one sequence, summed over all layers, by the counting convention."""
        share = 1.0 if convention is AttentionFlops.FULL else 0.5
        whole = (self.layers + self.mtp_layers - self.windowed_layers) * seq_len * seq_len * share
        window = min(self.attention_window, seq_len)
        return whole + self.windowed_layers * seq_len * (window if window < seq_len else seq_len * share)

    def model_flops(
        self, *, sequences: float, seq_len: int, convention: AttentionFlops = AttentionFlops.FULL
    ) -> float:
        """FLOPs of one training step over `sequences` sequences of `seq_len` tokens.

        6 per matrix parameter and token, plus the score and value products of attention.
        For a GPT this is 72 B s L h^2 (1 + s/6h + V/12Lh) of Korthikanti et al. 2022, equation 7.
        """
        matrices = 6.0 * sequences * seq_len * self.matmul_params()
        pair_width = self.query_width + self.value_width
        return matrices + 6.0 * sequences * self.attention_pairs(seq_len, convention) * pair_width

    def recompute_flops(
        self, *, sequences: float, seq_len: int, level: str, convention: AttentionFlops = AttentionFlops.FULL
    ) -> float:
        """FLOPs repeated by recomputation: a forward pass of the layers (full) or their attention core."""
        if level == "none":
            return 0.0
        pair_width = self.query_width + self.value_width
        core = 2.0 * sequences * self.attention_pairs(seq_len, convention) * pair_width
        if level == "selective":
            return core
        layers = self.matmul_params() - (1 + self.mtp_layers) * self.vocab * self.hidden
        return core + 2.0 * sequences * seq_len * layers


def _problems(spec: ModelSpec) -> list[FieldError]:
    """What cannot be in this shape, each with the pointer of its field."""
    found = []
    for key in ("layers", "hidden", "heads", "vocab", "kv_heads", "head_dim"):
        if getattr(spec, key) < 1:
            found.append(FieldError(pointer=f"/{key}", message=say("%(key)s must be at least 1", key=key)))
    for key in ("ffn_hidden", "experts", "topk", "dense_layers", "mtp_layers", "shared_expert_ffn_hidden"):
        if getattr(spec, key) < 0:
            found.append(FieldError(pointer=f"/{key}", message=say("%(key)s must not be negative", key=key)))
    if found:
        return found
    if spec.mla is None and spec.heads % spec.kv_heads:
        found.append(FieldError(pointer="/kv_heads", message=say("kv_heads must divide heads")))
    if spec.experts and not 1 <= spec.topk <= spec.experts:
        found.append(FieldError(pointer="/topk", message=say("topk must lie between 1 and experts")))
    if spec.experts and spec.expert_ffn_hidden < 1:
        found.append(
            FieldError(pointer="/expert_ffn_hidden", message=say("expert_ffn_hidden must be at least 1"))
        )
    if spec.dense_layers > spec.layers:
        found.append(FieldError(pointer="/dense_layers", message=say("dense_layers must not exceed layers")))
    if spec.plain_layers and spec.ffn_hidden < 1:
        found.append(FieldError(pointer="/ffn_hidden", message=say("ffn_hidden must be at least 1")))
    if spec.windowed_layers and spec.attention_window < 1:
        found.append(
            FieldError(pointer="/attention_window", message=say("attention_window must be at least 1"))
        )
    return found
