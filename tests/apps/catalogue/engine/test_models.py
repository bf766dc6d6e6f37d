"""Parameter and FLOP counts against published figures."""

from __future__ import annotations

import pytest

from apps.catalogue.engine.models import AttentionFlops, MlaSpec, ModelSpec
from apps.core.errors import OutOfRange

GPT3 = ModelSpec(
    layers=96, hidden=12288, heads=96, vocab=51200, ffn_hidden=49152, gated_mlp=False, tied_embeddings=True
)
LLAMA_70B = ModelSpec(layers=80, hidden=8192, heads=64, kv_heads=8, vocab=128256, ffn_hidden=28672)
DEEPSEEK_V3 = ModelSpec(
    layers=61,
    hidden=7168,
    heads=128,
    vocab=129280,
    ffn_hidden=18432,
    experts=256,
    topk=8,
    expert_ffn_hidden=2048,
    shared_expert_ffn_hidden=2048,
    dense_layers=3,
    mtp_layers=1,
    mla=MlaSpec(
        q_lora_rank=1536, kv_lora_rank=512, qk_nope_head_dim=128, qk_rope_head_dim=64, v_head_dim=128
    ),
)


def test_parameters_of_known_models_match_their_papers() -> None:
    assert GPT3.total_params() == pytest.approx(174.6e9, rel=1e-3)
    assert LLAMA_70B.total_params() == 70_553_706_496
    assert DEEPSEEK_V3.total_params(with_mtp=False) == pytest.approx(671.0e9, rel=1e-3)
    assert DEEPSEEK_V3.active_params() == pytest.approx(37.5e9, rel=5e-3)


def test_flops_of_a_gpt_are_the_published_closed_form() -> None:
    b, s, layers, h, v = 64, 2048, 96, 12288, 51200
    closed = 72 * b * s * layers * h**2 * (1 + s / (6 * h) + v / (12 * layers * h))
    assert GPT3.model_flops(sequences=b, seq_len=s) == pytest.approx(closed, rel=1e-12)


def test_full_recomputation_adds_a_forward_pass_of_the_layers() -> None:
    b, s, layers, h, v = 64, 2048, 96, 12288, 51200
    hardware = 96 * b * s * layers * h**2 * (1 + s / (6 * h) + v / (16 * layers * h))
    total = GPT3.model_flops(sequences=b, seq_len=s)
    assert total + GPT3.recompute_flops(sequences=b, seq_len=s, level="full") == pytest.approx(hardware)


def test_the_causal_convention_halves_only_attention() -> None:
    full = LLAMA_70B.model_flops(sequences=1, seq_len=8192)
    causal = LLAMA_70B.model_flops(sequences=1, seq_len=8192, convention=AttentionFlops.CAUSAL)
    assert full - causal == 6 * 80 * 8192**2 * 8192


def test_kv_cache_widths_match_published_bytes_per_token() -> None:
    assert LLAMA_70B.layers * LLAMA_70B.kv_cache_width * 2 == pytest.approx(328e3, rel=2e-3)
    assert DEEPSEEK_V3.layers * DEEPSEEK_V3.kv_cache_width * 2 == pytest.approx(70.3e3, rel=2e-3)


def test_windowed_layers_score_fewer_pairs() -> None:
    shape = {"layers": 36, "hidden": 2880, "heads": 64, "head_dim": 64, "vocab": 1000, "ffn_hidden": 64}
    whole = ModelSpec(**shape)
    windowed = ModelSpec(**shape, attention_window=128, windowed_layers=18)
    ratio = windowed.attention_pairs(4096, AttentionFlops.FULL) / whole.attention_pairs(
        4096, AttentionFlops.FULL
    )
    assert ratio == pytest.approx((18 + 18 * 128 / 4096) / 36)


@pytest.mark.parametrize(
    ("change", "pointer"),
    [
        ({"layers": 0}, "/layers"),
        ({"kv_heads": 7}, "/kv_heads"),
        ({"experts": 8, "topk": 9, "expert_ffn_hidden": 10}, "/topk"),
        ({"experts": 8, "topk": 2}, "/expert_ffn_hidden"),
        ({"ffn_hidden": 0}, "/ffn_hidden"),
    ],
)
def test_a_shape_that_cannot_exist_is_refused_with_its_pointer(change: dict[str, int], pointer: str) -> None:
    shape = {"layers": 2, "hidden": 64, "heads": 8, "vocab": 100, "ffn_hidden": 256} | change
    with pytest.raises(OutOfRange) as refused:
        ModelSpec(**shape)
    assert [error.pointer for error in refused.value.errors] == [pointer]
