"""Shapes from Hugging Face configurations."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from apps.catalogue.engine.hf_config import model_from_config
from apps.catalogue.engine.model_catalogue import model_named
from apps.core.errors import Invalid

LLAMA = {
    "model_type": "llama",
    "hidden_size": 8192,
    "intermediate_size": 28672,
    "num_attention_heads": 64,
    "num_hidden_layers": 80,
    "num_key_value_heads": 8,
    "vocab_size": 128256,
    "tie_word_embeddings": False,
}
DEEPSEEK = {
    "model_type": "deepseek_v3",
    "hidden_size": 7168,
    "intermediate_size": 18432,
    "num_attention_heads": 128,
    "num_hidden_layers": 61,
    "num_key_value_heads": 128,
    "vocab_size": 129280,
    "n_routed_experts": 256,
    "n_shared_experts": 1,
    "num_experts_per_tok": 8,
    "moe_intermediate_size": 2048,
    "first_k_dense_replace": 3,
    "num_nextn_predict_layers": 1,
    "q_lora_rank": 1536,
    "kv_lora_rank": 512,
    "qk_nope_head_dim": 128,
    "qk_rope_head_dim": 64,
    "v_head_dim": 128,
}
GPT_OSS = {
    "model_type": "gpt_oss",
    "hidden_size": 2880,
    "intermediate_size": 2880,
    "head_dim": 64,
    "num_attention_heads": 64,
    "num_hidden_layers": 36,
    "num_key_value_heads": 8,
    "vocab_size": 201088,
    "num_local_experts": 128,
    "num_experts_per_tok": 4,
    "sliding_window": 128,
    "layer_types": ["sliding_attention", "full_attention"] * 18,
}
QWEN = {
    "model_type": "qwen3_moe",
    "hidden_size": 4096,
    "intermediate_size": 12288,
    "moe_intermediate_size": 1536,
    "head_dim": 128,
    "num_attention_heads": 64,
    "num_hidden_layers": 94,
    "num_key_value_heads": 4,
    "vocab_size": 151936,
    "num_experts": 128,
    "num_experts_per_tok": 8,
    "sliding_window": None,
}
GPT2 = {
    "model_type": "gpt2",
    "n_embd": 768,
    "n_layer": 12,
    "n_head": 12,
    "n_positions": 1024,
    "vocab_size": 50257,
}
DBRX = {
    "model_type": "dbrx",
    "d_model": 6144,
    "n_heads": 48,
    "n_layers": 40,
    "vocab_size": 100352,
    "attn_config": {"kv_n_heads": 8},
    "ffn_config": {"ffn_hidden_size": 10752, "moe_num_experts": 16, "moe_top_k": 4},
}
SCOUT = {
    "model_type": "llama4",
    "text_config": {
        "model_type": "llama4_text",
        "hidden_size": 5120,
        "intermediate_size": 8192,
        "head_dim": 128,
        "num_attention_heads": 40,
        "num_hidden_layers": 48,
        "num_key_value_heads": 8,
        "vocab_size": 202048,
        "num_local_experts": 16,
        "num_experts_per_tok": 1,
        "interleave_moe_layer_step": 1,
    },
}


@pytest.mark.parametrize(
    ("config", "name"),
    [
        (LLAMA, "llama-3-70b"),
        (DEEPSEEK, "deepseek-v3"),
        (GPT_OSS, "gpt-oss-120b"),
        (QWEN, "qwen3-235b-a22b"),
        (DBRX, "dbrx"),
        (SCOUT, "llama-4-scout"),
    ],
)
def test_a_configuration_gives_the_catalogue_model(config: dict[str, Any], name: str) -> None:
    found, known = model_from_config(config), model_named(name).spec
    assert found.total_params() == known.total_params()
    assert found.active_params() == known.active_params()
    assert dataclasses.replace(found, ffn_hidden=known.ffn_hidden) == known


def test_gpt2_ties_embeddings_and_has_biases() -> None:
    assert model_from_config(GPT2).total_params() == pytest.approx(124.44e6, rel=1e-3)


@pytest.mark.parametrize(
    ("config", "billions"),
    [
        (
            {"model_type": "gptj", "n_embd": 4096, "n_layer": 28, "n_head": 16, "n_inner": None, "vocab_size": 50400},
            6.05,
        ),
        (
            {"model_type": "falcon", "hidden_size": 4544, "num_hidden_layers": 32, "num_attention_heads": 71,
             "multi_query": True, "vocab_size": 65024, "tie_word_embeddings": True},
            6.92,
        ),
    ],
)  # fmt: skip
def test_plain_layers_and_queries_that_share_one_key_are_counted(
    config: dict[str, Any], billions: float
) -> None:
    assert model_from_config(config).total_params() == pytest.approx(billions * 1e9, rel=0.005)


def test_a_text_configuration_inside_a_multimodal_one_is_read() -> None:
    assert model_from_config({"model_type": "mllama", "text_config": LLAMA}).layers == 80


@pytest.mark.parametrize(
    ("change", "pointer"),
    [
        ({"hidden_size": None}, "/hidden_size"),
        ({"num_hidden_layers": "80"}, "/num_hidden_layers"),
        ({"mamba_num_heads": 64}, "/mamba_num_heads"),
        ({"num_key_value_heads": 7}, "/kv_heads"),
        ({"is_encoder_decoder": True}, "/is_encoder_decoder"),
        ({"interleave_moe_layer_step": 2}, "/interleave_moe_layer_step"),
        ({"mlp_only_layers": [0]}, "/mlp_only_layers"),
        ({"model_type": "bert"}, "/model_type"),
        ({"model_type": ["llama"]}, "/model_type"),
    ],
)
def test_what_is_missing_or_not_understood_is_named(change: dict[str, Any], pointer: str) -> None:
    with pytest.raises(Invalid) as refused:
        model_from_config(LLAMA | change)
    assert pointer in [error.pointer for error in refused.value.errors]


def test_a_list_is_no_configuration() -> None:
    with pytest.raises(Invalid):
        model_from_config([])
