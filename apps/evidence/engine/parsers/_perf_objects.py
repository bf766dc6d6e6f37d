"""The JSON that rccl-tests writes (-Z json): an object for each size and place, without a summary.

Objects are read one by one, so a list that is cut loses only its end.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from apps.core.texts import say
from apps.evidence.engine.parsers._perf_rows import Group, Row, number
from apps.evidence.engine.parsers._perf_runs import HIGHEST_COUNT, MOST_ROWS, Run
from apps.evidence.engine.source import Source

_OBJECT = re.compile(r"\{[^{}]{0,2000}\}")
_NOTHING = Group(time_us=None, algbw_gbps=None, busbw_gbps=None, wrong=None)
_COLLECTIVES = {
    "allreduce": "all_reduce",
    "allgather": "all_gather",
    "alltoall": "alltoall",
    "alltoallv": "alltoallv",
    "reducescatter": "reduce_scatter",
    "broadcast": "broadcast",
    "reduce": "reduce",
    "sendrecv": "sendrecv",
    "gather": "gather",
    "scatter": "scatter",
}


def are_in(sample: str) -> bool:
    return all(key in sample for key in ('"busBw"', '"algBw"', '"inPlace"'))


def runs_in(source: Source) -> list[Run]:
    """One run for each collective and number of ranks, in order."""
    runs: dict[tuple[str, int | None], Run] = {}
    rows: dict[tuple[Any, ...], int] = {}
    kept = 0
    for line, told in _objects(source):
        size, name = _count(told.get("size"), 2**63), str(told.get("name"))
        if size is None:
            continue
        ranks = _count(told.get("ranks"), HIGHEST_COUNT)
        run = runs.setdefault((name, ranks), Run(tool="rccl-tests", told_ranks=ranks))
        run.starting = _COLLECTIVES.get(name.lower())
        run.told_nodes = _count(told.get("nodes"), HIGHEST_COUNT)
        key = (name, ranks, told.get("numCycle"), size, str(told.get("type")), str(told.get("redop")))
        if key not in rows and kept >= MOST_ROWS:
            run.rows_left_out += 1
            continue
        if key not in rows:
            kept += 1
            rows[key] = len(run.rows)
            run.rows.append(_empty_row(line, size, told))
        run.rows[rows[key]] = _filled(run, run.rows[rows[key]], line, told)
    return list(runs.values())


def _objects(source: Source) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """Each object that holds a bandwidth, and the line on which it begins."""
    text = source.text()
    position, line = 0, 1
    for found in _OBJECT.finditer(text):
        line += text.count("\n", position, found.start())
        position = found.start()
        if '"busBw"' in found.group():
            try:
                yield line, json.loads(found.group())
            except ValueError:
                continue


def _count(value: Any, below: int) -> int | None:
    """A whole number that can be one of this kind; None for anything else."""
    return value if type(value) is int and 0 <= value < below else None


def _empty_row(line: int, size: int, told: Mapping[str, Any]) -> Row:
    return Row(
        line=line,
        size_bytes=size,
        count=None,
        dtype=str(told.get("type")),
        redop=str(told.get("redop")).strip() or None,
        root=None,
        out_of_place=_NOTHING,
        in_place=_NOTHING,
    )


def _filled(run: Run, row: Row, line: int, told: Mapping[str, Any]) -> Row:
    """The row with the figures of one place, in place or out of place."""
    in_place = told.get("inPlace") in (1, "1")
    if (row.in_place if in_place else row.out_of_place) is not _NOTHING:
        run.warn("row_repeated", say("this row is there twice"), line)
    group = _group(told)
    return replace(row, in_place=group) if in_place else replace(row, out_of_place=group)


def _group(told: Mapping[str, Any]) -> Group:
    wrong = _figure(told.get("wrong"))
    return Group(
        time_us=_figure(told.get("time")),
        algbw_gbps=_figure(told.get("algBw")),
        busbw_gbps=_figure(told.get("busBw")),
        wrong=int(wrong) if wrong is not None and wrong.is_integer() and wrong >= 0 else None,
    )


def _figure(value: Any) -> float | None:
    return None if value is None or isinstance(value, bool) else number(str(value))
