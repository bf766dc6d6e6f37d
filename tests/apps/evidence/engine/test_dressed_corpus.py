"""What happens to a tool's output on its way does not change what is read, and damage is never silent."""

from __future__ import annotations

import html
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from apps.evidence.engine import registry
from apps.evidence.engine.reading import Reading, Unreadable
from apps.evidence.engine.source import Source

CORPUS = Path(__file__).parents[3] / "corpus"
KINDS = {
    name: entry["kind"]
    for name, entry in yaml.safe_load((CORPUS / "expected.yaml").read_text())["files"].items()
}
OWN = ("collect_env", "nvidia_smi_nvlink", "nvidia_smi_q", "nvidia_smi_topo", "nvidia_smi_xml")
LARGEST = 80_000


def files_of(*kinds: str) -> list[str]:
    return [
        name for name, kind in KINDS.items() if kind in kinds and (CORPUS / name).stat().st_size < LARGEST
    ]


def shortest(*kinds: str) -> list[str]:
    """Three files of each kind, the shortest ones."""
    by_size = sorted(KINDS, key=lambda name: (CORPUS / name).stat().st_size)
    return [name for kind in kinds for name in [one for one in by_size if KINDS[one] == kind][:3]]


@cache
def text_of(name: str) -> str:
    return (CORPUS / name).read_text()


@cache
def whole(name: str) -> Reading:
    return registry.read(Source.of_text(text_of(name)), kind=KINDS[name])


def every_line(change: Callable[[str], str]) -> Callable[[str], bytes]:
    return lambda text: "\n".join(change(line) for line in text.split("\n")).encode()


DRESSES: dict[str, Callable[[str], bytes]] = {
    "CRLF": lambda text: text.replace("\n", "\r\n").encode(),
    "CRLF, converted twice": lambda text: text.replace("\n", "\r\r\n").encode(),
    "UTF-8 with a mark": lambda text: text.encode("utf-8-sig"),
    "UTF-16 with a mark": lambda text: text.encode("utf-16"),
    "UTF-16 of PowerShell": lambda text: text.replace("\n", "\r\n").encode("utf-16-le"),
    "NUL bytes": every_line(lambda line: f"\x00{line}\x00"),
    "colours": every_line(lambda line: f"\x1b[32m{line}\x1b[0m\x1b[K"),
    "trailing blanks": every_line(lambda line: line + " " * 40),
    "srun -l": every_line(lambda line: f"3: {line}"),
    "mpirun --tag-output": every_line(lambda line: f"[1,0]<stdout>:{line}"),
    "kubectl --timestamps": every_line(lambda line: f"2025-01-21T04:41:44.283302123Z {line}"),
    "the file of a container": every_line(lambda line: f"2025-01-21T04:41:44.283302123Z stdout F {line}"),
    "docker compose": every_line(lambda line: f"bench-worker-0  | {line}"),
    "Ray": every_line(lambda line: f"\x1b[36m(Worker pid=7, ip=192.0.2.1)\x1b[0m {line}"),
    "Ray's own service": every_line(lambda line: f"\x1b[33m(raylet, ip=192.0.2.1)\x1b[0m {line}"),
    "Ray without a name": every_line(lambda line: f"(pid=936) {line}"),
    "pdsh": every_line(lambda line: f"sn01: {line}"),
    "pdsh of tasks": every_line(lambda line: f"sn01: 3: {line}"),
    "a relay of syslog": every_line(lambda line: f"Nov 30 07:13:04 sn01 collector[7]: {line}"),
    "a quotation": every_line(lambda line: f"> {line}"),
    "a code fence": lambda text: f"### Output\n\n```text\n{text}\n```\n".encode(),
    "HTML": lambda text: (
        f"<details><summary>Output</summary><pre>{html.escape(text)}</pre></details>".encode()
    ),
    "a shell session": lambda text: f"user@node-7:~$ run-the-tool\n{text}\nuser@node-7:~$ exit\n".encode(),
}


@pytest.mark.parametrize("dress", DRESSES)
@pytest.mark.parametrize("name", shortest(*OWN))
def test_the_way_it_was_pasted_changes_nothing(name: str, dress: str) -> None:
    source = Source.of_bytes(DRESSES[dress](text_of(name)))
    assert registry.recognise(source) == KINDS[name]
    assert registry.read(source).facts == whole(name).facts


def lost_only(part: Any, complete: Any) -> bool:
    """Nothing is in `part` that is not in `complete`; it may say less."""
    if part is None or part == complete:
        return True
    if isinstance(part, dict) and isinstance(complete, dict):
        return all(key in complete and lost_only(value, complete[key]) for key, value in part.items())
    if isinstance(part, list) and isinstance(complete, list):
        rest = iter(complete)
        return all(any(lost_only(value, other) for other in rest) for value in part)
    return False


def assert_honest(text: str, name: str, *, except_for: tuple[str, ...] = ()) -> None:
    """Refused, or with a warning that the whole file does not have, or nothing wrong in it."""
    try:
        reading = registry.read(Source.of_text(text), kind=KINDS[name])
    except Unreadable as refused:
        assert "\n" not in refused.message
        return
    new = {warning.code for warning in reading.warnings} - {warning.code for warning in whole(name).warnings}
    wrong = {
        key: (value, whole(name).facts.get(key))
        for key, value in reading.facts.items()
        if key not in ("has_topology_matrix", *except_for)  # speaks of the file, not of the node
        and not lost_only(value, whole(name).facts.get(key))
    }
    assert new or wrong == {}


# Cut already, and lists that may begin and end anywhere, as nothing else in the file tells how long they are.
OPEN_ENDED = {
    "nvidia-smi-nvlink/h200x1-status.txt",
    "nvidia-smi-nvlink/a100-one-gpu-inactive.txt",
    "collect-env/rtx3090x3-torch1.12.1.txt",
    "collect-env/gtx1080-torch0.5-2018.txt",
}
damaged = settings(
    max_examples=100, deadline=None, suppress_health_check=list(HealthCheck), database=None, derandomize=True
)
names = st.sampled_from([name for name in files_of(*OWN) if name not in OPEN_ENDED])
places = st.lists(st.floats(0, 1, exclude_max=True), min_size=1, max_size=4)


@damaged
@given(name=names, places=places)
def test_lost_lines_leave_nothing_wrong_unsaid(name: str, places: list[float]) -> None:
    lines = text_of(name).split("\n")
    lost = {int(place * len(lines)) for place in places}
    assert_honest("\n".join(line for number, line in enumerate(lines) if number not in lost), name)


@damaged
@given(name=names, places=places)
def test_doubled_lines_leave_nothing_wrong_unsaid(name: str, places: list[float]) -> None:
    lines = text_of(name).split("\n")
    for place in places:
        number = int(place * len(lines))
        lines.insert(number, lines[number])
    assert_honest("\n".join(lines), name)


@damaged
@given(name=names, other=names, places=st.lists(st.floats(0, 1, exclude_max=True), min_size=3, max_size=40))
def test_lines_of_another_report_leave_nothing_wrong_unsaid(
    name: str, other: str, places: list[float]
) -> None:
    lines = text_of(name).split("\n")
    foreign = text_of(other).split("\n")
    inserted = sorted(int(place * len(lines)) for place in places)
    start = int(places[0] * len(foreign))
    for shift, number in enumerate(inserted):
        lines.insert(number + shift, foreign[(start + shift) % len(foreign)])
    if KINDS[name] == KINDS[other]:
        assert_readable_or_refused("\n".join(lines), KINDS[name])
    else:
        assert_honest("\n".join(lines), name)


@damaged
@given(name=names, places=places, mark=st.sampled_from(["", "sn02: ", "sn01:"]))
def test_marks_of_hosts_that_are_lost_or_mixed_leave_nothing_wrong_unsaid(
    name: str, places: list[float], mark: str
) -> None:
    lines = text_of(name).split("\n")
    odd = {int(place * len(lines)) for place in places}
    marked = (f"{mark if number in odd else 'sn01: '}{line}" for number, line in enumerate(lines))
    assert_honest("\n".join(marked), name)


def assert_readable_or_refused(text: str, kind: str) -> None:
    try:
        registry.read(Source.of_text(text), kind=kind)
    except Unreadable as refused:
        assert refused.message


@damaged
@given(name=names.filter(lambda name: not name.startswith("nvidia-smi-nvlink/")), share=st.floats(0, 1))
def test_a_cut_leaves_nothing_wrong_unsaid(name: str, share: float) -> None:
    text = text_of(name)
    # Nothing tells that the value of the last variable of the environment is cut.
    assert_honest(text[: int(len(text) * share)], name, except_for=("env", "nccl_env", "nccl_image"))


NOISE = (
    "WARNING: noise",
    "[node-1:4711] PMIX ERROR: ERROR in file gds.c at line 168",
    "srun: error: node-2: task 3: Killed",
    "host:1:1 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[1] via P2P/IPC",
    "",
    "...",
    "\ufffd\ufffd",
)


@damaged
@given(name=names, places=places, noise=st.sampled_from(NOISE))
def test_noise_between_lines_leaves_nothing_wrong_unsaid(name: str, places: list[float], noise: str) -> None:
    lines = text_of(name).split("\n")
    for place in places:
        lines.insert(int(place * len(lines)), noise)
    assert_honest("\n".join(lines), name)


@damaged
@given(
    kind=st.sampled_from(sorted(registry.all_parsers())),
    name=st.sampled_from(files_of(*KINDS.values())),
    cut=st.tuples(st.floats(0, 1), st.floats(0, 1)),
    bits=st.binary(max_size=40),
)
def test_no_parser_does_more_than_refuse_what_it_does_not_know(
    kind: str, name: str, cut: tuple[float, float], bits: bytes
) -> None:
    data = (CORPUS / name).read_bytes()
    first, last = sorted(int(share * len(data)) for share in cut)
    source = Source.of_bytes(data[:first] + bits + data[last:])
    try:
        reading = registry.read(source, kind=kind)
    except Unreadable as refused:
        assert refused.message
        assert "\n" not in refused.message
    else:
        assert reading.kind == kind
