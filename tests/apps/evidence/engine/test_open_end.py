"""A last line without a line end may be cut: what is read from it alone is warned of, and nothing else is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from apps.evidence.engine import registry
from apps.evidence.engine.reading import Reading
from apps.evidence.engine.source import Source

CORPUS = Path(__file__).parents[3] / "corpus"
EXPECTED: dict[str, dict[str, Any]] = yaml.safe_load((CORPUS / "expected.yaml").read_text())["files"]
NAMES = [name for name in EXPECTED if (CORPUS / name).stat().st_size < 100_000]


def read(data: bytes, kind: str = "") -> Reading:
    return registry.read(Source.of_bytes(data), kind=kind)


def open_ends(reading: Reading) -> list[tuple[int | None, str]]:
    return [(warning.line, warning.text) for warning in reading.warnings if warning.code == "open_end"]


IBSTAT = "CA 'mlx5_0'\n\tCA type: MT4129\n\tPort 1:\n\t\tState: Active\n\t\tLink layer: InfiniBand"
KERNEL = "[  1.000001] NVRM: GPU at PCI:0000:3b:00: GPU-0a1b2c3d\n[  1.000002] NVRM: GPU Board Serial Number: 13200"
NCCL = "n1:1:2 [0] NCCL INFO Connected all rings\nn1:1:2 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[1] via P2P/direct shar"
PERF = "# nThread 1 nGpus 1 minBytes 5368"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (IBSTAT, "ibstat"),
        (IBSTAT[: IBSTAT.index("4129")], "ibstat"),
        (KERNEL, "kernel_log"),
        (NCCL, "nccl_debug_log"),
        (f"# nccl-tests version 2.17.1\n{PERF}", "nccl_tests"),
    ],
)
def test_a_value_from_a_last_line_without_an_end_is_warned_of(text: str, kind: str, encoding: str) -> None:
    warned = [(text.count("\n") + 1, text.split("\n")[-1].strip())]
    assert open_ends(read(text.encode(encoding), kind)) == warned
    assert open_ends(read(f"{text}\n".encode(encoding), kind)) == []


@pytest.mark.parametrize("name", NAMES)
def test_files_that_end_their_last_line_have_no_such_warning(name: str) -> None:
    assert open_ends(read((CORPUS / name).read_bytes())) == []


@pytest.mark.parametrize("name", [name for name in NAMES if (CORPUS / name).suffix in (".json", ".xml")])
def test_a_document_needs_no_line_end(name: str) -> None:
    assert open_ends(read((CORPUS / name).read_bytes().rstrip())) == []


@pytest.mark.parametrize("name", NAMES)
def test_facts_are_the_same_without_the_last_line_end(name: str) -> None:
    data = (CORPUS / name).read_bytes()
    stripped = read(data.removesuffix(b"\n"), EXPECTED[name]["kind"])
    assert stripped.facts == read(data, EXPECTED[name]["kind"]).facts


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("[  1.000001] NVRM: Xid (PCI:0000:3b:00): 79, fell off\n[  1.000002] eth0: link is u", "kernel_log"),
        ("NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.", "nvidia_smi_q"),
        (f"{IBSTAT}\n\t\t", "ibstat"),
        (f"{IBSTAT}\nuser@node:~$ exit", "ibstat"),
    ],
)
def test_a_last_line_that_tells_nothing_of_its_own_is_no_matter(text: str, kind: str) -> None:
    assert open_ends(read(text.encode(), kind)) == []


@pytest.mark.parametrize(
    ("name", "cut_behind"),
    [
        ("nvidia-smi-nvlink/a100-one-gpu-inactive.txt", "Link 7: 25 GB/s\n\t Link"),
        ("ibstat/a100-ibstatus.txt", "Infiniband device 'mlx5_3' port 1 "),
    ],
)
def test_the_beginning_of_a_line_such_as_came_before_is_a_cut(name: str, cut_behind: str) -> None:
    text = (CORPUS / name).read_text()
    cut = text[: text.index(cut_behind) + len(cut_behind)]

    assert [line for line, _ in open_ends(read(cut.encode()))] == [cut.count("\n") + 1]


@pytest.mark.parametrize("end", ["root@n1:~#", "$", "n1 %", "```"])
def test_a_prompt_or_a_fence_below_the_text_is_no_cut(end: str) -> None:
    text = (CORPUS / "ibstat" / "a100-ibstatus.txt").read_text()

    assert open_ends(read(f"{end} ibstatus\n{text}{end}".encode())) == []
