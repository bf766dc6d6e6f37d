"""What DCGM discovers, and which GPUs the switches let reach each other."""

from __future__ import annotations

import pytest

from apps.environments.engine.facts import component_facts
from apps.evidence.engine.reading import Unreadable
from tests.apps.evidence.engine.parsers.readings import codes, read

RULE = "+--------+--------------------------------------+\n"
GPU = (
    "| {0}      | Name: NVIDIA H100 80GB HBM3             |\n"
    "|        | PCI Bus ID: 00000000:{0}B:00.0          |\n"
    "|        | Device UUID: GPU-0000000{0}-aaaa-bbbb     |\n" + RULE
)
DISCOVERY = (
    "2 GPUs found.\n"
    + RULE
    + "| GPU ID | Device Information                   |\n"
    + RULE
    + GPU.format(0)
    + GPU.format(1)
    + "2 NvSwitches found.\n+-----------+\n| Switch ID |\n+-----------+\n| 11        |\n| 12        |\n+-----------+\n"
    + "0 ConnectX found.\n+----------+\n| ConnectX |\n+----------+\n+----------+\n"
)
AUDIT = (
    "\nGPU Reachability Matrix\nGPU Physical Id      1  2  3  4\n\t\t  1 18 18  0  0\n\t\t  2 18 18  0  0\n"
    "\t\t  3  0  0  X 18\n\t\t  4  0  0 17  X\n"
)


def test_devices_that_dcgm_sees_are_listed_and_counted() -> None:
    reading = read(DISCOVERY)
    assert (reading.kind, codes(reading)) == ("dcgmi_discovery", [])
    assert {
        key: reading.facts[key] for key in ("gpus_found", "nvswitches_found", "nvswitches", "models")
    } == {
        "gpus_found": 2,
        "nvswitches_found": 2,
        "nvswitches": [11, 12],
        "models": {"NVIDIA H100 80GB HBM3": 2},
    }
    assert reading.facts["devices"][1]["uuid"] == "GPU-00000001-aaaa-bbbb"
    assert {(fact.component, fact.value) for fact in component_facts(reading)} == {
        ("gpu_model", "NVIDIA H100 80GB HBM3"),
        ("gpu_count", "2"),
    }


@pytest.mark.parametrize("text", ["1 GPU found (Active).\n", "1 GPU found.\n"])
def test_the_head_of_a_newer_dcgm_reads_too(text: str) -> None:
    reading = read(text + RULE + "| GPU ID | Device Information                   |\n" + RULE + GPU.format(0))
    assert (reading.facts["gpus_found"], codes(reading)) == (1, [])


def test_a_list_that_was_cut_is_warned_of_and_counts_nothing() -> None:
    reading = read(DISCOVERY[: DISCOVERY.index("| 1 ")])
    assert codes(reading) == ["gpus_missing"]
    assert not reading.lists_all


def test_the_matrix_of_the_switches_says_who_reaches_whom() -> None:
    reading = read(AUDIT)
    assert (reading.kind, codes(reading)) == ("nvswitch_audit", [])
    assert reading.facts["links"]["3"] == {"1": 0, "2": 0, "3": None, "4": 18}
    assert reading.facts["pairs_unreachable"] == [[1, 3], [1, 4], [2, 3], [2, 4]]
    assert (reading.facts["pairs_unequal"], reading.facts["most_links"]) == ([[3, 4]], 18)


def test_rows_that_are_missing_or_do_not_fit_are_warned_of() -> None:
    assert codes(read(AUDIT.replace("\t\t  4  0  0 17  X\n", ""))) == ["cut_off"]
    assert codes(read(AUDIT.replace("0 17  X", "0 17"))) == ["line_not_understood", "cut_off"]
    with pytest.raises(Unreadable):
        read("GPU Reachability Matrix\nnothing\n")


@pytest.mark.parametrize(
    "text",
    ["No devices were found\n", "$ nvidia-smi\nNo devices were found\n", "0: No devices were found\r\n"],
)
def test_no_devices_is_an_answer_of_a_driver_without_gpus(text: str) -> None:
    reading = read(text)
    assert (reading.kind, reading.facts["attached_gpus"], codes(reading)) == (
        "nvidia_smi_q",
        0,
        ["no_devices"],
    )
    assert [(fact.component, fact.value) for fact in component_facts(reading)] == [("gpu_count", "0")]


def test_prose_about_it_is_none() -> None:
    with pytest.raises(Unreadable):
        read("The tool said that\nNo devices were found\nand so we\nlooked at\nthe board\nagain\n")


XID = "NVRM: Xid (PCI:0000:9b:00): 79, pid=1, name=a, GPU has fallen off the bus.\n"
WARN = "n1:7:9 [0] transport/net.cc:12 NCCL WARN Call to connect failed\n"


@pytest.mark.parametrize(
    ("text", "count"),
    [(XID, lambda facts: facts["xid_counts"]["79"]), (WARN, lambda facts: facts["warnings"])],
)
def test_equal_lines_without_a_time_are_counted_and_said(text, count) -> None:  # type: ignore[no-untyped-def]
    once, twice = read(text), read(text * 2)
    assert (count(once.facts), count(twice.facts)) == (1, 2)
    assert "lines_alike" not in codes(once)
    assert [(one.code, one.line) for one in twice.warnings if one.code == "lines_alike"] == [
        ("lines_alike", 2)
    ]
