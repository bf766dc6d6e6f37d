"""KV cache, batches, contexts and phase limits against published figures."""

from __future__ import annotations

import dataclasses

import pytest

from apps.catalogue.engine.accelerators import accelerator
from apps.catalogue.engine.model_catalogue import model_named
from apps.core.errors import OutOfRange
from apps.planning.engine.coefficients import shipped_coefficients
from apps.planning.engine.inference import (
    Serving,
    balanced_batch,
    cache_copies,
    cards_for,
    decode,
    free_for_cache_bytes,
    kv_bytes_per_request,
    kv_bytes_per_token,
    largest_batch,
    largest_context,
    prefill,
    split_pools,
    touched_experts,
    touched_params,
    weight_pool,
    weights_bytes,
)
from apps.planning.engine.system import default_system, rates
from tests.apps.planning.engine.test_memory import GOLDEN

H100 = default_system(accelerator("nvidia-h100-sxm5-80gb"), 64, domain_size=8)
LLAMA = model_named("llama-3-70b").spec
DEEPSEEK = model_named("deepseek-v3").spec


@pytest.mark.parametrize(
    ("name", "kilobytes"),
    [("llama-3.1-405b", 516), ("llama-3-70b", 328), ("deepseek-v3", 70.3), ("gpt3-175b", 4719)],
)
def test_kv_bytes_per_token_match_published_figures(name: str, kilobytes: float) -> None:
    assert kv_bytes_per_token(model_named(name).spec) / 1000 == pytest.approx(kilobytes, rel=2e-3)


def test_fp8_halves_the_cache() -> None:
    assert kv_bytes_per_token(LLAMA, 1.0) * 2 == kv_bytes_per_token(LLAMA)


def test_windowed_layers_keep_their_window() -> None:
    oss = model_named("gpt-oss-120b").spec
    assert kv_bytes_per_request(oss, 8192) == pytest.approx(2 * oss.kv_cache_width * (18 * 8192 + 18 * 128))


@pytest.mark.parametrize("row", GOLDEN["weights_only"])
def test_weights_are_golden(row: dict) -> None:
    size = weights_bytes(float(row["params"]), row["bytes_per_param"])
    assert size / 1e9 == pytest.approx(row.get("gb", row.get("tb", 0) * 1000), rel=1e-3)
    if "cards_192gb" in row:
        assert cards_for(size, 192e9) == row["cards_192gb"]


def test_the_share_of_a_card_is_golden() -> None:
    golden = GOLDEN["share_per_card"]
    share = float(golden["params"]) * 16 / golden["cards"] / 1e9
    assert share == pytest.approx(golden["gb_per_card"], rel=1e-3)


def test_batch_and_context_fill_the_same_memory() -> None:
    serving = Serving(tp=8)
    context = largest_context(LLAMA, H100, serving, batch=16)
    assert largest_batch(LLAMA, H100, serving, context=context) == 16
    assert largest_batch(LLAMA, H100, serving, context=context + 1000) < 16
    used = 16 * kv_bytes_per_request(LLAMA, context)
    assert used <= free_for_cache_bytes(LLAMA, H100, serving)


def test_a_model_that_does_not_fit_serves_nobody() -> None:
    assert largest_batch(LLAMA, H100, Serving(tp=1), context=1024) == 0
    assert free_for_cache_bytes(LLAMA, H100, Serving(tp=1)) < 0


def test_keys_are_repeated_beyond_their_heads() -> None:
    wide = Serving(tp=16)
    half = Serving(tp=8, pp=2)
    assert largest_batch(LLAMA, H100, wide, context=8192) < largest_batch(LLAMA, H100, half, context=8192)


def test_touched_experts_grow_from_topk_to_all() -> None:
    assert touched_experts(DEEPSEEK, 1) == pytest.approx(8)
    assert touched_experts(DEEPSEEK, 10_000) == pytest.approx(256)
    assert touched_params(DEEPSEEK, 1) == pytest.approx(DEEPSEEK.active_params(), rel=1e-6)
    assert touched_params(LLAMA, 1) == LLAMA.total_params()


@pytest.mark.parametrize("serving", [Serving(tp=1), Serving(tp=8, expert_parallel=True)])
def test_layers_that_only_train_take_no_time_to_serve(serving: Serving) -> None:
    assert DEEPSEEK.mtp_layers == 1
    without = model_named("deepseek-v3-no-mtp").spec
    assert prefill(DEEPSEEK, H100, serving, prompt=4096) == prefill(without, H100, serving, prompt=4096)
    steps = [decode(one, H100, serving, context=4096, batch=64) for one in (DEEPSEEK, without)]
    assert steps[0] == steps[1]


def test_the_compute_of_a_token_is_two_flops_for_each_active_parameter() -> None:
    flops = decode(DEEPSEEK, H100, Serving(tp=1), context=1, batch=1).compute_s
    counted = 2.0 * (DEEPSEEK.active_params() - DEEPSEEK.embedding_params())
    card = rates(H100.accelerator, Serving(tp=1).precision, shipped_coefficients())
    assert flops == pytest.approx(counted / card.matrix_flops, rel=1e-3)


def test_the_latent_is_kept_by_every_card_of_a_tensor_group() -> None:
    assert [cache_copies(DEEPSEEK, Serving(tp=tp)) for tp in (1, 8, 32)] == [1, 8, 32]
    assert [cache_copies(LLAMA, Serving(tp=tp)) for tp in (1, 8, 32)] == [1, 1, 4]


def test_decode_is_bound_by_memory_and_prefill_by_compute() -> None:
    serving = Serving(tp=8)
    assert decode(LLAMA, H100, serving, context=4096, batch=256).bound_by == "memory"
    assert prefill(LLAMA, H100, serving, prompt=8192).bound_by == "compute"


def test_a_decode_step_reads_weights_and_cache_once() -> None:
    step = decode(LLAMA, H100, Serving(tp=8), context=4096, batch=8)
    moved = LLAMA.total_params() * 2 + 8 * kv_bytes_per_request(LLAMA, 4096)
    assert step.memory_s == pytest.approx(moved / (3.35e12 * 0.85) / 8)


def test_latency_sets_what_a_small_decode_step_gains_from_a_domain() -> None:
    alone = decode(LLAMA, H100, Serving(tp=8), context=1024, batch=1).collectives_s
    crossing = decode(LLAMA, H100, Serving(tp=16), context=1024, batch=1).collectives_s
    domain = dataclasses.replace(H100, domain_size=16)
    kept = decode(LLAMA, domain, Serving(tp=16), context=1024, batch=1).collectives_s
    assert alone < kept < crossing
    slow = dataclasses.replace(H100, scale_up_bytes_per_s=H100.scale_up_bytes_per_s / 2)
    halved = decode(LLAMA, slow, Serving(tp=8), context=1024, batch=1).collectives_s
    assert halved == pytest.approx(alone, rel=0.02)


def test_a_longer_prompt_and_a_larger_batch_take_longer() -> None:
    serving = Serving(tp=8)
    prompts = [prefill(LLAMA, H100, serving, prompt=n).total_s for n in (512, 1024, 4096)]
    assert prompts == sorted(prompts)
    steps = [decode(LLAMA, H100, serving, context=4096, batch=n).total_s for n in (1, 16, 64)]
    assert steps == sorted(steps)


def test_compute_meets_bandwidth_at_the_balanced_batch() -> None:
    serving = Serving(tp=8)
    batch = balanced_batch(H100, serving)
    assert 150 < batch < 400
    assert balanced_batch(H100, dataclasses.replace(serving, weight_bytes=1.0)) == pytest.approx(batch / 2)


def test_pools_carry_their_traffic() -> None:
    pools = split_pools(
        LLAMA,
        H100,
        prefill_layout=Serving(tp=4),
        decode_layout=Serving(tp=8),
        requests_per_s=20,
        prompt=2048,
        output=512,
        batch=32,
    )
    assert pools.prefill_replicas >= 20 * pools.first_token.total_s
    assert pools.decode_replicas * 32 >= 20 * 512 * pools.output_token.total_s
    assert (pools.prefill_cards, pools.decode_cards) == (
        4 * pools.prefill_replicas,
        8 * pools.decode_replicas,
    )


def test_a_batch_beyond_memory_is_refused() -> None:
    with pytest.raises(OutOfRange) as refused:
        split_pools(
            LLAMA,
            H100,
            prefill_layout=Serving(tp=8),
            decode_layout=Serving(tp=4),
            requests_per_s=1,
            prompt=100_000,
            output=1000,
            batch=64,
        )
    assert refused.value.fields["largest_batch"] < 64


def test_ten_trillion_parameters_need_whole_domains() -> None:
    part = accelerator("nvidia-gb200")
    pool = weight_pool(1e13, default_system(part, 720, domain_size=72))
    assert pool.weights_bytes == 20e12
    assert pool.cards == pool.domains * 72
    assert pool.free_bytes >= 0
    assert (pool.cards - 72) * part.memory_bytes * 0.9 < 20e12
