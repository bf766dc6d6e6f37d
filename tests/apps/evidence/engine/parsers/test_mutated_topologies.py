"""Mutated topology and accelerator files: read as before, read with a warning, or refused; never anything else."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from apps.evidence.engine.reading import Reading, Unreadable
from apps.evidence.engine.registry import all_parsers, read
from apps.evidence.engine.source import Source

CORPUS = Path(__file__).parents[4] / "corpus"
KINDS = (
    "hl_smi",
    "hypernode",
    "k8s_nodes",
    "kueue_topology",
    "mx_smi",
    "nccl_topo_xml",
    "npu_smi",
    "rocm_smi_concise",
    "rocm_smi_json",
    "rocm_smi_topo",
    "slurm_topology_conf",
    "slurm_topology_yaml",
    "topograph_model",
    "topograph_netq",
)
EXPECTED: dict[str, dict[str, Any]] = yaml.safe_load((CORPUS / "expected.yaml").read_text())["files"]
FILES = sorted(name for name, entry in EXPECTED.items() if entry["kind"] in KINDS)
LARGEST_BYTES = 20_000
some_file = st.sampled_from([name for name in FILES if (CORPUS / name).stat().st_size < LARGEST_BYTES])
quick = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@cache
def text_of(name: str) -> str:
    return (CORPUS / name).read_text()


@cache
def original(name: str) -> Reading:
    return read(Source.of_text(text_of(name)))


def each_line(name: str, change: Callable[[str], str]) -> bytes:
    return "".join(change(line) for line in text_of(name).splitlines(keepends=True)).encode()


WRAPPINGS: dict[str, Callable[[str], bytes]] = {
    "carriage returns": lambda name: text_of(name).replace("\n", "\r\n").encode(),
    "UTF-16 with a mark": lambda name: text_of(name).encode("utf-16"),
    "UTF-16 without a mark": lambda name: text_of(name).encode("utf-16-le"),
    "UTF-8 with a mark": lambda name: text_of(name).encode("utf-8-sig"),
    "colours": lambda name: each_line(name, lambda line: f"\x1b[1;32m{line.rstrip()}\x1b[0m\n"),
    "NUL bytes": lambda name: each_line(name, lambda line: f"\x00{line.rstrip()}\x00\n"),
    "srun -l": lambda name: each_line(name, lambda line: f"0: {line}"),
    "mpirun --tag-output": lambda name: each_line(name, lambda line: f"[1,0]<stdout>:{line}"),
    "timestamps": lambda name: each_line(name, lambda line: f"2025-01-21T04:41:44.283Z {line}"),
    "a quotation": lambda name: each_line(name, lambda line: f"> {line}"),
    "indentation": lambda name: each_line(name, lambda line: f"    {line}"),
    "blanks at line ends": lambda name: each_line(name, lambda line: f"{line.rstrip()}  \n"),
}


@pytest.mark.parametrize("wrapping", WRAPPINGS)
def test_a_wrapping_changes_no_figure(wrapping: str) -> None:
    wrapped = {name: read(Source.of_bytes(WRAPPINGS[wrapping](name))) for name in FILES}
    assert {name: found.facts for name, found in wrapped.items()} == {
        name: original(name).facts for name in FILES
    }
    codes = {name: {warning.code for warning in found.warnings} for name, found in wrapped.items()}
    assert codes == {name: {warning.code for warning in original(name).warnings} for name in FILES}


@pytest.mark.parametrize("name", [name for name in FILES if not name.endswith(".conf")])
def test_a_fence_and_words_around_change_no_figure(name: str) -> None:
    text = f"What is wrong with this one?\n\n```\n{text_of(name)}```\n\nThanks a lot\n"
    assert read(Source.of_text(text)).facts == original(name).facts


def readable(kind: str, source: Source) -> Reading | None:
    """The reading, whose facts can be stored; None where it is refused with a reason."""
    try:
        found: Reading = all_parsers()[kind].read(source)
    except Unreadable as refused:
        assert refused.message
        return None
    json.dumps(found.facts, allow_nan=False, ensure_ascii=False).encode()
    return found


def honest(name: str, text: str) -> None:
    """Read as before, or with a warning, or refused."""
    found = readable(EXPECTED[name]["kind"], Source.of_text(text))
    assert found is None or found.warnings or found.facts == original(name).facts


@quick
@given(some_file, st.floats(0, 1))
def test_a_file_that_is_cut_within_a_line_gives_no_wrong_figure_silently(name: str, share: float) -> None:
    honest(name, text_of(name)[: int(share * len(text_of(name)))].rstrip("\n"))


@quick
@given(some_file, st.integers(0, 10_000))
def test_a_line_that_comes_twice_gives_no_wrong_figure_silently(name: str, seed: int) -> None:
    lines = text_of(name).splitlines(keepends=True)
    at = seed % len(lines)
    honest(name, "".join([*lines[: at + 1], *lines[at:]]))


@quick
@given(
    some_file,
    st.integers(0, 10_000),
    st.sampled_from(["[W] NCCL: x | y: {1} 2/3", "...", "Killed", "]", "<b>"]),
)
def test_a_line_of_something_else_gives_no_wrong_figure_silently(name: str, seed: int, other: str) -> None:
    lines = text_of(name).splitlines(keepends=True)
    at = seed % len(lines)
    honest(name, "".join([*lines[:at], f"{other}\n", *lines[at:]]))


@pytest.mark.parametrize("name", FILES)
def test_a_file_that_comes_twice_gives_no_figure_twice(name: str) -> None:
    honest(name, text_of(name) * 2)


@pytest.mark.parametrize("name", FILES)
def test_the_output_of_two_processes_gives_the_figures_of_one(name: str) -> None:
    lines = text_of(name).splitlines(keepends=True)
    found = read(Source.of_text("".join(f"{task}: {line}" for line in lines for task in (0, 1))))
    assert found.facts == original(name).facts
    assert {"several_processes", "other_processes"} & {warning.code for warning in found.warnings}


@pytest.mark.parametrize("name", FILES)
def test_numbers_of_any_length_are_read_or_refused(name: str) -> None:
    readable(EXPECTED[name]["kind"], Source.of_text(re.sub(r"\d+", "9" * 5000, text_of(name))))


@cache
def pieces() -> list[str]:
    lines = {line for name in FILES for line in text_of(name).splitlines()}
    marks = [
        "---",
        "{",
        "}",
        "[",
        "]",
        "&a [*a]",
        "<<: *a",
        "- ",
        "+---------+",
        "| 0 | 1 | 2 |",
        "\x00",
        "\x1b[0m",
    ]
    return sorted(lines)[:1500] + marks


@quick
@given(st.sampled_from(KINDS), st.data())
def test_any_mixture_of_lines_is_read_or_refused(kind: str, data: st.DataObject) -> None:
    lines = data.draw(st.lists(st.sampled_from(pieces()) | st.text(max_size=20), max_size=40))
    text = "\n".join(lines)
    for parser in all_parsers().values():
        if parser.KIND in KINDS:
            assert 0 <= parser.recognise(text) <= 100
    readable(kind, Source.of_text(text))


@quick
@given(st.sampled_from(KINDS), st.binary(max_size=300))
@example("nccl_topo_xml", b"<system version='1'><pci busid='\xff'/></system>")
@example("k8s_nodes", b'{"kind": "Node", "metadata": {"name": "\\ud800\\u0000", "labels": {"a": 1e999}}}')
@example("k8s_nodes", b'{"kind": "Node", "x": ' + b"[" * 5000)
@example("rocm_smi_json", b'{"card0": {"GPU ID": NaN, "x": ' + b"9" * 5000 + b"}}")
def test_any_bytes_are_read_or_refused(kind: str, data: bytes) -> None:
    readable(kind, Source.of_bytes(data))


@pytest.mark.parametrize(
    "piece", ["=", "| ", "1 / ", "a=", "[", "- ", "&a ", "<!--", "GPU Temp ", "# a=", "kind: "]
)
def test_one_long_line_is_no_reason_to_hang(piece: str) -> None:
    text = piece * (60_000 // len(piece))
    for parser in all_parsers().values():
        if parser.KIND in KINDS:
            parser.recognise(text)
            with pytest.raises(Unreadable):
                parser.read(Source.of_text(text))
