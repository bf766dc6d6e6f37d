"""nvidia-smi -q -x: hostile, wrapped, mixed and cut XML."""

from __future__ import annotations

import html
from pathlib import Path

import pytest

from apps.core.texts import kept
from apps.evidence.engine.parsers import nvidia_smi_xml
from apps.evidence.engine.reading import Reading, Unreadable
from apps.evidence.engine.registry import recognise
from apps.evidence.engine.source import Source
from tests.apps.evidence.engine.parsers.readings import codes

CORPUS = Path(__file__).parents[4] / "corpus" / "nvidia-smi-xml"
H100X8 = (CORPUS / "h100x8-570.86.15.xml").read_text()
MIG = (CORPUS / "a100-mig.xml").read_text()


def read(text: str) -> Reading:
    return nvidia_smi_xml.read(Source.of_text(text))


@pytest.mark.parametrize(
    "declaration",
    [
        '<!ENTITY a "b">',
        '<!ENTITY a SYSTEM "file:///etc/hostname">',
        '<!ENTITY % a SYSTEM "http://192.0.2.1/x.dtd"> %a;',
    ],
)
def test_entities_are_refused(declaration: str) -> None:
    document = (
        f"<!DOCTYPE nvidia_smi_log [{declaration}]><nvidia_smi_log><gpu id='x'>&a;</gpu></nvidia_smi_log>"
    )
    with pytest.raises(Unreadable) as refused:
        read(document)
    assert refused.value.code == "xml_refused"
    assert "\n" not in refused.value.message


def test_the_doctype_of_a_real_file_is_read_and_not_fetched() -> None:
    document = MIG.replace('"nvsmi_device_v11.dtd"', '"http://192.0.2.1/nvsmi_device_v13.dtd"')
    assert read(document).facts["dtd"] == 13


def test_elements_nested_without_end_are_refused() -> None:
    with pytest.raises(Unreadable) as refused:
        read("<nvidia_smi_log>" + "<a>" * 100_000)
    assert refused.value.code == "nested_too_deep"


@pytest.mark.parametrize("share", [0.01, 0.1, 0.33, 0.5, 0.75, 0.999])
def test_what_stands_before_a_cut_is_read_with_a_warning(share: float) -> None:
    whole = read(H100X8).facts
    part = H100X8[: int(len(H100X8) * share)]
    reading = read(part)
    assert [(warning.code, warning.line) for warning in reading.warnings[:1]] == [
        ("cut_off", part.count("\n") + 1)
    ]
    for cut, gpu in zip(reading.facts["gpus"], whole["gpus"], strict=False):
        assert {key for key, value in cut.items() if value not in (None, [], gpu[key])} == set()


def test_a_break_is_said_in_words_that_can_be_translated() -> None:
    cut = read(H100X8[:20_000]).warnings[0]
    assert cut.message == "the file was cut here; only what stands before is read"
    assert kept(cut.message) == {}
    broken = read(H100X8.replace("</product_brand>", "</brand>", 1)).warnings[0]
    assert (broken.code, kept(broken.message)) == ("not_well_formed", {})
    assert "mismatched" not in broken.message


def test_a_document_cut_before_anything_useful_is_refused() -> None:
    with pytest.raises(Unreadable, match="neither a GPU nor a driver version"):
        read(MIG[:120])


def test_a_document_escaped_for_html_is_recognised_and_read() -> None:
    source = Source.of_text(html.escape(MIG))
    assert recognise(source) == "nvidia_smi_xml"
    assert nvidia_smi_xml.read(source).facts == read(MIG).facts


def test_prefixes_of_one_process_are_taken_off_and_another_process_is_left_out() -> None:
    other = [f"[1,1]<stdout>:{line}" for line in H100X8.splitlines()]
    lines = [f"[1,0]<stdout>:{line}" for line in MIG.splitlines()]
    mixed = [line for pair in zip(lines, other, strict=False) for line in pair]
    reading = read("\n".join(mixed))
    assert reading.facts == read(MIG).facts
    assert codes(reading) == ["several_processes"]


def test_escapes_inside_a_prefixed_document_stay_xml() -> None:
    document = MIG.replace("<processes>", "<processes><x>a &amp; b &lt;c&gt;</x>", 1)
    reading = read("\n".join(f"0: {line}" for line in document.splitlines()))
    assert reading.facts == read(MIG).facts
    assert codes(reading) == []


def test_a_second_document_is_named_and_left_out() -> None:
    reading = read(MIG + H100X8)
    assert reading.facts == read(MIG).facts
    assert codes(reading) == ["several_reports"]


def test_the_declared_encoding_does_not_matter_for_decoded_text() -> None:
    document = MIG.replace('<?xml version="1.0" ?>', '<?xml version="1.0" encoding="UTF-16"?>')
    source = Source.of_bytes(document.encode("utf-16"))
    assert nvidia_smi_xml.read(source).facts == read(MIG).facts


def test_text_and_xml_name_the_same_things() -> None:
    assert read(H100X8).facts["gpus"][0]["clock_reasons_active"] == ["idle"]
    assert read(MIG).facts["gpus"][0]["mig_devices"][0] == {
        "index": 0,
        "gpu_instance_id": 1,
        "compute_instance_id": 0,
        "memory_total_bytes": 19968 * 2**20,
    }
