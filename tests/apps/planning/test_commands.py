"""The plan commands: what they print, and how they refuse bad input."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from apps.planning.engine.coefficients import DATA
from tests.apps.planning.engine.plans import GPT3_175B, changed


def run(command: str, path: Path) -> str:
    out = io.StringIO()
    call_command(command, str(path), stdout=out)
    return out.getvalue()


def written(tmp_path: Path, document: Any) -> Path:
    path = tmp_path / "plan.json"
    path.write_text(document if isinstance(document, str) else json.dumps(document), encoding="utf-8")
    return path


def test_plan_estimate_prints_memory_time_and_assumptions(tmp_path: Path) -> None:
    answer = json.loads(run("plan_estimate", written(tmp_path, GPT3_175B)))
    low, high = answer["iteration_time_low_s"], answer["iteration_time_high_s"]
    assert low < answer["iteration_time_s"] < high
    assert [row["stage"] for row in answer["memory"]["stages"]] == list(range(8))
    time = answer["time"]
    communication = sum(time[f"{name}_s"] for name in ("tp", "cp", "ep", "pp", "dp"))
    assert time["exposed_communication_s"] == pytest.approx(communication)
    parts = time["compute_s"] + time["bubble_s"] + time["optimizer_s"] + time["other_s"] + communication
    assert parts == pytest.approx(answer["iteration_time_s"])
    assert all(set(a) >= {"name", "value", "source"} for a in answer["assumptions"])


@pytest.mark.parametrize(
    ("document", "said"),
    [
        ("{", "not JSON"),
        ("[" * 5000, "not JSON"),
        ("[]", "/: a plan is a JSON object"),
        ({"model": {}}, "/system: "),
        (changed(GPT3_175B, tp=3), "/parallel/dp: "),
        (changed(GPT3_175B, micro_batch=0), "/parallel/micro_batch: "),
        (changed(GPT3_175B, precision="fp12"), "/parallel/precision: "),
        (changed(GPT3_175B, recompute="some"), "/parallel/recompute: "),
        (changed(GPT3_175B, scale_up_gb_s=-1), "/system/scale_up_gb_s: "),
        (changed(GPT3_175B, accelerators=2.5), "/system/accelerators: "),
        (changed(GPT3_175B, precision="fp8"), "/parallel/precision: "),
    ],
)
def test_bad_input_exits_two_with_a_pointer(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], document: Any, said: str
) -> None:
    with pytest.raises(SystemExit) as stopped:
        run("plan_estimate", written(tmp_path, document))
    assert stopped.value.code == 2
    assert said in capsys.readouterr().err


def test_a_missing_file_exits_two(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        run("plan_search", tmp_path / "nothing.json")
    assert stopped.value.code == 2
    assert "nothing.json" in capsys.readouterr().err


def test_unused_keys_are_warned_about(tmp_path: Path) -> None:
    answer = json.loads(run("plan_estimate", written(tmp_path, changed(GPT3_175B, flavour="vanilla"))))
    assert "/parallel/flavour is not used" in [w["message"] for w in answer["warnings"]]


def test_plan_search_prints_counts_and_the_best(tmp_path: Path) -> None:
    document = {
        "model": GPT3_175B["model"],
        "system": GPT3_175B["system"],
        "global_batch": 64,
        "seq_len": 2048,
        "precision": "fp16",
        "top": 3,
    }
    answer = json.loads(run("plan_search", written(tmp_path, document)))
    assert set(answer) == {"search_s", "candidates", "feasible", "rejected", "best"}
    assert answer["candidates"] == answer["feasible"] + sum(answer["rejected"].values())
    times = [found["iteration_time_s"] for found in answer["best"]]
    assert len(times) == 3 and times == sorted(times)
    few = document | {"system": GPT3_175B["system"] | {"accelerators": 8}}
    answer = json.loads(run("plan_search", written(tmp_path, few)))
    assert answer["best"] == [] and answer["nearest"][0]["over_bytes"] > 0
    assert "accelerators" in [remedy["code"] for remedy in answer["remedies"]]


def test_plan_validate_prints_a_line_per_run_and_a_summary(tmp_path: Path) -> None:
    table = DATA.parent / "published_runs.csv"
    with table.open(encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["source"].startswith("Korthikanti")]
    path = tmp_path / "runs.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, fieldnames=list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    *lines, summary = [json.loads(line) for line in run("plan_validate", path).splitlines()]
    assert {"id", "measured_s", "predicted_s", "low_s", "high_s", "error"} <= set(lines[0])
    assert len(lines) == summary["count"] == 6
    assert summary["skipped_count"] == 2
    assert summary["sources"][0]["mean_absolute_error"] <= 0.05


HEAD = "id,source,model,gpu,gpus,tp,pp,seq_len,global_batch,tokens_per_s_gpu"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "id,source,model,gpu,gpus,tp,pp,seq_len\n1,2,3,4,5,6,7,8\n",
            ":1: columns missing: global_batch, iter",
        ),
        (f"id,{HEAD}\n", ":1: columns named twice: id"),
        (f'{HEAD}\na,"b\n', ":2: not CSV: unexpected end of data"),
        (f"{HEAD}\na,{'b' * 200_000}\n", ":2: not CSV: field larger than field limit"),
        ("", ":1: columns missing: id, source"),
    ],
)
def test_plan_validate_refuses_what_is_no_such_table(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, said: str
) -> None:
    path = tmp_path / "runs.csv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(SystemExit) as stopped:
        run("plan_validate", path)
    assert stopped.value.code == 2
    assert said in capsys.readouterr().err


def test_plan_validate_reads_a_table_of_another_source(tmp_path: Path) -> None:
    path = tmp_path / "runs.csv"
    rows = ["a,Lab,llama-3-70b,Ascend 910C,64,8,4,4096,64,300,", ",Lab,Nobody 7B,H100,8,1,1,4096,8,700"]
    rows.append("b,Lab,meta-llama/Llama-3.1-8B,H100,1,024,1,1,4096,8,700")
    path.write_text("\n".join([HEAD.replace(",", ", "), *rows, ""]), encoding="utf-8")
    line, summary = [json.loads(line) for line in run("plan_validate", path).splitlines()]
    assert line["id"] == "a" and line["low_s"] < line["predicted_s"] < line["high_s"]
    assert summary["skipped"] == {
        "missing: layers of the model, hidden of the model, heads of the model": ["line 3"],
        "more cells than columns: a comma inside a cell needs quotes around it": ["b"],
    }
