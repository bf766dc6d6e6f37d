"""nvidia-smi -q as text: other drivers, lost indentation, mixed and cut output."""

from __future__ import annotations

from pathlib import Path

import pytest

from apps.evidence.engine.parsers import nvidia_smi_q
from apps.evidence.engine.reading import Reading, Unreadable
from apps.evidence.engine.source import Source
from tests.apps.evidence.engine.parsers.readings import codes

CORPUS = Path(__file__).parents[4] / "corpus" / "nvidia-smi-q"
H200 = (CORPUS / "h200-mig-590.48.01.txt").read_text()
H100X8 = (CORPUS / "h100x8-535.161.08.txt").read_text()

OLD_DRIVER = """\
==============NVSMI LOG==============

Timestamp                           : Mon Feb  3 10:00:00 2020
Driver Version                      : 440.33.01
CUDA Version                        : 10.2

Attached GPUs                       : 1
GPU 0000:06:00.0
    Product Name                    : Tesla V100-SXM2-32GB
    Serial Number                   : [Not Supported]
    PCI
        GPU Link Info
            PCIe Generation
                Max                 : 3
                Current             : 1
            Link Width
                Max                 : 16x
                Current             : 8x
    Clocks Throttle Reasons
        Idle                        : Not Active
        SW Power Cap                : Active
    FB Memory Usage
        Total                       : 32480 MiB
    Ecc Mode
        Current                     : Enabled
        Pending                     : Disabled
    ECC Errors
        Volatile
            Single Bit
                Device Memory       : 3
                Total               : 4
            Double Bit
                Device Memory       : 0
                CBU                 : N/A
                Total               : [Unknown Error]
        Aggregate
            Double Bit
                Total               : 2
    Retired Pages
        Single Bit ECC              : 0
        Double Bit ECC              : 1
        Pending                     : Yes
    Temperature
        Gpu                         : 41 C
    Power Readings
        Power Draw                  : 55.10 W
        Power Limit                 : 300.00 W
        Enforced Power Limit        : 250.00 W
    Processes                       : None
"""


def read(text: str) -> Reading:
    return nvidia_smi_q.read(Source.of_text(text))


def test_an_old_driver_is_read_by_its_own_names() -> None:
    reading = read(OLD_DRIVER)
    gpu = reading.facts["gpus"][0]
    expected = {
        "bus_id": "0000:06:00.0",
        "serial": None,
        "ecc_mode": "Enabled",
        "ecc_mode_pending": "Disabled",
        "pcie_gen_current": 1,
        "pcie_gen_max": 3,
        "pcie_width_current": 8,
        "pcie_width_max": 16,
        "memory_total_bytes": 32480 * 2**20,
        "ecc_volatile_corrected": 4,
        "ecc_volatile_uncorrected": None,
        "ecc_aggregate_uncorrected": 2,
        "ecc_aggregate_corrected": None,
        "retired_pages_double_bit": 1,
        "retired_pages_pending": True,
        "temperature_c": 41.0,
        "power_w": 55.1,
        "power_limit_w": 250.0,
        "clock_reasons_active": ["sw_power_cap"],
        "fabric_state": None,
    }
    assert {key: gpu[key] for key in expected} == expected
    assert codes(reading) == []


def test_errors_of_several_memories_are_summed_and_an_unknown_one_is_not_zero() -> None:
    broken = H200.replace("DRAM Uncorrectable                         : 0", "DRAM Uncorrectable : N/A", 1)
    assert read(broken).facts["gpus"][0]["ecc_volatile_uncorrected"] is None
    counted = broken.replace(
        "SRAM Uncorrectable Parity                  : 0", "SRAM Uncorrectable Parity : 2", 1
    )
    assert read(counted).facts["gpus"][0]["ecc_volatile_uncorrected"] == 2


def test_mig_devices_do_not_leak_into_their_gpu() -> None:
    gpu = read(H200).facts["gpus"][0]
    assert gpu["memory_total_bytes"] == 143771 * 2**20
    assert [device["gpu_instance_id"] for device in gpu["mig_devices"]] == [2, 2, 3, 9, 10]
    assert gpu["mig_devices"][4]["memory_total_bytes"] == 16384 * 2**20


def test_without_indentation_only_what_is_clear_is_read() -> None:
    whole = read(H200).facts["gpus"][0]
    reading = read("\n".join(line.strip() for line in H200.splitlines()))
    flat = reading.facts["gpus"][0]
    wrong = {
        key: value for key, value in flat.items() if key != "mig_devices" and value not in (whole[key], None)
    }
    assert wrong == {}
    assert (flat["vbios"], flat["pcie_width_max"], flat["fabric_state"]) == (
        "96.00.A5.00.03",
        16,
        "Completed",
    )
    assert codes(reading) == ["indentation_lost"]


def test_tasks_of_srun_are_told_apart() -> None:
    mixed = "\n".join(
        f"{task}: {line}"
        for first, second in zip(H200.splitlines(), OLD_DRIVER.splitlines() + [""] * 999, strict=False)
        for task, line in ((0, first), (1, second))
    )
    reading = read(mixed)
    assert reading.facts["gpus"] == read(H200).facts["gpus"]
    assert codes(reading) == ["several_processes"]


def test_only_the_first_of_several_reports_is_read() -> None:
    reading = read(OLD_DRIVER + H200)
    assert reading.facts["driver_version"] == "440.33.01"
    assert codes(reading) == ["several_reports"]
    assert reading.warnings[0].line == OLD_DRIVER.count("\n") + 2


def test_a_gpu_that_does_not_answer_is_named() -> None:
    lost = "Unable to determine the device handle for GPU0000:DB:00.0: GPU is lost.  Reboot the system\n"
    reading = read(lost + H100X8[: H100X8.rindex("GPU 00000000:DB:00.0")])
    assert reading.facts["gpus_not_answering"] == ["0000:db:00.0"]
    assert codes(reading) == ["gpus_missing", "gpu_not_answering"]


@pytest.mark.parametrize("share", [0.2, 0.45, 0.7, 0.93, 0.97])
def test_a_cut_report_is_said_to_be_cut(share: float) -> None:
    reading = read(H100X8[: int(len(H100X8) * share)])
    assert {"gpus_missing", "cut_off", "gpu_incomplete"} & set(codes(reading))


def test_a_value_of_another_form_is_unknown_and_named_with_its_line() -> None:
    reading = read(OLD_DRIVER.replace("32480 MiB", "32480 Mi"))
    assert reading.facts["gpus"][0]["memory_total_bytes"] is None
    assert [(warning.code, warning.line, warning.text) for warning in reading.warnings] == [
        ("odd_value", 23, "32480 Mi")
    ]


def test_a_key_printed_twice_with_different_values_is_named() -> None:
    doubled = OLD_DRIVER.replace("    Temperature\n", "    Temperature\n        Gpu : 90 C\n")
    assert codes(read(doubled)) == ["contradictory_value"]


@pytest.mark.parametrize(
    "text",
    [
        "NVIDIA-SMI version  : 570.86.15\n",
        "==============NVSMI LOG==============\n",
    ],
)
def test_a_report_without_gpus_and_driver_is_refused(text: str) -> None:
    with pytest.raises(Unreadable, match="neither a GPU nor a driver version"):
        read(text)


def test_the_part_of_a_vgpu_host_above_the_gpus_is_no_gpu() -> None:
    host = OLD_DRIVER.replace(
        "CUDA Version                        : 10.2", "CUDA Version : Not Found"
    ).replace(
        "\nAttached",
        "vGPU Driver Capability\n        Heterogenous Multi-vGPU           : Supported\n\nAttached",
    )
    reading = read(host)
    assert reading.facts["cuda_version"] is None
    assert codes(reading) == []
