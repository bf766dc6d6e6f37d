"""`nvidia-smi` without options."""

from __future__ import annotations

import pytest

from apps.environments.engine.facts import component_facts
from apps.evidence.engine.reading import Unreadable
from tests.apps.evidence.engine.parsers.readings import codes, read

WITH_MIG = """\
Mon Nov  3 09:12:44 2025
+-----------------------------------------------------------------------------------------+
| NVIDIA-SMI 570.86.15              Driver Version: 570.86.15      CUDA Version: 12.8     |
|-----------------------------------------+------------------------+----------------------+
| GPU  Name                 Persistence-M | Bus-Id          Disp.A | Volatile Uncorr. ECC |
| Fan  Temp   Perf          Pwr:Usage/Cap |           Memory-Usage | GPU-Util  Compute M. |
|                                         |                        |               MIG M. |
|=========================================+========================+======================|
|   0  NVIDIA H100 80GB HBM3          On  |   00000000:19:00.0 Off |                    0 |
| N/A   28C    P0             72W /  700W |       1MiB /  81559MiB |      0%      Default |
|                                         |                        |             Disabled |
+-----------------------------------------+------------------------+----------------------+
|   1  NVIDIA H100 80GB HBM3          On  |   00000000:3B:00.0 Off |                    2 |
| N/A   31C    P0            409W /  700W |   74331MiB /  81559MiB |     98%      Default |
|                                         |                        |              Enabled |
+-----------------------------------------+------------------------+----------------------+

+-----------------------------------------------------------------------------------------+
| Processes:                                                                              |
|  GPU   GI   CI              PID   Type   Process name                        GPU Memory |
|        ID   ID                                                               Usage      |
|=========================================================================================|
|    1   N/A  N/A          419031      C   python3                               74320MiB |
+-----------------------------------------------------------------------------------------+
"""
WITHOUT_MIG = """\
+-----------------------------------------------------------------------------+
| NVIDIA-SMI 418.126.02   Driver Version: 418.126.02   CUDA Version: 10.1     |
|-------------------------------+----------------------+----------------------+
| GPU  Name        Persistence-M| Bus-Id        Disp.A | Volatile Uncorr. ECC |
| Fan  Temp  Perf  Pwr:Usage/Cap|         Memory-Usage | GPU-Util  Compute M. |
|===============================+======================+======================|
|   0  Tesla V100-SXM2...  Off  | 00000000:00:1E.0 Off |                  N/A |
| N/A   44C    P0    38W / 300W |      0MiB / 16130MiB |      3%      Default |
+-------------------------------+----------------------+----------------------+

+-----------------------------------------------------------------------------+
| Processes:                                                       GPU Memory |
|  GPU       PID   Type   Process name                             Usage      |
|=============================================================================|
|  No running processes found                                                 |
+-----------------------------------------------------------------------------+
"""


def test_driver_cards_and_modes_are_read_as_from_the_long_report():
    found = read(WITH_MIG)
    assert (found.kind, codes(found)) == ("nvidia_smi_table", [])
    assert (found.facts["driver_version"], found.facts["cuda_version"]) == ("570.86.15", "12.8")
    assert found.facts["models"] == {"NVIDIA H100 80GB HBM3": 2}
    assert (found.facts["fb_total"], found.facts["persistence_mode"]) == (["81559 MiB"], ["Enabled"])
    assert found.facts["mig_mode_current"] == ["Disabled", "Enabled"]
    second = found.facts["gpus"][1]
    assert (second["bus_id"], second["temp_c"], second["power_w"]) == ("00000000:3B:00.0", 31.0, 409.0)
    assert (second["memory_used_mib"], second["uncorrectable_ecc"]) == (74331, 2)


def test_versions_of_the_node_are_those_of_the_long_report():
    said = {(one.component, one.value, one.count) for one in component_facts(read(WITH_MIG))}
    assert {("gpu_driver", "570.86.15", None), ("gpu_count", "2", None)} <= said
    assert ("gpu_model", "NVIDIA H100 80GB HBM3", 2) in said


def test_a_name_that_was_cut_is_no_model():
    found = read(WITHOUT_MIG)
    assert codes(found) == ["name_cut"]
    assert (found.facts["models"], found.facts["mig_mode_current"]) == ({}, [])
    assert (found.facts["driver_version"], found.facts["fb_total"]) == ("418.126.02", ["16130 MiB"])
    assert found.facts["gpus"][0]["uncorrectable_ecc"] is None


@pytest.mark.parametrize(
    "kept", [WITH_MIG.index("|   1  NVIDIA"), WITH_MIG.index("| N/A   31C"), WITH_MIG.index("\n\n+")]
)
def test_a_cut_table_counts_nothing(kept):
    found = read(WITH_MIG[:kept])
    assert "no_end" in codes(found)
    assert "gpu_count" not in {one.component for one in component_facts(found)}


def test_a_card_that_does_not_answer_is_said():
    found = read(
        WITH_MIG.replace(
            "| N/A   31C    P0            409W /  700W |", "| ERR!  ERR! ERR!          ERR! / ERR!  |"
        )
    )
    assert set(codes(found)) == {"value_not_understood"}
    assert found.facts["gpus"][1]["temp_c"] is None


def test_a_card_whose_row_of_mig_is_lost_is_said():
    lines = WITH_MIG.splitlines(keepends=True)
    assert codes(read("".join(lines[:10] + lines[11:]))) == ["value_not_understood"]


def test_a_table_in_which_no_gpu_stands_is_refused():
    with pytest.raises(Unreadable):
        read(WITHOUT_MIG[: WITHOUT_MIG.index("|   0  Tesla")], kind="nvidia_smi_table")
