"""Golden figures of the studies, over HTTP: on the page that people read and in the answer to machines."""

from __future__ import annotations

from typing import Any

import pytest

from apps.core.units import show_share
from tests.apps.planning.engine.test_memory import GOLDEN

pytestmark = pytest.mark.django_db


@pytest.fixture
def page(client_of, vic):
    """The text of a study's page for a query."""
    return lambda key, **query: client_of(vic).get(f"/plans/studies/{key}/", query).content.decode()


@pytest.fixture
def answer(api, vic):
    """The result of a study over REST."""

    def ask(key: str, **body: Any) -> dict[str, Any]:
        response = api(vic).post(f"/api/v1/planning/{key}/", body, format="json")
        assert response.status_code == 200, response.json()
        return response.json()["result"]

    return ask


@pytest.mark.parametrize("row", [row for row in GOLDEN["effective_compute"] if "b" in row])
def test_speedup_and_time_saved(row, page, answer):
    body = {
        "cards_before": row["a"]["cards"],
        "mfu_before_percent": 100 * row["a"]["mfu"],
        "cards_after": row["b"]["cards"],
        "mfu_after_percent": 100 * row["b"]["mfu"],
    }
    found = answer("claims", **body)["comparison"]
    assert found["speedup"] == pytest.approx(row["speedup"], rel=1e-3)
    assert found["time_saved"] == pytest.approx(row["time_saved"], rel=1e-3)
    text = page("claims", **body)
    assert f"{row['speedup']:.3f} ×" in text and show_share(row["time_saved"]) in text


def test_a_gain_in_cards(page, answer):
    row = next(row for row in GOLDEN["effective_compute"] if "gain" in row)
    body = {
        "cards_before": row["a"]["cards"],
        "mfu_before_percent": 100 * row["a"]["mfu"],
        "gain_percent": 100 * row["gain"],
    }
    found = answer("claims", **body)["comparison"]
    assert found["equivalent_extra_cards"] == pytest.approx(row["equivalent_extra_cards"])
    assert f"{row['equivalent_extra_cards']:.1f}" in page("claims", **body)


def test_a_claimed_saving_that_contradicts_is_said_so(page):
    text = page("claims", cards_before=128, mfu_before_percent=34, cards_after=64, mfu_after_percent=58,
                claimed_time_saved_percent=40)  # fmt: skip
    assert "contradicts the other figures" in text and "The second setup is slower" in text


@pytest.mark.parametrize("row", GOLDEN["scaling_efficiency"])
def test_scaling_verdicts(row, answer):
    found = answer("claims", cards_small=72, cards_large=144, factor=row["factor"])["scaling"]
    assert found["efficiency"] == pytest.approx(row["efficiency"])
    assert found["verdict"] == row["verdict"]


def test_rank_sizes(page, answer):
    golden = GOLDEN["rank_sizes"]
    body = {name: golden[name] for name in ("domain_cards", "tp", "ep", "pp", "dp")}
    found = answer("claims", **body)["ranks"]
    assert found["world"] == golden["world"] and found["domains"] == golden["domains"]
    assert found["experts_fit_domain"] and not found["experts_fit_split_by_tp"]
    assert f"{golden['world']:,}" in page("claims", **body)


@pytest.mark.parametrize("row", GOLDEN["failure_probability"])
def test_any_failure_in_a_week(row, page, answer):
    found = answer("reliability", nodes=row["nodes"], rate="optimistic")["nodes"]
    assert found["p_any_week"] == pytest.approx(row["p_any"], rel=1e-3)
    assert f"{100 * row['p_any']:.3f} %" in page("reliability", nodes=row["nodes"], rate="optimistic")


def test_time_outs(page, answer):
    golden = GOLDEN["nccl_timeout"]
    low, high = golden["low_s"], golden["high_s"]
    assert answer("reliability", baseline_s=golden["baseline_s"])["timeout_s"] == [low, high]
    assert f"{low:g}–{high:g}" in page("reliability", baseline_s=golden["baseline_s"])


@pytest.mark.parametrize("band", sorted(GOLDEN["cooling_kw_per_rack"]))
def test_cooling_bands_are_shown_as_assumptions(band, answer):
    low, high = GOLDEN["cooling_kw_per_rack"][band]
    shown = f"{low:g}–{high:g} kW" if high else f"≥ {low:g} kW"
    rows = {row["name"]: row["value"] for row in answer("power")["assumptions"]}
    assert rows[f"cooling.{band}"] == shown


def test_ten_trillion_parameters_are_twenty_terabytes_on_105_cards(page, answer):
    golden = next(row for row in GOLDEN["weights_only"] if "tb" in row)
    body = {
        "pool_params_trillion": float(golden["params"]) / 1e12,
        "accelerator": "amd-mi300x",
        "pool_weights": "bf16",
    }
    found = answer("inference", **body)["large_pool"]
    assert found["weights_bytes"] == pytest.approx(golden["tb"] * 1e12, rel=1e-3)
    assert found["cards_without_reserve"] == golden["cards_192gb"]
    text = page("inference", **body)
    assert f"{golden['tb']} TB" in text and f">{golden['cards_192gb']}<" in text


@pytest.mark.parametrize(
    ("model", "kv_bytes"),
    [
        ("llama-3.1-405b", 516e3),
        ("llama-3-70b", 328e3),
        ("deepseek-v3", 70.3e3),
        ("gpt3-175b", 4.72e6),
    ],
)
def test_cache_of_a_token(model, kv_bytes, answer):
    found = answer("inference", model=model, kv="bf16", expert_parallel=False, decode_tp=64, batch=1)
    assert found["kv_bytes_per_token"] == pytest.approx(kv_bytes, rel=5e-3)


@pytest.mark.parametrize("row", GOLDEN["static_training_memory"])
def test_static_training_memory_and_the_cards_that_hold_it(row, answer):
    gigabytes = 80 if "cards_80gb" in row else 192
    body = {"params_billion": float(row["params"]) / 1e9, "card_memory_gb": gigabytes, "gradient_bits": "16"}
    found = answer("envelope", **body)["memory"]
    assert found["total_bytes"] / 1e9 == pytest.approx(row["gb"], rel=1e-3)
    assert found["cards_needed"] == row[f"cards_{gigabytes}gb"]


def test_the_state_of_a_parameter_and_its_share_of_a_card(page, answer):
    golden = GOLDEN["share_per_card"]
    body = {"params_billion": float(golden["params"]) / 1e9, "cards": golden["cards"], "gradient_bits": "16"}
    found = answer("envelope", **body)["memory"]
    assert found["bytes_per_parameter"] == GOLDEN["memory_bytes_per_param"]["mixed_precision_adam"]["total"]
    assert found["per_card_bytes"] / 1e9 == pytest.approx(golden["gb_per_card"], rel=1e-3)
    assert f"{golden['gb_per_card']:.2f} GB" in page("envelope", **body)


def test_an_all_reduce_as_a_ring_and_as_the_naive_figure(page, answer):
    ring, naive = GOLDEN["all_reduce"]["ring"], GOLDEN["all_reduce"]["naive"]
    body = {
        "message_gb": ring["gb"],
        "ranks": ring["ranks"],
        "link_gb_s": ring["gb_per_s"],
        "both_ways": False,
    }
    found = answer("envelope", **body)["all_reduce"]
    assert found["ring_s"] == pytest.approx(ring["seconds"], rel=1e-3)
    assert found["naive_s"] == pytest.approx(naive["seconds"], rel=1e-3)
    assert "Vendors state the sum of both directions" in page("envelope", both_ways=True)


@pytest.mark.parametrize("row", GOLDEN["comm_check_all_reduce_sum"])
def test_the_sum_of_the_ranks(row, answer):
    assert answer("envelope", ranks=row["ranks"])["all_reduce"]["sum_of_ranks"] == row["value"]


@pytest.mark.parametrize("row", GOLDEN["pipeline_bubble_1f1b"])
def test_the_bubble(row, answer):
    found = answer("envelope", pp=row["pp"], micro_batches=row["micro_batches"], vpp=1)["bubble"]
    assert found["share"] == pytest.approx(row["share"], rel=1e-3)
