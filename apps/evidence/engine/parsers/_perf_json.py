"""The JSON file that nccl-tests writes with -J (version 2.17 and newer): the same figures, unrounded."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Any

from apps.core.texts import say
from apps.evidence.engine.parsers._perf_rows import Group, Row, number
from apps.evidence.engine.parsers._perf_runs import MOST_ROWS, Rank, Run, program_in
from apps.evidence.engine.reading import Unreadable
from apps.evidence.engine.source import Source

_CONFIG = {
    "n_thread": "nthreads",
    "n_gpus": "ngpus",
    "min_bytes_asked": "minimum_bytes",
    "max_bytes_asked": "maximum_bytes",
    "warmup_iters": "warmup_iters",
    "iters": "iterations",
    "validation": "validation",
}


def is_json(sample: str) -> bool:
    named = '"alg_bw"' in sample or '"nccl_version"' in sample
    return named and '"config"' in sample and sample.lstrip().startswith("{")


def read_run(source: Source) -> Run:
    """The run that the file describes. Raises Unreadable for JSON that is cut or of another shape."""
    try:
        document = json.loads(source.text())
    except (ValueError, RecursionError) as error:
        raise Unreadable(say("the JSON of nccl-tests is cut or damaged"), code="damaged_json") from error
    if not isinstance(document, dict):
        raise Unreadable(say("the JSON is not that of nccl-tests"), code="not_nccl_tests_json")
    run = Run(tool="nccl-tests", library_code=_whole(document.get("nccl_version")))
    config = _mapping(document.get("config"))
    run.settings = {
        key: value for key, name in _CONFIG.items() if (value := _whole(config.get(name))) is not None
    }
    arguments = document.get("args")
    program = PurePosixPath(str(arguments[0])).name if isinstance(arguments, list) and arguments else ""
    run.starting = program_in(program)
    _read_ranks(run, config.get("devices"))
    per_process = (run.settings.get("n_thread") or 1) * (run.settings.get("n_gpus") or 1)
    run.unlisted_ranks = max(0, per_process - 1)  # of each process only the first rank is listed
    _read_rows(run, document.get("results"))
    run.out_of_bounds = _whole(_mapping(document.get("out_of_bounds")).get("count"))
    average = _mapping(document.get("average_bus_bandwidth")).get("bandwidth")
    if average is not None:
        run.averages = [_figure(average)]
    return run


def _read_ranks(run: Run, devices: Any) -> None:
    for number_, device in enumerate(_list(devices)):
        rank, pid, ordinal = (_whole(device.get(key)) for key in ("rank", "pid", "device"))
        if rank is None:
            run.warn(
                "rank_not_understood", say("device %(number)s of the list has no rank", number=number_ + 1)
            )
            continue
        host, bus, gpu = (str(device.get(key) or "") for key in ("hostname", "device_hex", "device_info"))
        run.ranks.append(Rank(rank, pid or 0, host, -1 if ordinal is None else ordinal, bus.lower(), gpu))
        if rank == 0:
            run.first_ranks.add((host, pid or 0))


def _read_rows(run: Run, results: Any) -> None:
    for position, result in enumerate(_list(results), start=1):
        size, count = _whole(result.get("size")), _whole(result.get("count"))
        if size is None or count is None:
            run.warn(
                "row_not_understood", say("result %(position)s has no size or no count", position=position)
            )
        elif len(run.rows) >= MOST_ROWS:
            run.rows_left_out += 1
        else:
            run.rows.append(
                Row(
                    line=position,
                    size_bytes=size,
                    count=count,
                    dtype=str(result.get("type")),
                    redop=str(result.get("redop")).strip() or None,
                    root=_whole(result.get("root")),
                    out_of_place=_group(result.get("out_of_place")),
                    in_place=_group(result.get("in_place")),
                )
            )


def _group(value: Any) -> Group:
    cells = _mapping(value)
    wrong = _figure(cells.get("nwrong"))
    return Group(
        time_us=_figure(cells.get("time", cells.get("cpu_time"))),
        algbw_gbps=_figure(cells.get("alg_bw")),
        busbw_gbps=_figure(cells.get("bus_bw")),
        wrong=int(wrong) if wrong is not None and wrong == int(wrong) else wrong,
    )


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: Any) -> list[Mapping[str, Any]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _figure(value: Any) -> float | None:
    return None if value is None or isinstance(value, bool) else number(str(value))


def _whole(value: Any) -> int | None:
    """A whole number, also one in quotes; None for anything else."""
    text = str(value).strip()
    return int(text) if re.fullmatch(r"-?\d{1,18}", text) else None
