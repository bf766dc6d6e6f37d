"""What pdsh, clush, Ansible and relays of a log add is taken away; files whose own lines look like that stay whole."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from apps.evidence.engine import registry
from apps.evidence.engine.parsers._hosts import hosts_in
from apps.evidence.engine.reading import Unreadable
from apps.evidence.engine.source import Source

CORPUS = Path(__file__).parents[4] / "corpus"
KINDS = {
    name: entry["kind"]
    for name, entry in yaml.safe_load((CORPUS / "expected.yaml").read_text())["files"].items()
}
# pdsh and clush, mpssh, docker compose, relays of syslog.
MARKS = (
    "sn01: {line}",
    "sn01 -> {line}",
    "sn01  | {line}",
    "Nov 30 07:13:04 sn01 collector[7]: {line}",
    "2026-11-30T07:13:04.123456+00:00 sn01 snp.py: {line}",
    "<13>1 2026-11-30T07:13:04Z sn01 collector 7 - - {line}",
)
# Ansible, pssh, clush -b.
HEADINGS = (
    "sn01 | CHANGED | rc=0 >>\n{text}",
    "[1] 07:13:04 [SUCCESS] sn01\n{text}",
    "---------------\nsn[01-03]\n---------------\n{text}",
)
# The smallest file of each kind.
SMALLEST = sorted(
    {
        kind: name for name, kind in sorted(KINDS.items(), key=lambda one: -(CORPUS / one[0]).stat().st_size)
    }.items()
)
# Kernel logs name hosts themselves: what stands in front of them is part of what they say.
NAMES_HOSTS = ("kernel_log", "nccl_debug_log")


def text_of(name: str) -> str:
    return Source.of_bytes((CORPUS / name).read_bytes()).text()


def marked(text: str, form: str) -> str:
    return "".join(form.format(line=line) + "\n" for line in text.splitlines())


def without_lines(facts: Any) -> Any:
    """Facts without the numbers of lines, which a heading moves."""
    if isinstance(facts, dict):
        return {key: without_lines(value) for key, value in facts.items() if "line" not in key}
    return [without_lines(one) for one in facts] if isinstance(facts, list) else facts


@pytest.mark.parametrize(("kind", "name"), [one for one in SMALLEST if one[0] != "kernel_log"])
def test_every_kind_is_read_behind_every_mark_and_beneath_every_heading(kind: str, name: str) -> None:
    text = text_of(name)
    whole = without_lines(registry.read(Source.of_text(text)).facts)
    ways = {form: marked(text, form) for form in MARKS} | {form: form.format(text=text) for form in HEADINGS}
    for form, dressed in ways.items():
        found = registry.read(Source.of_text(dressed))
        assert (found.kind, without_lines(found.facts)) == (kind, whole), form


def test_a_task_of_srun_behind_the_host_is_taken_away_too() -> None:
    text = text_of(dict(SMALLEST)["ibstat"])
    found = registry.read(Source.of_text(marked(text, "sn01: 12: {line}")))
    assert found.facts == registry.read(Source.of_text(text)).facts


def test_kernel_logs_keep_the_host_with_their_events() -> None:
    text = text_of(dict(SMALLEST)["kernel_log"])
    found = registry.read(Source.of_text(marked(text, "sn01: {line}")))
    assert found.facts["xid_counts"] == registry.read(Source.of_text(text)).facts["xid_counts"]
    assert {event["host"] for event in found.facts["events"]} == {"sn01"}


@pytest.mark.parametrize("name", KINDS)
def test_no_file_of_a_tool_is_taken_for_that_of_many_hosts(name: str) -> None:
    sample = Source.of_bytes((CORPUS / name).read_bytes()).sample
    hosts = hosts_in(sample)
    if hosts and KINDS[name] not in NAMES_HOSTS:
        scores = [
            registry.all_parsers()[KINDS[name]].recognise(text) for text in (hosts[0].part_of(sample), sample)
        ]
        assert scores[0] < scores[1]


@pytest.mark.parametrize("together", ["one after the other", "line by line"])
@pytest.mark.parametrize("kind", ["ibstat", "nccl_tests", "nvidia_smi_xml", "rocm_smi_json", *NAMES_HOSTS])
def test_what_several_hosts_printed_is_refused_or_told_apart(kind: str, together: str) -> None:
    text = text_of(dict(SMALLEST)[kind])
    first, second = (marked(text, f"{host}: {{line}}").splitlines() for host in ("sn01", "sn02"))
    lines = (
        [*first, *second]
        if together == "one after the other"
        else [*sum(zip(first, second, strict=True), ())]
    )
    source = Source.of_text("\n".join(lines))
    if kind in NAMES_HOSTS:
        assert registry.read(source).kind == kind
        return
    with pytest.raises(Unreadable, match="sn01 and sn02") as refused:
        registry.read(source)
    assert refused.value.code == "several_hosts"


def test_another_host_far_down_is_found_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("apps.evidence.engine.source.SAMPLE_BYTES", 20_000)
    text = text_of(
        "nvidia-smi-q/" + min(name.split("/")[1] for name in KINDS if name.startswith("nvidia-smi-q/"))
    )
    lines = [f"sn01: {line}" for line in text.split("\n")] * (1 + 30_000 // len(text))
    with pytest.raises(Unreadable, match="sn02"):
        registry.read(Source.of_text("\n".join([*lines, *(f"sn02: {line}" for line in text.split("\n"))])))


def test_a_warning_between_the_lines_is_no_host() -> None:
    name = dict(SMALLEST)["ibstat"]
    lines = marked(text_of(name), "sn01: {line}").splitlines()
    lines.insert(3, "Warning: Permanently added 'sn01' to the list of known hosts.")
    whole = registry.read(Source.of_text(text_of(name))).facts
    assert without_lines(registry.read(Source.of_text("\n".join(lines))).facts) == without_lines(whole)


def test_two_headings_are_two_hosts() -> None:
    name = dict(SMALLEST)["nvidia_smi_q"]
    text = f"sn01 | CHANGED | rc=0 >>\n{text_of(name)}\nsn02 | CHANGED | rc=0 >>\n{text_of(name)}"
    with pytest.raises(Unreadable) as refused:
        registry.read(Source.of_text(text))
    assert refused.value.code == "several_hosts"


def test_one_line_of_a_node_that_is_numbered_alike_is_another_host() -> None:
    rows = [f"sn-n04: {place}, H100, GPU-{place:08}, 00000000:{place:02X}:00.0" for place in range(24)]
    other = "sn-n05: 0, H100, GPU-b0000000, 00000000:7A:00.0"
    lines = ["sn-n04: index, name, uuid, pci.bus_id", *rows, other]
    with pytest.raises(Unreadable, match="sn-n05"):
        registry.read(Source.of_text("\n".join(lines) + "\n"))
