"""The matrix of nvidia-smi topo -m: squeezed, headless, cut, mirrored wrongly, and what is no such matrix."""

from __future__ import annotations

import html
from pathlib import Path

import pytest

from apps.evidence.engine.parsers import nvidia_smi_topo
from apps.evidence.engine.reading import Reading, Unreadable
from apps.evidence.engine.registry import recognise
from apps.evidence.engine.source import Source
from tests.apps.evidence.engine.parsers.readings import codes

CORPUS = Path(__file__).parents[4] / "corpus" / "topo-m"
H200 = (CORPUS / "h200x8-10nic-tabs-ansi.txt").read_text()
V100 = (CORPUS / "v100x8-hybrid-mesh-18nic.txt").read_text()
PAIRS = (CORPUS / "h100nvlx4-nv12-pairs.txt").read_text()

PEERS = "\n".join(
    (
        " \tGPU0\tGPU1",
        " GPU0\tX\tOK",
        " GPU1\tOK\tX",
        "",
        "Legend:",
        "",
        "  X    = Self",
        "  OK   = Status Ok",
    )
)


def read(text: str) -> Reading:
    return nvidia_smi_topo.read(Source.of_text(text))


def test_the_whole_matrix_is_given() -> None:
    matrix = read(PAIRS).facts["matrix"]
    assert matrix == {
        "GPU0": {"GPU0": "X", "GPU1": "NV12", "GPU2": "PHB", "GPU3": "PHB"},
        "GPU1": {"GPU0": "NV12", "GPU1": "X", "GPU2": "PHB", "GPU3": "PHB"},
        "GPU2": {"GPU0": "PHB", "GPU1": "PHB", "GPU2": "X", "GPU3": "NV12"},
        "GPU3": {"GPU0": "PHB", "GPU1": "PHB", "GPU2": "NV12", "GPU3": "X"},
    }


def test_labels_that_touch_each_other_are_told_apart() -> None:
    assert read(H200.replace("NIC8\tNIC9", "NIC8NIC9")).facts == read(H200).facts
    touching = read(V100.replace("mlx5_15 mlx5_16", "mlx5_15mlx5_16"))
    assert touching.facts == read(V100).facts
    assert codes(touching) == ["header_not_understood"]


def test_a_lost_header_is_replaced_by_the_labels_of_the_rows() -> None:
    whole = read(PAIRS).facts
    reading = read(PAIRS.split("\n", 1)[1])
    assert reading.facts["gpu_gpu_links"] == whole["gpu_gpu_links"]
    assert reading.facts["matrix"] == whole["matrix"]
    assert reading.facts["cpu_affinity"] is None
    assert "header_not_understood" in codes(reading)


def test_a_cell_that_differs_from_its_mirror_is_named_with_its_line() -> None:
    reading = read(PAIRS.replace("GPU1\tNV12", "GPU1\tNV6"))
    assert [(warning.code, warning.line) for warning in reading.warnings] == [("asymmetric", 2)]
    assert reading.facts["gpu_gpu_links"] == {"NV12": 3, "NV6": 1, "PHB": 8}


def test_a_row_with_too_few_words_is_not_read_into_the_wrong_columns() -> None:
    reading = read(PAIRS.replace("GPU2\tPHB\tPHB", "GPU2\tPHB"))
    assert reading.facts["matrix"]["GPU2"] == {}
    assert codes(reading) == ["row_not_understood"]


def test_an_empty_affinity_cell_is_unknown_and_its_neighbours_stay_in_place() -> None:
    reading = read(PAIRS.replace("GPU0\t X \tNV12\tPHB\tPHB\t0-253\t0-1", "GPU0\t X \tNV12\tPHB\tPHB\t\t0-1"))
    facts = reading.facts
    assert (facts["cpu_affinity"]["GPU0"], facts["numa_affinity"]["GPU0"]) == (None, "0-1")
    assert codes(reading) == []
    blanks = read(PAIRS.replace("GPU0\t X \tNV12\tPHB\tPHB\t0-253\t0-1", "GPU0 X NV12 PHB PHB 0-1"))
    assert blanks.facts["cpu_affinity"]["GPU0"] is None
    assert codes(blanks) == ["affinity_not_understood"]


@pytest.mark.parametrize("rows", range(2, 18))
def test_a_cut_matrix_is_said_to_be_cut(rows: int) -> None:
    assert "legend_missing" in codes(read("\n".join(H200.split("\n")[:rows])))


def test_nics_without_a_legend_keep_their_labels() -> None:
    reading = read(H200.split("NIC Legend:")[0])
    assert reading.facts["nic_names"][:2] == ["NIC0", "NIC1"]
    assert codes(reading) == ["nic_names_missing"]


def test_link_words_of_other_vendors_are_named_and_kept() -> None:
    reading = read(PAIRS.replace("NV12", "MX"))
    assert reading.facts["gpu_gpu_links"] == {"MX": 4, "PHB": 8}
    assert codes(reading) == ["unknown_link_word"]


def test_the_matrix_of_peer_access_is_refused() -> None:
    with pytest.raises(Unreadable) as refused:
        read(PEERS)
    assert refused.value.code == "peer_matrix"


def test_a_matrix_inside_a_job_log_with_prefixes_fences_and_entities_is_found() -> None:
    log = "\n".join(f"2025-01-21T04:41:44Z {task}: {line}" for line in H200.splitlines() for task in (0, 1))
    source = Source.of_text(html.escape(f"### Topology\n```text\nsome noise\n{log}\n```\n"))
    assert recognise(source) == "nvidia_smi_topo"
    reading = nvidia_smi_topo.read(source)
    assert reading.facts == read(H200).facts
    assert codes(reading) == ["several_processes"]


def test_a_second_matrix_is_left_out_and_named() -> None:
    reading = read(PAIRS + H200)
    assert reading.facts == read(PAIRS).facts
    assert codes(reading) == ["several_matrices"]
