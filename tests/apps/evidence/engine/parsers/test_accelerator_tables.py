"""npu-smi, hl-smi, mx-smi and rocm-smi tables of other versions than those of the corpus read by their structure."""

from __future__ import annotations

from typing import Any

import pytest

from apps.evidence.engine.reading import Reading, Unreadable
from apps.evidence.engine.registry import read
from apps.evidence.engine.source import Source

NPU_310P = """\
+--------------------------------------------------------------------------------------------------------+
| npu-smi 24.1.rc2                                 Version: 24.1.rc2                                     |
+-------------------------------+-----------------+------------------------------------------------------+
| NPU     Name                  | Health          | Power(W)     Temp(C)           Hugepages-Usage(page) |
| Chip    Device                | Bus-Id          | AICore(%)    Memory-Usage(MB)                        |
+===============================+=================+======================================================+
| 1       310P3                 | OK              | NA           59                0     / 0             |
| 0       0                     | 0000:01:00.0    | 0            1397 / 44280                            |
+-------------------------------+-----------------+------------------------------------------------------+
| 1       310P3                 | UNKNOWN         | NA           58                0     / 0             |
| 1       1                     | 0000:01:00.0    | 7            15200/ 43693                            |
+===============================+=================+======================================================+
+-------------------------------+-----------------+------------------------------------------------------+
| NPU     Chip                  | Process id      | Process name             | Process memory(MB)        |
+===============================+=================+======================================================+
| 1       1                     | 4242            | python3 -m train         | 13800                     |
+===============================+=================+======================================================+
"""

HL_GAUDI1 = """\
+-----------------------------------------------------------------------------+
| HL-SMI Version:                            hl-1.4.1-rc-fw-35.0.2.0          |
| Driver Version:                                      1.4.0-d8f95f4          |
| Nic Driver Version:                                  1.4.0-e4fe12d          |
|-------------------------------+----------------------+----------------------+
| AIP  Name        Persistence-M| Bus-Id        Disp.A | Volatile Uncorr. ECC |
| Fan  Temp  Perf  Pwr:Usage/Cap|         Memory-Usage | AIP-Util  Compute M. |
|===============================+======================+======================|
|   0  HL-205              N/A  | 0000:20:1d.0     N/A |                   3  |
| N/A   35C   N/A   102W / 350W |    512Mib / 32768Mib |     2%           N/A|
|-------------------------------+----------------------+----------------------+
|   1  HL-205              N/A  | 0000:a0:1d.0     N/A |                   0  |
| N/A   N/A   N/A    N/A / 350W |    512Mib / 32768Mib |    N/A           N/A |
|-------------------------------+----------------------+----------------------+
| Compute Processes:                                               AIP Memory |
|  AIP       PID   Type   Process name                             Usage      |
|=============================================================================|
|   0       9931     C    python                                   96000MiB   |
+=============================================================================+
"""

MX_FOUR_COLUMNS = """\
=================== MetaX System Management Interface Log ===================
Timestamp                                         : Wed Feb 11 09:55:49 2026

Attached GPUs                                     : 2
+---------------------------------------------------------------------------------+
| MX-SMI 2.2.9                       Kernel Mode Driver Version: 3.4.4            |
| MACA Version: 3.3.0.15             BIOS Version: 1.30.0.0                       |
|------------------+-----------------+---------------------+----------------------|
| Board       Name | GPU   Persist-M | Bus-id              | GPU-Util      sGPU-M |
| Pwr:Usage/Cap    | Temp       Perf | Memory-Usage        | GPU-State            |
|==================+=================+=====================+======================|
| 0     MetaX C500 | 0           Off | 0000:0e:00.0        | 0%          Disabled |
| 57W / 350W       | 35C          P0 | 826/65536 MiB       | Available            |
+------------------+-----------------+---------------------+----------------------+
| 0     MetaX C500 | 1           Off | 0000:0f:00.0        | 4%          Disabled |
| 58W / 350W       | 37C          P0 | 826/65536 MiB       | Unavailable          |
+------------------+-----------------+---------------------+----------------------+
"""

ROCM_3 = """\
========================ROCm System Management Interface========================
================================================================================
GPU  Temp   AvgPwr  SCLK    MCLK    Fan     Perf  PwrCap  VRAM%  GPU%
1    24.0c  3.0W    852Mhz  167Mhz  13.73%  auto  170.0W  N/A    0%
================================================================================
==============================End of ROCm SMI Log ==============================
"""

ROCM_5 = """\
======================= ROCm System Management Interface =======================
================================= Concise Info =================================
GPU  Temp (DieEdge)  AvgPwr  SCLK    MCLK     Fan  Perf  PwrCap  VRAM%  GPU%
0    41.0c           92.0W   800Mhz  1600Mhz  0%   auto  560.0W    3%   0%
================================================================================
============================= End of ROCm SMI Log ==============================
"""

ROCM_6_3 = """\
=========================== ROCm System Management Interface ===========================
===================================== Concise Info =====================================
Device  Node  IDs              Temp    Power    Partitions          SCLK   MCLK    Fan    Perf  PwrCap       VRAM%  GPU%
              (DID,     GUID)  (Edge)  (Avg)    (Mem, Compute, ID)
========================================================================================
0       1     0x7551,   35461  41.0°C  44.0W    N/A, N/A, 0         115Mhz  125Mhz  29.8%  auto  210.0W       8%     9%
1       2     0x74a1,   17218  48.0°C  19.111W  NPS1, SPX, 3        None   900Mhz  0%     auto  Unsupported  82%    5%
========================================================================================
================================== End of ROCm SMI Log =================================
"""

HYGON = """\
================================= System Management Interface ==================================
================================================================================================
HCU     Temp     AvgPwr     Perf     PwrCap     VRAM%      HCU%      Dec%      Enc%      Mode
0       46.0C    51.0W      auto     400.0W     0%         1.5%      0.0%      0.0%      Normal
================================================================================================
======================================== End of SMI Log ========================================
"""


def reading(text: str) -> Reading:
    return read(Source.of_text(text))


def picked(found: Reading, *keys: str) -> list[list[Any]]:
    return [[device[key] for key in keys] for device in found.facts["devices"]]


def test_npu_smi_reads_310p_chips_with_a_device_column_and_no_hbm() -> None:
    found = reading(NPU_310P)
    assert (found.kind, found.warnings) == ("npu_smi", ())
    assert (found.facts["npus"], found.facts["phy_ids"], found.facts["hbm_total_mb"]) == (1, None, [])
    keys = (
        "npu",
        "chip",
        "device",
        "health",
        "power_w",
        "temp_c",
        "aicore_percent",
        "memory_used_mb",
        "hbm_used_mb",
    )
    assert picked(found, *keys) == [
        [1, 0, 0, "OK", None, 59.0, 0.0, 1397, None],
        [1, 1, 1, "UNKNOWN", None, 58.0, 7.0, 15200, None],
    ]
    assert found.facts["processes"] == [
        {"npu": 1, "chip": 1, "pid": 4242, "name": "python3 -m train", "memory_mb": 13800}
    ]


def test_npu_smi_names_a_line_whose_value_is_no_number() -> None:
    found = reading(NPU_310P.replace("NA           59 ", "NA           5,9"))
    assert [(warning.code, warning.line) for warning in found.warnings] == [("value_not_understood", 7)]
    assert picked(found, "temp_c") == [[None], [58.0]]


def test_hl_smi_tells_a_missing_value_from_its_neighbours() -> None:
    found = reading(HL_GAUDI1)
    assert (found.kind, found.warnings) == ("hl_smi", ())
    assert found.facts["nic_driver_version"] == "1.4.0-e4fe12d"
    assert found.facts["firmware_version"] == "35.0.2.0"
    keys = ("index", "model", "temp_c", "power_w", "power_cap_w", "memory_total_mib", "uncorrectable_ecc")
    assert picked(found, *keys) == [
        [0, "HL-205", 35.0, 102.0, 350.0, 32768, 3],
        [1, "HL-205", None, None, 350.0, 32768, 0],
    ]
    assert [process["memory_mib"] for process in found.facts["processes"]] == [96000]


def test_mx_smi_reads_boards_with_several_gpus() -> None:
    found = reading(MX_FOUR_COLUMNS)
    assert (found.kind, found.warnings, found.facts["attached_gpus"]) == ("mx_smi", (), 2)
    keys = ("index", "board", "model", "state", "power_w", "temp_c", "memory_used_mib", "utilisation_percent")
    assert picked(found, *keys) == [
        [0, 0, "MetaX C500", "Available", 57.0, 35.0, 826, 0.0],
        [1, 0, "MetaX C500", "Unavailable", 58.0, 37.0, 826, 4.0],
    ]


def test_mx_smi_says_when_fewer_gpus_are_listed_than_attached() -> None:
    found = reading(
        MX_FOUR_COLUMNS.replace("Attached GPUs                                     : 2", "Attached GPUs : 8")
    )
    assert [warning.code for warning in found.warnings] == ["count_differs"]


@pytest.mark.parametrize(
    ("text", "temps", "power", "device_ids", "partitions"),
    [
        (ROCM_3, [24.0], [3.0], [], []),
        (ROCM_5, [41.0], [92.0], [], []),
        (ROCM_6_3, [41.0, 48.0], [44.0, 19.111], ["0x7551", "0x74a1"], ["NPS1, SPX"]),
        (HYGON, [46.0], [51.0], [], []),
    ],
)
def test_rocm_smi_follows_the_header_of_each_version(
    text: str, temps: list[float], power: list[float], device_ids: list[str], partitions: list[str]
) -> None:
    found = reading(text)
    assert (found.kind, found.warnings) == ("rocm_smi_concise", ())
    facts = found.facts
    assert (facts["temps_c"], facts["power_w"]) == (temps, power)
    assert (facts["device_ids"], facts["partitions"]) == (device_ids, partitions)


@pytest.mark.parametrize("name", ["vbios", "ifwi"])
def test_amd_smi_names_its_firmware_image_by_version(name: str) -> None:
    text = f'{{"gpu_data": [{{"gpu": 0, "asic": {{}}, "{name}": {{"version": "00156977"}}}}]}}'
    assert reading(text).facts["vbios"] == ["00156977"]


def test_a_row_that_does_not_fit_its_header_gives_no_values() -> None:
    found = reading(ROCM_3.replace("24.0c  3.0W  ", "24.0c  "))
    assert (found.facts["temps_c"], found.facts["power_w"]) == ([None], [None])
    assert [(warning.code, warning.line) for warning in found.warnings] == [("row_not_understood", 4)]


@pytest.mark.parametrize("text", [NPU_310P, HL_GAUDI1, MX_FOUR_COLUMNS, ROCM_6_3])
@pytest.mark.parametrize("prefix", ["0: ", "[1,0]<stdout>:", "2025-01-21T04:41:44.283Z ", "> "])
def test_prefixes_of_launchers_change_nothing(text: str, prefix: str) -> None:
    prefixed = "".join(prefix + line for line in text.splitlines(keepends=True))
    assert reading(prefixed).facts == reading(text).facts


def test_a_table_that_comes_twice_is_read_once_and_named() -> None:
    found = reading(HL_GAUDI1 * 2)
    assert found.facts["cards"] == 2
    assert [(warning.code, warning.line) for warning in found.warnings] == [("repeated_table", 25)]


def test_a_line_that_is_cut_is_named() -> None:
    cut = NPU_310P[: NPU_310P.index("43693") + 3]
    found = reading(cut)
    assert {(warning.code, warning.line) for warning in found.warnings} == {
        ("cut_line", 11),
        ("no_end", None),
    }


@pytest.mark.parametrize("text", [NPU_310P, HL_GAUDI1, MX_FOUR_COLUMNS])
def test_two_lines_that_ran_into_one_are_named_and_end_nothing(text: str) -> None:
    lines = text.splitlines(keepends=True)
    first = next(place for place, line in enumerate(lines) if line.startswith(("|====", "+===="))) + 1
    lines[first] = lines[first].rstrip("\n")
    found = reading("".join(lines))
    assert "device_rows" in [warning.code for warning in found.warnings]
    assert len(found.facts["devices"]) == len(reading(text).facts["devices"]) - 1


@pytest.mark.parametrize("text", [NPU_310P, HL_GAUDI1, MX_FOUR_COLUMNS])
def test_a_title_without_devices_is_unreadable(text: str) -> None:
    with pytest.raises(Unreadable, match="there is no table"):
        reading(text[: text.index("====+")])
