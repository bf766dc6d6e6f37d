"""Logs arrive dressed (prefixes, encodings, colours) and damaged (cut, doubled, mixed lines); both must read safely.

Dressing changes no fact. Damage raises nothing but Unreadable, and no figure of a table changes without a warning.
"""

from __future__ import annotations

import json
import re
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

CORPUS = Path(__file__).parents[4] / "corpus"
KINDS = (
    "nccl_tests",
    "rccl_tests",
    "hccl_test",
    "nccl_debug_log",
    "kernel_log",
    "dcgm_metrics",
    "dcgmi_diag",
    "ibstat",
    "ibstatus",
    "ibv_devinfo",
)
EXPECTED: dict[str, dict[str, Any]] = {
    name: entry
    for name, entry in yaml.safe_load((CORPUS / "expected.yaml").read_text())["files"].items()
    if entry["kind"] in KINDS
}
MEASURED = ("nccl_tests", "rccl_tests", "hccl_test")
FIGURES = tuple(name for name, entry in EXPECTED.items() if entry["kind"] in MEASURED)
TABLES = tuple(name for name, entry in EXPECTED.items() if entry["kind"] in ("nccl_tests", "rccl_tests"))


@cache
def corpus_text(name: str) -> str:
    return (CORPUS / name).read_text()


def each_line(change: Callable[[str], str]) -> Callable[[str], bytes]:
    return lambda text: "".join(f"{change(line)}\n" for line in text.splitlines()).encode()


DRESSINGS: dict[str, Callable[[str], bytes]] = {
    "carriage returns": lambda text: text.replace("\n", "\r\n").encode(),
    "UTF-8 with a byte order mark": lambda text: text.encode("utf-8-sig"),
    "UTF-16 with a byte order mark": lambda text: text.encode("utf-16"),
    "UTF-16 big-endian without a mark": lambda text: text.encode("utf-16-be"),
    "NUL bytes at line ends": each_line(lambda line: f"{line}\x00"),
    "colours": each_line(lambda line: f"\x1b[32m{line}\x1b[0m"),
    "trailing blanks": each_line(lambda line: f"{line}   "),
    "tags of mpirun": each_line(lambda line: f"[1,0]<stdout>:{line}"),
    "labels of srun": each_line(lambda line: f"0: {line}"),
    "marks of a quotation": each_line(lambda line: f"> {line}"),
    "a code fence": lambda text: f"```\n{text}```\n".encode(),
}
TIMES = each_line(lambda line: f"2026-03-01T10:00:00.123456Z {line}")
NO_LINE_COUNT = "lines"


@pytest.mark.parametrize("name", EXPECTED)
@pytest.mark.parametrize("dressing", DRESSINGS)
def test_dressing_changes_no_fact(name: str, dressing: str) -> None:
    reading = registry.read(Source.of_bytes(DRESSINGS[dressing](corpus_text(name))))
    wanted = {key: value for key, value in EXPECTED[name]["facts"].items() if key != NO_LINE_COUNT}
    assert reading.kind == EXPECTED[name]["kind"]
    assert {key: reading.facts.get(key) for key in wanted} == wanted


@pytest.mark.parametrize("name", [name for name in EXPECTED if EXPECTED[name]["kind"] != "kernel_log"])
def test_time_stamps_of_a_collector_change_no_fact(name: str) -> None:
    reading = registry.read(Source.of_bytes(TIMES(corpus_text(name))))
    wanted = EXPECTED[name]["facts"]
    assert {key: reading.facts.get(key) for key in wanted} == wanted


@pytest.mark.parametrize("name", [name for name in EXPECTED if EXPECTED[name]["kind"] == "kernel_log"])
def test_time_stamps_of_a_collector_lose_no_xid(name: str) -> None:
    reading = registry.read(Source.of_bytes(TIMES(corpus_text(name))))
    for key in ("xid_counts", "xid_by_pci", "sxid_lines", "sxid_link_faults"):
        assert reading.facts[key] == EXPECTED[name]["facts"][key]


@pytest.mark.parametrize("name", [name for name in TABLES if EXPECTED[name]["facts"]["rows"]])
def test_decimal_commas_are_read_as_points_and_said_so(name: str) -> None:
    table = "\n".join(
        line.replace(".", ",") if re.search(r"\d +\d+ +(?:float|half|uint32) ", line) else line
        for line in corpus_text(name).splitlines()
    )
    reading = registry.read(Source.of_text(table))
    wanted = EXPECTED[name]["facts"]
    assert {key: reading.facts.get(key) for key in wanted} == wanted
    assert "decimal_comma" in codes(reading)


def codes(reading: Reading) -> set[str]:
    return {warning.code for warning in reading.warnings}


LINE_DAMAGE = st.sampled_from(("cut left", "cut right", "double", "drop", "swap", "commas", "colour", "nul"))
DAMAGE = st.lists(st.tuples(LINE_DAMAGE, st.floats(0, 1), st.floats(0, 1)), min_size=1, max_size=6)


def damaged(text: str, damage: list[tuple[str, float, float]]) -> str:
    lines = text.splitlines()
    for kind, where, how_far in damage:
        if len(lines) < 2:
            break
        at = min(int(where * len(lines)), len(lines) - 2)
        line = lines[at]
        middle = int(how_far * len(line))
        replacement = {
            "cut left": [line[middle:]],
            "cut right": [line[:middle]],
            "double": [line, line],
            "drop": [],
            "swap": [lines[at + 1], line],
            "commas": [line.replace(".", ",")],
            "colour": [f"{line[:middle]}\x1b[1;31m{line[middle:]}"],
            "nul": [f"{line[:middle]}\x00{line[middle:]}"],
        }[kind]
        lines[at : at + (2 if kind == "swap" else 1)] = replacement
    return "\n".join(lines)


def read_or_refuse(text: str, kind: str) -> Reading | None:
    try:
        reading = registry.read(Source.of_text(text), kind=kind)
    except Unreadable as error:
        assert error.message
        return None
    json.dumps(reading.facts, allow_nan=False)
    assert all(len(warning.text) <= 200 for warning in reading.warnings)
    return reading


@settings(max_examples=150, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
@given(name=st.sampled_from(tuple(EXPECTED)), damage=DAMAGE)
def test_damage_raises_nothing_but_unreadable(name: str, damage: list[tuple[str, float, float]]) -> None:
    read_or_refuse(damaged(corpus_text(name), damage), EXPECTED[name]["kind"])


@settings(max_examples=80, deadline=None, derandomize=True)
@given(name=st.sampled_from(tuple(EXPECTED)), noise=st.text(max_size=400), kind=st.sampled_from(KINDS))
def test_any_text_is_read_or_refused_by_any_parser(name: str, noise: str, kind: str) -> None:
    read_or_refuse(noise, kind)
    read_or_refuse(noise + corpus_text(name)[:2000] + noise, kind)


def figures(point: dict[str, Any]) -> str:
    return json.dumps({key: value for key, value in point.items() if key != "line"}, sort_keys=True)


@cache
def true_figures(name: str) -> frozenset[str]:
    return frozenset(map(figures, registry.read(Source.of_text(corpus_text(name))).facts["points"]))


@settings(max_examples=200, deadline=None, derandomize=True)
@given(name=st.sampled_from(FIGURES), damage=DAMAGE)
def test_no_figure_of_a_table_changes_without_a_warning(
    name: str, damage: list[tuple[str, float, float]]
) -> None:
    reading = read_or_refuse(damaged(corpus_text(name), damage), EXPECTED[name]["kind"])
    if reading is None:
        return
    runs = reading.facts.get("runs", [reading.facts])
    warned = {warning.line for warning in reading.warnings}
    for point in (point for run in runs for point in run["points"]):
        assert (
            figures(point) in true_figures(name)
            or point["line"] in warned
            or "decimal_comma" in codes(reading)
        )


@settings(max_examples=80, deadline=None, derandomize=True)
@given(
    first=st.sampled_from(TABLES), second=st.sampled_from(TABLES), turns=st.lists(st.booleans(), min_size=120)
)
def test_two_outputs_mixed_line_by_line_are_not_taken_for_one_good_run(
    first: str, second: str, turns: list[bool]
) -> None:
    sides = [corpus_text(first).splitlines(), corpus_text(second).splitlines()]
    if not all(any(" sum " in line or " none " in line for line in side) for side in sides):
        return
    mixed = [sides[turn].pop(0) for turn in turns if sides[turn]] + sides[0] + sides[1]
    reading = read_or_refuse("\n".join(mixed), EXPECTED[first]["kind"])
    assert reading is not None
    assert codes(reading) - {"collective_unknown"}
