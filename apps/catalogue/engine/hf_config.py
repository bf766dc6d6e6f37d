"""Hugging Face configurations: the shape of a model from the config.json of its published weights."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from apps.catalogue.engine.models import MlaSpec, ModelSpec
from apps.core.errors import FieldError, Invalid
from apps.core.texts import say

PLAIN_MLP_TYPES = (
    *("gpt2", "gpt_neo", "gpt_neox", "gptj", "gpt_bigcode", "codegen", "mpt", "bloom", "opt", "falcon"),
    *("nemotron", "starcoder2", "phi", "arcee", "apertus", "persimmon"),
)
GATED_MLP_TYPES = (
    *("llama", "llama4", "llama4_text", "mllama", "mllama_text_model", "mistral", "mistral3", "ministral3"),
    *("mixtral", "qwen2", "qwen2_moe", "qwen2_vl", "qwen2_vl_text", "qwen2_5_vl", "qwen2_5_vl_text"),
    *("qwen3", "qwen3_moe", "qwen3_vl_text", "qwen3_vl_moe_text", "deepseek", "deepseek_v2", "deepseek_v3"),
    *("deepseek_v32", "kimi_k2", "dots1", "bailing_moe", "minimax_m2", "glm", "glm4", "glm4_moe"),
    *("gemma", "gemma2", "gemma3", "gemma3_text", "phi3", "phimoe", "granite", "granitemoe"),
    *("cohere", "cohere2", "olmo", "olmo2", "olmo3", "olmoe", "gpt_oss", "dbrx"),
    *("internlm", "internlm2", "internlm3", "baichuan", "Yi", "stablelm", "exaone4", "smollm3", "seed_oss"),
    *("mimo", "aquila", "xverse", "orion", "hunyuan_v1_dense", "ernie4_5"),
)
TIED_BY_DEFAULT = (
    *("gpt2", "gpt_bigcode", "mpt", "bloom", "opt", "gemma", "gemma2", "gemma3_text", "cohere", "cohere2"),
)
PARTS = ("text_config", "attn_config", "ffn_config")  # objects that hold what others hold at the top
ALTERNATING_KEYS = ("interleave_moe_layer_step", "decoder_sparse_step", "moe_layer_freq")
HYBRID_KEYS = (
    "mamba_num_heads",
    "ssm_state_size",
    "hybrid_override_pattern",
    "mamba_d_state",
    "layers_block_type",
)


def model_from_config(config: object) -> ModelSpec:
    """The shape that a config.json states.

    Raises Invalid with a pointer per field that is missing or not understood; what counts otherwise than a decoder
    of like layers is refused, and so is a family that is not known. Without model_type the layers are Llama's.
    """
    if not isinstance(config, Mapping):
        raise Invalid(
            say("a config.json is a JSON object"), errors=[_problem("", say("a JSON object is needed"))]
        )
    for part in PARTS:
        if isinstance(inside := config.get(part), Mapping):
            config = {**config, **inside}
    if refused := list(_unsupported(config)):
        raise Invalid(refused[0].message, errors=refused)
    reader = _Reader(config)
    spec = _spec(reader, str(config.get("model_type", "")))
    if reader.errors:
        raise Invalid(reader.errors[0].message, errors=reader.errors)
    return ModelSpec(**spec)


def _unsupported(config: Mapping[str, Any]) -> Iterator[FieldError]:
    kind = config.get("model_type")
    if kind is not None and kind not in (*PLAIN_MLP_TYPES, *GATED_MLP_TYPES):
        message = say(
            "models of the family %(kind)s are not known; enter the shape by hand", kind=str(kind)[:60]
        )
        yield _problem("model_type", message)
    for key in HYBRID_KEYS:
        if config.get(key) is not None:
            yield _problem(key, say("state-space layers are not supported"))
    if config.get("is_encoder_decoder"):
        yield _problem(
            "is_encoder_decoder", say("models with an encoder beside the decoder are not supported")
        )
    for key in ALTERNATING_KEYS:
        if config.get(key) not in (None, 1):
            yield _problem(key, say("layers with and without experts in turn are not supported"))
    if config.get("mlp_only_layers"):
        yield _problem("mlp_only_layers", say("layers with and without experts in turn are not supported"))


class _Reader:
    """Whole numbers under any of several names, with an error where none is there."""

    def __init__(self, config: Mapping[str, Any]) -> None:
        self.config = config
        self.errors: list[FieldError] = []

    def whole(self, *names: str, default: int | None = None) -> int:
        for name in names:
            value = self.config.get(name)
            if value is None:
                continue
            if isinstance(value, bool) or not isinstance(value, int):
                self.errors.append(
                    _problem(
                        name,
                        say("%(name)s must be a whole number, not %(value)s", name=name, value=f"{value!r}"),
                    )
                )
                return 1
            return value
        if default is None:
            self.errors.append(_problem(names[0], say("%(names)s is missing", names=names[0])))
            return 1
        return default

    def flag(self, name: str, default: bool) -> bool:
        value = self.config.get(name)
        return default if value is None else bool(value)


def _spec(reader: _Reader, kind: str) -> dict[str, Any]:
    hidden = reader.whole("hidden_size", "n_embd", "d_model")
    layers = reader.whole("num_hidden_layers", "n_layer", "n_layers", "num_layers")
    heads = reader.whole("num_attention_heads", "n_head", "n_heads")
    gated = kind not in PLAIN_MLP_TYPES
    experts = reader.whole(
        "n_routed_experts", "num_local_experts", "num_experts", "moe_num_experts", default=0
    )
    widths = ("intermediate_size", "ffn_dim", "n_inner", "ffn_hidden_size")
    ffn = reader.whole(*widths, default=0) or 4 * hidden
    spec: dict[str, Any] = {
        "name": str(reader.config.get("_name_or_path") or kind),
        "layers": layers,
        "hidden": hidden,
        "heads": heads,
        "kv_heads": _kv_heads(reader, heads),
        "head_dim": reader.whole("head_dim", default=0),
        "vocab": reader.whole("vocab_size"),
        "ffn_hidden": ffn,
        "gated_mlp": gated,
        "tied_embeddings": reader.flag("tie_word_embeddings", kind in TIED_BY_DEFAULT),
        "learned_positions": reader.whole("n_positions", "max_seq_len", default=0)
        if kind in ("gpt2", "mpt")
        else 0,
        "mtp_layers": reader.whole("num_nextn_predict_layers", default=0),
    }
    if experts > 1:
        spec |= _experts(reader, experts, ffn)
    if reader.config.get("kv_lora_rank"):
        spec["mla"] = _mla(reader)
        spec["kv_heads"] = heads
        spec["head_dim"] = 0
    return spec | _windows(reader, layers)


def _kv_heads(reader: _Reader, heads: int) -> int:
    """One where all queries share it (Falcon's older layers, StarCoder), else as stated, else one for each query."""
    if reader.flag("multi_query", False) and not reader.flag("new_decoder_architecture", False):
        return 1
    return reader.whole("num_key_value_heads", "num_kv_heads", "kv_n_heads", default=heads)


def _experts(reader: _Reader, experts: int, ffn: int) -> dict[str, Any]:
    width = reader.whole("moe_intermediate_size", default=ffn)
    has_one = str(reader.config.get("model_type", "")).startswith("llama4")
    shared = reader.whole("n_shared_experts", default=int(has_one)) * width
    return {
        "experts": experts,
        "topk": reader.whole("num_experts_per_tok", "moe_topk", "moe_top_k", "top_k"),
        "expert_ffn_hidden": width,
        "shared_expert_ffn_hidden": reader.whole("shared_expert_intermediate_size", default=shared),
        "dense_layers": reader.whole("first_k_dense_replace", default=0),
    }


def _mla(reader: _Reader) -> MlaSpec:
    return MlaSpec(
        kv_lora_rank=reader.whole("kv_lora_rank"),
        qk_nope_head_dim=reader.whole("qk_nope_head_dim"),
        qk_rope_head_dim=reader.whole("qk_rope_head_dim"),
        v_head_dim=reader.whole("v_head_dim"),
        q_lora_rank=reader.whole("q_lora_rank", default=0) or None,
    )


def _windows(reader: _Reader, layers: int) -> dict[str, int]:
    """Layers that attend to a window only, where the configuration lists them."""
    kinds = reader.config.get("layer_types")
    window = reader.whole("sliding_window", default=0)
    if not isinstance(kinds, list) or not window:
        return {}
    windowed = sum(kind == "sliding_attention" for kind in kinds[:layers])
    return {"attention_window": window, "windowed_layers": windowed} if windowed else {}


def _problem(name: str, message: str) -> FieldError:
    return FieldError(pointer=f"/{name}" if name else "", message=message)
