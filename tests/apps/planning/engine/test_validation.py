"""Predictions against published measurements: the bars, the held-out sources, and how rows are read."""

from __future__ import annotations

import csv
from pathlib import Path
from statistics import mean

import pytest

from apps.planning.engine import coefficients as coefficients_module
from apps.planning.engine.layouts import Recompute
from apps.planning.engine.published_card import card_named
from apps.planning.engine.published_cells import NEEDED
from apps.planning.engine.published_run import PublishedRun, UnusableRun, read_run
from apps.planning.engine.validation import Comparison, compare, rankings, report, spearman, summarise
from apps.planning.engine.workload import AttentionKernel, Framework, Precision

TABLE = Path(coefficients_module.DATA).parent / "published_runs.csv"
ROWS = list(csv.DictReader(TABLE.open(encoding="utf-8")))
KORTHIKANTI_175B = next(row for row in ROWS if row["id"] == "kort_t5_175B_full")
RUNS = [run for run in map(read_run, ROWS) if isinstance(run, PublishedRun)]
BY_ID = {run.id: run for run in RUNS}
COMPARISONS = [compare(run) for run in RUNS]


def mean_error(part: str, *, moe: bool | None = None) -> float:
    chosen = [
        abs(c.error)
        for run, c in zip(RUNS, COMPARISONS, strict=True)
        if part in c.source and (moe is None or run.plan.model.is_moe is moe)
    ]
    return mean(chosen)


@pytest.mark.parametrize(
    ("source", "moe", "bar"),
    [
        ("Korthikanti", None, 0.05),
        ("SC21", None, 0.07),
        ("vTrain", None, 0.10),
        ("MLPerf", None, 0.12),
        ("MosaicML", None, 0.15),
        ("Megatron-Bridge", False, 0.15),
        ("Megatron-Bridge", True, 0.20),
    ],
)
def test_the_mean_absolute_error_of_a_source_meets_its_bar(source: str, moe: bool | None, bar: float) -> None:
    assert mean_error(source, moe=moe) <= bar


def test_the_175b_runs_of_vtrain_are_within_five_percent() -> None:
    errors = [abs(c.error) for c in COMPARISONS if "vTrain" in c.source and "GPT 175B" in c.group]
    assert mean(errors) <= 0.05


def test_the_175b_configurations_of_vtrain_are_ranked() -> None:
    ranked = {g.group[1]: g for g in rankings(COMPARISONS) if "vTrain" in g.group[0]}
    assert ranked["GPT 175B"].spearman >= 0.85
    assert ranked["GPT 175B"].regret <= 0.01


def test_intervals_hold_most_measurements_but_not_all() -> None:
    covered = mean(1.0 if c.covered else 0.0 for c in COMPARISONS)
    assert 0.80 <= covered <= 0.95


def test_a_row_is_read_with_the_defaults_it_names() -> None:
    run = BY_ID["vtrain_m027"]
    assert run.plan.workload.framework is Framework.DEEPSPEED
    assert run.plan.workload.attention is AttentionKernel.UNFUSED
    assert run.plan.system.scale_out_bytes_per_s == 12.5e9
    assert run.plan.layout.recompute[0] == Recompute.FULL
    bridge = BY_ID["mb26.08_DeepSeekV3_DGX-GB300_256_mxfp8_4096_4096"]
    assert bridge.plan.workload.precision is Precision.MXFP8
    assert bridge.plan.system.domain_size == 72
    assumed = {a.name for a in bridge.plan.assumptions}
    assert {"recompute", "scale_out_gb_s", "domain_size"} <= assumed


@pytest.mark.parametrize(
    ("name", "part"),
    [
        ("A100", "nvidia-a100-sxm4-80gb"),
        ("NVIDIA H100 SXM5 80GB", "nvidia-h100-sxm5-80gb"),
        ("H100-SXM", "nvidia-h100-sxm5-80gb"),
        ("NVIDIA H100 80GB HBM3", "nvidia-h100-sxm5-80gb"),
        ("DGX-H100", "nvidia-h100-sxm5-80gb"),
        ("DGX A100_40GB", "nvidia-a100-sxm4-40gb"),
        ("DGX-GB200", "nvidia-gb200"),
        ("GB300 NVL72", "nvidia-gb300"),
        ("H100 NVL", "nvidia-h100-nvl-94gb"),
        ("amd-mi300x", "amd-mi300x"),
        ("Ascend 910C", "huawei-ascend-910c"),
        ("H100 PCIe", "nvidia-h100-pcie-80gb"),
        ("Intel Gaudi 3", "intel-gaudi3"),
    ],
)
def test_cards_are_found_by_published_names(name: str, part: str) -> None:
    found = card_named(name)
    assert found is not None and found.id == part


@pytest.mark.parametrize("name", ["TPU v4", "Ascend 910B", "V100-16GB", "NVIDIA", "DGX", "80GB", "2", ""])
def test_a_name_of_no_card_or_of_several_is_none(name: str) -> None:
    assert card_named(name) is None


def test_an_unknown_card_is_named() -> None:
    run = read_run(ROWS[0] | {"gpu": "TPU v4"})
    assert isinstance(run, UnusableRun) and run.reasons == ("gpu TPU v4 is not in the catalogue",)


@pytest.mark.parametrize(
    ("cell", "text", "reason"),
    [
        ("gpus", "many", "gpus must be a whole number from 1 to 1000000000, not 'many'"),
        ("tp", "0", "tp must be a whole number from 1 to 1000000000, not '0'"),
        ("layers", "24.5", "layers must be a whole number from 1 to 10000, not '24.5'"),
        ("recompute", "some", "recompute must be one of none, selective, full, not 'some'"),
        ("zero_distopt", "zero7", "zero_distopt names no ZeRO stage: 'zero7'"),
        ("iteration_time_s", "nan", "iteration_time_s must lie between 1e-09 and 1e+12, not 'nan'"),
        ("tflops_per_gpu", "-3", "tflops_per_gpu must lie between 1e-09 and 1e+12, not '-3'"),
        ("precision", "fp8", "nvidia-a100-sxm4-80gb has no dense peak for fp8"),
    ],
)
def test_a_cell_that_cannot_be_read_is_named(cell: str, text: str, reason: str) -> None:
    run = read_run(ROWS[0] | {cell: text})
    assert isinstance(run, UnusableRun) and run.reasons == (reason,)


def test_a_row_that_changes_the_heads_of_a_known_model_changes_what_hangs_on_them() -> None:
    run = read_run(KORTHIKANTI_175B | {"heads": "128", "kv_heads": ""})
    assert isinstance(run, PublishedRun)
    model = run.plan.model
    assert (model.heads, model.kv_heads, model.head_dim) == (128, 128, 96)


def test_grouped_heads_that_come_from_the_catalogue_are_named() -> None:
    empty = dict.fromkeys(("layers", "hidden", "ffn_hidden", "heads", "kv_heads"), "")
    run = read_run(KORTHIKANTI_175B | {"model": "Llama 3.1 70B"} | empty)
    assert isinstance(run, PublishedRun) and run.plan.model.kv_heads == 8
    assumed = next(a for a in run.plan.assumptions if a.name == "model")
    assert "kv_heads" in assumed.source


def test_latent_attention_of_a_model_that_the_catalogue_does_not_hold_is_not_guessed() -> None:
    run = read_run(ROWS[0] | {"model": "of my own", "kv_heads": "MLA"})
    assert isinstance(run, UnusableRun) and run.reasons == ("missing: MLA ranks of the model",)


def test_numbers_and_words_are_read_as_tables_write_them() -> None:
    plain, written = BY_ID[ROWS[0]["id"]], read_run(ROWS[0] | {"gpus": "32.0", "recompute": " Full"})
    assert isinstance(written, PublishedRun) and compare(written) == compare(plain)


def test_a_row_may_lack_columns_that_have_defaults() -> None:
    needed = {name: text for name, text in ROWS[0].items() if name in (*NEEDED, "layers", "hidden", "heads")}
    run = read_run(needed | {"iteration_time_s": "3.5"})
    assert isinstance(run, PublishedRun)
    assert {"micro_batch", "recompute", "vocab", "precision"} <= {a.name for a in run.plan.assumptions}


def test_rows_without_inputs_are_named_and_not_guessed() -> None:
    unusable = [run for run in map(read_run, ROWS) if isinstance(run, UnusableRun)]
    _, summary = report([], unusable)
    assert summary["skipped_count"] == len(ROWS) - len(RUNS)
    assert "kort_530B_2240_full" in summary["skipped"]["missing: tp, pp, global_batch"]


def test_hardware_tflops_give_the_published_time() -> None:
    row = dict(next(r for r in ROWS if r["id"] == "sc21_t1_175B" or r["id"] == "sc21_t1_145B"))
    derived = float(row["iteration_time_derived_s"])
    row["iteration_time_derived_s"] = ""
    run = read_run(row)
    assert isinstance(run, PublishedRun)
    assert run.measured_s == pytest.approx(derived, rel=0.005)


def test_tokens_per_second_give_the_published_time() -> None:
    row = dict(next(r for r in ROWS if r["id"].startswith("mb26.06_LLAMA3.1_405B_DGX-GB300_256_fp8")))
    derived = float(row["iteration_time_derived_s"])
    row["iteration_time_derived_s"] = ""
    run = read_run(row)
    assert isinstance(run, PublishedRun)
    assert run.measured_s == pytest.approx(derived, rel=1e-3)


def test_spearman_of_known_rankings() -> None:
    assert spearman([1, 2, 3, 4], [10, 20, 30, 40]) == pytest.approx(1)
    assert spearman([1, 2, 3, 4], [4, 3, 2, 1]) == pytest.approx(-1)
    assert spearman([1, 2, 3], [5, 5, 5]) == 0
    assert spearman([1, 2, 2, 3], [1, 2, 3, 4]) == pytest.approx(0.9487, rel=1e-4)


def test_regret_is_what_the_chosen_configuration_loses() -> None:
    def row(predicted: float, measured: float) -> Comparison:
        return Comparison(
            id="x",
            source="s",
            measured_s=measured,
            predicted_s=predicted,
            low_s=predicted * 0.9,
            high_s=predicted * 1.1,
            group=("g",),
            assumptions=(),
        )

    rows = [row(1.0, 1.1), row(1.2, 1.0), row(2.0, 2.0)]
    assert rankings(rows)[0].regret == pytest.approx(0.1)
    assert summarise(rows)[0].coverage == pytest.approx(2 / 3)
