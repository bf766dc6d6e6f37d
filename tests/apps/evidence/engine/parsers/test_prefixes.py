"""What stands in front of a line is taken off, and only that."""

from __future__ import annotations

import pytest

from apps.evidence.engine.parsers._prefixes import Tagged, by_process, untag, without_prefix
from apps.evidence.engine.source import Source

PRINTED = "    Product Name    : NVIDIA H100"


@pytest.mark.parametrize(
    ("prefix", "task"),
    [
        ("0: ", 0),
        (" 12: ", 12),
        ("[1,3]<stdout>:", 3),
        ("[prterun-node-4@1,3]<stderr>: ", 3),
        ("[7] ", 7),
        ("[default0]:", 0),
        ("[rank5]: ", 5),
        ("2025-01-21T04:41:44.283302123Z ", None),
        ("2025-01-21 04:41:44,283 ", None),
        ("[2025-01-21T04:41:44+00:00] ", None),
        ("[Sun Feb 23 16:24:18 2025] ", None),
        ("04:41:44 ", None),
        ("(RayWorkerWrapper pid=936, ip=192.0.2.1) ", None),
        ("(raylet) ", None),
        ("(raylet, ip=192.0.2.1) ", None),
        ("(pid=936) ", None),
        ("(pid=936, ip=192.0.2.1) ", None),
        ("(pid=gcs_server) ", None),
        ("(VllmWorker rank=1 pid=936) ", None),
        ("(Trainer.step pid=936, ip=2001:db8::7) ", None),
        ("(autoscaler +1m5s) ", None),
        ("[pod/bench-0/main] ", None),
        ("bench-worker-0  | ", None),
        ("2025-01-21T04:41:44.283302123Z stdout F ", None),
        ("> ", None),
        ("2025-01-21T04:41:44Z [1,3]<stdout>:", 3),
        ("> 0: ", 0),
    ],
)
def test_a_prefix_is_taken_off_and_the_indentation_stays(prefix: str, task: int | None) -> None:
    tagged = untag(prefix + PRINTED)
    assert (tagged.text, tagged.task, tagged.prefix) == (PRINTED, task, prefix)


@pytest.mark.parametrize(
    "text",
    [
        PRINTED,
        "",
        "GPU0\t X \tNV18",
        "GPU 00000000:1B:00.0",
        "| 0  NVIDIA H100 |",
        "vllm-0:936:936 [0] NCCL INFO cudaDriverVersion 12040",
        "[6781741.548768] NVRM: Xid (PCI:0000:91:00): 79",
        "PyTorch version: 2.4.0",
        "(raylets are fine)",
        "stdout follows",
    ],
)
def test_what_the_tool_printed_is_left_alone(text: str) -> None:
    assert untag(text) == Tagged(text)


def test_a_line_with_nothing_behind_the_prefix_is_empty() -> None:
    assert without_prefix("[1,0]<stdout>:") == ""
    assert without_prefix("0:") == ""


def test_lines_of_several_processes_are_told_apart() -> None:
    source = Source.of_text("0: a\n1: b\n0: c\nplain\n")
    groups = by_process(source.lines())
    assert {key: [line.text for line in lines] for key, lines in groups.items()} == {
        "task 0": ["a", "c"],
        "task 1": ["b"],
        "": ["plain"],
    }
    assert [line.number for line in groups["task 0"]] == [1, 3]


def test_an_overlong_line_of_almost_prefixes_is_handled_at_once() -> None:
    for text in ("a-" * 30_000, "(" + "a" * 60_000, "[" + "1" * 60_000, "1" * 60_000, "a.b" * 20_000):
        assert without_prefix(text) == text
