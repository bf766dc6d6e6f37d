"""A GPU or a driver that does not answer is never read as a healthy one, nor are its errors read as values."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from apps.evidence.engine.reading import Unreadable
from tests.apps.evidence.engine.parsers.readings import codes, read

CORPUS = Path(__file__).parents[4] / "corpus"
TEXT = (CORPUS / "nvidia-smi-q" / "h100x8-535.161.08.txt").read_text()
XML = (CORPUS / "nvidia-smi-xml" / "h100x8-570.86.15.xml").read_text()
LOST = "0000:3b:00.0"
NO_DRIVER = (
    "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. "
    "Make sure that the latest NVIDIA driver is installed and running.\n"
)


def with_second_gpu(change: str, replacement: str) -> str:
    """The report with every match of `change` replaced within the part of GPU 3B:00.0."""
    before, heading, rest = TEXT.partition("GPU 00000000:3B:00.0\n")
    body, following, after = rest.partition("GPU 00000000:4C:00.0\n")
    return before + heading + re.sub(change, replacement, body, flags=re.DOTALL) + following + after


@pytest.mark.parametrize("error", ["Unknown Error", "[Unknown Error]", "GPU is lost", "[GPU requires reset]"])
def test_a_gpu_with_errors_for_values_does_not_answer(error: str) -> None:
    reading = read(with_second_gpu(r" : [^\n]+", f" : {error}"))
    facts = reading.facts
    assert facts["gpus_not_answering"] == [LOST]
    assert (facts["attached_gpus"], facts["gpus_listed"]) == (8, 8)
    assert facts["models"] == {"NVIDIA H100 80GB HBM3": 7}
    assert facts["vbios"] == {"96.00.74.00.0D": 7}
    lists = (value for value in facts.values() if isinstance(value, list))
    assert not any(error in value for value in lists)
    line = TEXT[: TEXT.index("GPU 00000000:3B:00.0")].count("\n") + 2
    assert [(warning.code, warning.line, warning.text) for warning in reading.warnings] == [
        ("gpu_not_answering", line, error)
    ]


def test_a_gpu_with_errors_for_values_does_not_answer_in_xml_either() -> None:
    start = XML.index("<gpu id=", XML.index("</gpu>"))
    end = XML.index("</gpu>", start)
    body = re.sub(r">[^<>\s][^<>]*<", ">Unknown Error<", XML[start:end])
    reading = read(XML[:start] + body + XML[end:])
    assert len(reading.facts["gpus_not_answering"]) == 1
    assert reading.facts["models"] == {"NVIDIA H100 80GB HBM3": 7}
    assert [(warning.code, warning.line) for warning in reading.warnings] == [
        ("gpu_not_answering", XML[:start].count("\n") + 1)
    ]
    assert read(XML).facts["gpus_not_answering"] == []


@pytest.mark.parametrize("indent", ["", "    "])
def test_a_sentence_in_place_of_the_values_names_the_lost_gpu_and_no_other(indent: str) -> None:
    sentence = "GPU is lost.  Reboot the system to recover this GPU"
    reading = read(with_second_gpu(r".+", f"{indent}{sentence}\n\n"))
    assert reading.facts["gpus_not_answering"] == [LOST]
    assert [(warning.code, warning.text) for warning in reading.warnings] == [("gpu_not_answering", sentence)]


def test_a_sensor_that_fails_alone_is_no_lost_gpu() -> None:
    reading = read(with_second_gpu(r"(Power Draw +: )[^\n]+", r"\1Unknown Error"))
    assert reading.facts["gpus_not_answering"] == []
    assert codes(reading) == []


def test_a_gpu_without_handle_is_recognised_without_a_report() -> None:
    reading = read("Unable to determine the device handle for GPU0: 0000:3B:00.0: Unknown Error\n")
    assert reading.kind == "nvidia_smi_q"
    assert reading.facts["gpus_not_answering"] == [LOST]
    assert reading.facts["attached_gpus"] is None
    assert [(warning.code, warning.line) for warning in reading.warnings] == [("gpu_not_answering", 1)]


@pytest.mark.parametrize(
    "text",
    [NO_DRIVER, "Failed to initialize NVML: Driver/library version mismatch\nNVML library version: 570.86\n"],
)
def test_a_driver_that_does_not_answer_is_said(text: str) -> None:
    reading = read(text)
    assert reading.kind == "nvidia_smi_q"
    assert reading.facts["driver_error"] == text.splitlines()[0]
    assert [(warning.code, warning.line) for warning in reading.warnings] == [("driver_not_answering", 1)]


def test_a_sentence_that_quotes_the_message_is_no_output() -> None:
    with pytest.raises(Unreadable):
        read(f"We saw this yesterday: {NO_DRIVER}")


def test_a_report_says_that_its_driver_answers() -> None:
    assert read(TEXT).facts["driver_error"] is None


@pytest.mark.parametrize("prefix", ["1: ", "[1,3]<stdout>:", "2026-03-01T10:00:00Z "])
def test_a_driver_that_does_not_answer_is_known_behind_a_prefix(prefix: str) -> None:
    reading = read(prefix + "Failed to initialize NVML: Unknown Error\n")

    assert reading.facts["driver_error"] == "Failed to initialize NVML: Unknown Error"
