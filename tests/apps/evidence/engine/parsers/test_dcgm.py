"""DCGM: samples in the Prometheus format, and diagnostics as tables and JSON."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from apps.evidence.engine import registry
from apps.evidence.engine.parsers import dcgm_metrics, dcgmi_diag
from apps.evidence.engine.reading import Reading, Unreadable
from apps.evidence.engine.source import Source

CORPUS = Path(__file__).parents[4] / "corpus"


def metrics(text: str) -> Reading:
    return dcgm_metrics.read(Source.of_text(text))


def diag(text: str) -> Reading:
    return dcgmi_diag.read(Source.of_text(text))


def corpus(name: str) -> Reading:
    return registry.read(Source.of_bytes((CORPUS / name).read_bytes()))


@pytest.mark.parametrize(
    "blank",
    [
        "9223372036854775792", "9223372036854775793", "9223372036854775794", "9223372036854775795",
        "9.223372036854775794e+18", "2147483632", "2147483634", "140737488355328", "140737488355330", "NaN", "+Inf",
    ],
)  # fmt: skip
def test_blank_values_are_unknown(blank: str) -> None:
    text = f'DCGM_FI_DEV_MEMORY_TEMP{{gpu="0",UUID="GPU-a"}} {blank}\n'
    assert metrics(text).facts["values"] == {"DCGM_FI_DEV_MEMORY_TEMP": [None]}


def test_samples_of_a_mig_instance_are_kept_apart_from_those_of_the_gpu() -> None:
    (gpu,) = corpus("dcgm-metrics/health-fields.prom").facts["by_gpu"]
    assert [
        (s["value"], s["mig_instance"]) for s in gpu["samples"] if s["metric"] == "DCGM_FI_DEV_GPU_UTIL"
    ] == [
        (80.0, None),
        (60.0, {"instance": "2", "profile": "1g.10gb"}),
    ]


def test_labels_that_tell_more_than_the_gpu_are_kept() -> None:
    (gpu,) = corpus("dcgm-metrics/health-fields.prom").facts["by_gpu"]
    assert [s["labels"] for s in gpu["samples"] if s["labels"]] == [{"nvlink": "1"}]


def test_label_values_may_hold_commas_braces_and_quotes() -> None:
    text = 'DCGM_FI_DEV_POWER_USAGE{gpu="0",UUID="GPU-a",err_msg="a, {b} \\"c\\" = d"} 113.6 1700000000000\n'
    facts = metrics(text).facts
    assert facts["by_gpu"][0]["samples"][0]["labels"] == {"err_msg": 'a, {b} "c" = d'}
    assert facts["values"] == {"DCGM_FI_DEV_POWER_USAGE": [113.6]}


def test_one_gpu_number_on_two_hosts_is_two_gpus() -> None:
    text = "".join(
        f'DCGM_FI_DEV_GPU_TEMP{{gpu="0",Hostname="{host}"}} 3{i}\n' for i, host in enumerate(("n1", "n2"))
    )
    facts = metrics(text).facts
    assert facts["gpus"] == 2
    assert facts["gpu_temp_c"] == {"n1/0": 30.0, "n2/0": 31.0}


@pytest.mark.parametrize(
    "damage", ['DCGM_FI_DEV_GPU_TEMP{gpu="0" 30', 'DCGM_FI_DEV_GPU_TEMP{gpu="0"} thirty']
)
def test_a_damaged_sample_is_said_with_its_line(damage: str) -> None:
    reading = metrics(f'DCGM_FI_DEV_GPU_TEMP{{gpu="1"}} 31\n{damage}\n')
    assert [(w.code, w.line) for w in reading.warnings] == [("sample_not_understood", 2)]
    assert reading.facts["samples"] == 1


def test_a_series_that_is_there_twice_is_warned_of() -> None:
    reading = metrics('DCGM_FI_DEV_GPU_TEMP{gpu="1"} 31\n' * 2)
    assert [(w.code, w.line) for w in reading.warnings] == [("sample_repeated", 2)]


def test_metrics_of_others_alone_are_refused() -> None:
    with pytest.raises(Unreadable):
        metrics('go_gc_duration_seconds{quantile="0.5"} 0.001\n')


TABLE_3 = """\
+---------------------------+------------------------------------------------+
| Diagnostic                | Result                                         |
+===========================+================================================+
|-----  Metadata  ----------+------------------------------------------------|
| DCGM Version              | 3.3.5                                          |
| Driver Version Detected   | 550.54.15                                      |
| GPU Device IDs Detected   | 20b5,20b5                                      |
+-----  Hardware  ----------+------------------------------------------------+
| GPU Memory                | Pass - GPUs: 1, 2                              |
|                           | Fail - GPU: 0                                  |
| Warning                   | GPU 0 was too hot for a total of 13.3 second   |
|                           | s since the test began.                        |
| Diagnostic                | Not Run                                        |
+---------------------------+------------------------------------------------+
"""
TABLE_4 = """\
+---------------------------+------------------------------------------------+
| Diagnostic                | Result                                         |
+===========================+================================================+
|-----  Metadata  ----------+------------------------------------------------|
| DCGM Version              | 4.2.3                                          |
| Driver Version Detected   | 570.148.08                                     |
| GPU Device IDs Detected   | 26b9, 26b9                                     |
|-----  Deployment  --------+------------------------------------------------|
| software                  | Pass                                           |
|                           | GPU0: Pass                                     |
|                           | GPU1: Pass                                     |
+-----  Integration  -------+------------------------------------------------+
| pcie                      | Fail                                           |
| Warning                   | There was an error.                            |
|                           | GPU0: Fail                                     |
|                           | CPU0: Skip                                     |
+---------------------------+------------------------------------------------+
"""


def results(reading: Reading) -> list[tuple[Any, ...]]:
    return [
        (r["category"], r["test"], r["status"], r["entities"], r["messages"])
        for detail in reading.facts["details"]
        for r in detail["results"]
    ]


def test_a_table_with_results_of_single_gpus_and_a_wrapped_message() -> None:
    reading = diag(TABLE_3)
    assert results(reading) == [
        ("Hardware", "GPU Memory", "Pass", ["1", "2"], []),
        (
            "Hardware",
            "GPU Memory",
            "Fail",
            ["0"],
            ["GPU 0 was too hot for a total of 13.3 seconds since the test began."],
        ),
        ("Hardware", "Diagnostic", "Not Run", [], []),
    ]
    assert reading.facts["runs"][0]["not_passed"] == {
        "GPU Memory": ["Pass", "Fail"],
        "Diagnostic": ["Not Run"],
    }


RUNS = (CORPUS / "dcgmi-diag/h100x8-dcgm3.2-two-nodes-pass.txt").read_text()
FIRST_RUN = RUNS[: RUNS.index("Successfully ran", 1)]
CUTS = range(6, FIRST_RUN.count("\n"))  # from the first row that says something to the last one


def is_cut(reading: Reading) -> list[bool]:
    return [detail["is_cut"] for detail in reading.facts["details"]]


@pytest.mark.parametrize("lines", CUTS)
def test_a_table_without_its_last_line_is_cut_and_not_passed(lines: int) -> None:
    rows = FIRST_RUN.splitlines()[:lines]
    reading = diag("\n".join(rows) + "\n")
    assert is_cut(reading) == [True]
    assert [(warning.code, warning.line, warning.text) for warning in reading.warnings] == [
        ("cut_off", lines, rows[-1])
    ]


@pytest.mark.parametrize("lines", [9, 20, 27])
def test_a_cut_run_is_named_though_a_whole_one_follows(lines: int) -> None:
    reading = diag("".join(FIRST_RUN.splitlines(keepends=True)[:lines]) + FIRST_RUN)
    assert is_cut(reading) == [True, False]
    assert [warning.code for warning in reading.warnings] == ["several_runs", "cut_off"]


def test_a_run_of_which_only_the_heading_is_left_is_not_passed_over() -> None:
    reading = diag(FIRST_RUN + "".join(FIRST_RUN.splitlines(keepends=True)[:3]))
    assert is_cut(reading) == [False, True]


@pytest.mark.parametrize("text", [FIRST_RUN, RUNS, TABLE_3, TABLE_4])
def test_whole_tables_are_not_cut(text: str) -> None:
    reading = diag(text)
    assert not any(is_cut(reading))
    assert "cut_off" not in [warning.code for warning in reading.warnings]


def test_rows_of_entities_replace_the_summary_of_their_test() -> None:
    reading = diag(TABLE_4)
    assert results(reading) == [
        ("Deployment", "software", "Pass", ["0"], []),
        ("Deployment", "software", "Pass", ["1"], []),
        ("Integration", "pcie", "Fail", ["0"], ["There was an error."]),
        ("Integration", "pcie", "Skip", ["CPU0"], []),
    ]
    assert reading.facts["runs"][0]["device_ids"] == ["26b9"]


def test_messages_beneath_the_rows_of_entities_go_to_the_entity_that_they_name() -> None:
    warnings = """\
| Warning: GPU0             | Error using CUDA API cudaMalloc in a ring of 16|
|                           |  buffers                                       |
| Info: CPU0                | No CPU to test                                 |
"""
    end = TABLE_4.rindex("\n+-----") + 1
    reading = diag(TABLE_4[:end] + warnings + TABLE_4[end:])
    assert results(reading)[2:] == [
        (
            "Integration",
            "pcie",
            "Fail",
            ["0"],
            ["There was an error.", "Error using CUDA API cudaMalloc in a ring of 16 buffers"],
        ),
        ("Integration", "pcie", "Skip", ["CPU0"], ["No CPU to test"]),
    ]
    assert not reading.warnings


def test_a_result_that_is_no_status_is_said_with_its_line() -> None:
    reading = diag(TABLE_3.replace("Not Run", "Perhaps"))
    assert [(w.code, w.line) for w in reading.warnings] == [("row_not_understood", 13)]


def document_4(**more: Any) -> dict[str, Any]:
    entity = {"entity_group": "GPU", "entity_group_id": 1, "entity_id": 0, "status": "Fail"}
    warning = {"error_category": 8, "error_id": 29, "warning": "Persistence mode is off."}
    test = {
        "name": "software",
        "results": [{**entity, "warnings": [warning]}, {**entity, "entity_id": 1, "status": "Pass"}],
        "test_summary": {"status": "Fail"},
    }
    return {
        "DCGM Diagnostic": {"test_categories": [{"category": "Deployment", "tests": [test]}], **more},
        "metadata": {"version": "4.2.3", "Driver Version Detected": "580.82.09"},
    }


def test_json_of_version_4() -> None:
    reading = registry.read(Source.of_text(json.dumps(document_4(), indent=1)))
    facts = reading.facts
    assert (facts["dcgm_version"], facts["driver_version"], facts["gpu_ids"]) == (
        "4.2.3",
        "580.82.09",
        ["0", "1"],
    )
    assert facts["not_passed"] == {"software": ["Fail", "Pass"]}
    assert facts["results"][0]["messages"] == ["Persistence mode is off."]


def test_entities_of_other_groups_are_no_gpus() -> None:
    document = document_4()
    cpu = {"entity_group": "CPU", "entity_group_id": 7, "entity_id": 0, "status": "Skip"}
    document["DCGM Diagnostic"]["test_categories"][0]["tests"][0]["results"].append(cpu)
    facts = registry.read(Source.of_text(json.dumps(document))).facts
    assert facts["gpu_ids"] == ["0", "1"]
    assert [result["entities"] for result in facts["results"]] == [["0"], ["1"], ["CPU0"]]


def test_text_around_the_json_is_passed_over() -> None:
    text = f"rc=0 {{}}\nStarting\n{json.dumps(document_4(), indent=2)}\nDone.\n"
    assert diag(text).facts["result_counts"] == {"fail": 1, "pass": 1}


def test_several_documents_are_several_runs() -> None:
    text = "\n".join([json.dumps(document_4())] * 2)
    reading = diag(text)
    assert len(reading.facts["runs"]) == 2
    assert [w.code for w in reading.warnings] == ["several_runs"]


def test_a_diagnostic_that_could_not_run_is_said() -> None:
    reading = diag(json.dumps(document_4(runtime_error="no GPUs")))
    assert [(w.code, w.text) for w in reading.warnings] == [("runtime_error", "no GPUs")]


def test_cut_json_is_refused_with_its_line() -> None:
    with pytest.raises(Unreadable, match="line 2"):
        diag("Starting\n" + json.dumps(document_4())[:120])


def test_skip_is_not_pass() -> None:
    facts = corpus("dcgmi-diag/per-gpu-4gpus.json").facts
    assert facts["not_passed"]["targeted_power"] == ["SKIP"] * 4
