"""nvidia-smi nvlink: inactive links, error counters, lost and odd lines."""

from __future__ import annotations

from pathlib import Path

import pytest

from apps.evidence.engine.parsers import nvidia_smi_nvlink
from apps.evidence.engine.reading import Reading, Unreadable
from apps.evidence.engine.registry import recognise
from apps.evidence.engine.source import Source
from tests.apps.evidence.engine.parsers.readings import codes

CORPUS = Path(__file__).parents[4] / "corpus" / "nvidia-smi-nvlink"
A100X8 = (CORPUS / "a100x8-status.txt").read_text()

ERRORS = """\
GPU 0: NVIDIA H100 80GB HBM3 (UUID: GPU-00000000-0000-0000-0000-000000000001)
\t Link 0: Replay Errors: 3
\t Link 0: Recovery Errors: 0
\t Link 0: CRC Errors: 1
\t Link 1: Replay Errors: 0
\t Link 1: Recovery Errors: 0
\t Link 1: CRC Errors: 0
"""


def read(text: str) -> Reading:
    return nvidia_smi_nvlink.read(Source.of_text(text))


def test_an_inactive_link_is_not_counted_and_is_named() -> None:
    facts = read(A100X8.replace("Link 3: 25 GB/s", "Link 3: <inactive>", 1)).facts
    assert facts["links_per_gpu"]["0"] == 11
    assert facts["links"][0]["inactive"] == [3]
    assert sorted(facts["links"][0]["unidirectional_bytes_per_s"]) == sorted(map(str, {*range(12)} - {3}))
    assert facts["links"][0]["unidirectional_bytes_per_s"]["2"] == 25 * 10**9
    assert facts["gpus_all_links_inactive"] == []


def test_a_gpu_with_only_inactive_links_is_named() -> None:
    text = A100X8.replace("25 GB/s", "<inactive>", 12)
    assert read(text).facts["gpus_all_links_inactive"] == [0]


def test_error_counters_are_read_and_say_nothing_about_speed() -> None:
    source = Source.of_text(ERRORS)
    assert recognise(source) == "nvidia_smi_nvlink"
    facts = nvidia_smi_nvlink.read(source).facts
    assert facts["links"][0]["errors"]["0"] == {"replay": 3, "recovery": 0, "crc": 1}
    assert facts["links_per_gpu"] == {"0": None}
    assert facts["speeds"] == []


def test_a_lost_link_line_is_named() -> None:
    reading = read(A100X8.replace("         Link 4: 25 GB/s\n", "", 1))
    assert codes(reading) == ["links_missing", "links_unequal"]


def test_a_gpu_cut_off_after_its_name_has_unknown_links() -> None:
    reading = read("\n".join(A100X8.splitlines()[:14]))
    assert reading.facts["links_per_gpu"] == {"0": 12, "1": None}
    assert codes(reading) == ["links_missing", "links_unequal"]


def test_different_models_leave_the_model_unknown() -> None:
    facts = read(A100X8.replace("NVIDIA A100-SXM4-80GB", "NVIDIA A800-SXM4-80GB", 1)).facts
    assert facts["model"] is None
    assert facts["models"] == {"NVIDIA A800-SXM4-80GB": 1, "NVIDIA A100-SXM4-80GB": 7}


def test_a_line_that_is_not_understood_is_named() -> None:
    reading = read(A100X8.replace("Link 3: 25 GB/s", "Link 3: 2", 1))
    assert next((warning.code, warning.line) for warning in reading.warnings) == ("line_not_understood", 5)


def test_a_list_of_gpus_without_links_is_refused() -> None:
    with pytest.raises(Unreadable, match="no GPU with links"):
        read("GPU 0: NVIDIA L40S (UUID: GPU-00000000-0000-0000-0000-000000000001)\n")


def test_a_verdict_behind_the_name_and_a_missing_uuid_are_understood() -> None:
    reading = read(
        "GPU 0: NVIDIA RTX A4000 (UUID: GPU-a) Device does not have or support Nvlink\n"
        "GPU 1: Quadro RTX 5000 (UUID: GPU-b) NVML: Unable to retrieve Nvlink information as all links are inActive\n"
        "GPU 2: NVIDIA GB300\n\t Link 0: 50 GB/s\n"
    )
    assert reading.facts["links_per_gpu"] == {"0": None, "1": 0, "2": 1}
    assert [gpu["supported"] for gpu in reading.facts["links"]] == [False, True, True]
    assert reading.facts["links"][2]["uuid"] is None
    assert codes(reading) == []


def test_counters_of_newer_links_are_kept_under_their_names() -> None:
    reading = read(
        "GPU 0: NVIDIA GB200 (UUID: GPU-a)\n"
        "\t Link 0: Malformed packet Errors: 0\n"
        "\t Link 0: Link recovery failed events: 2\n"
        "\t Link 0: Effective BER: 15e-254\n"
        "\t Link 0: FEC Errors - 0: 7\n"
    )
    assert reading.facts["links"][0]["errors"]["0"] == {
        "malformed_packet": 0,
        "link_recovery_failed_events": 2,
        "effective_ber": 15e-254,
        "fec_errors_0": 7,
    }
    assert codes(reading) == []
