"""Output of hccl_test, Ascend's collective benchmark: size, time, algorithm bandwidth and check result.

It prints neither ranks nor bus bandwidth. What it calls GB/s is 2^30 bytes per second in newer versions and
10^9 in older ones; figures stay as printed and `bandwidth_base_bytes` says which it is.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from apps.core.texts import say
from apps.evidence.engine.reading import Reading, ReadingWarning, Unreadable
from apps.evidence.engine.source import Source

KIND = "hccl_test"
VERSION = 2

_MOST_ROWS = 20_000
_MOST_RUNS = 500
_MOST_WARNINGS = 50
_NUMBER = r"\d{1,15}(?:[.,]\d{1,12})?(?:e[+-]?\d{1,3})?"
_ROW = re.compile(
    rf"(?<![\w.,|])(\d{{1,18}}) ?\| ?({_NUMBER}|-?nan|-?inf) ?\| ?({_NUMBER}|-?nan|-?inf) ?\| ?([A-Za-z]\w{{0,30}})"
)
_HALF_ROW = re.compile(rf"(?:^|[ :])\d{{1,18}} ?\| ?{_NUMBER}|\| ?{_NUMBER} ?\| ?\w+$")
_HEADER = re.compile(r"data_size\(Bytes\).{0,5}\|.{0,5}\bave?ge?_time\(us\).{0,5}\|", re.IGNORECASE)
_SETTINGS = {
    "min_bytes_asked": re.compile(r"\bminbytes is (\d{1,18})\b"),
    "max_bytes_asked": re.compile(r"\bmaxbytes is (\d{1,18})\b"),
    "iters": re.compile(r"(?<!warmup_)\biters is (\d{1,18})\b"),
    "warmup_iters": re.compile(r"\bwarmup_iters is (\d{1,18})\b"),
}
_RETCODE = re.compile(r"retcode: ?(-?\d{1,9})")
_ERROR = re.compile(r"hccl interface return err|acl interface return err|This is an error in|\bError:", re.I)
_PROGRAM = re.compile(
    r"(?<![A-Za-z0-9_])(all_reduce|all_gather|alltoallv|alltoall|broadcast|reduce_scatter|reduce|scatter)_test\b"
)


@dataclass(slots=True)
class _Run:
    settings: dict[str, int] = field(default_factory=dict)
    programs: dict[str, None] = field(default_factory=dict)
    points: list[dict[str, Any]] = field(default_factory=list)
    header: bool = False
    retcode: int | None = None
    errors: int = 0
    rows_left_out: int = 0
    warnings: list[ReadingWarning] = field(default_factory=list)

    def warn(self, code: str, message: str, line: int | None = None, text: str = "") -> None:
        if len(self.warnings) < _MOST_WARNINGS:
            self.warnings.append(ReadingWarning(code=code, message=message, line=line, text=text[:200]))


def recognise(sample: str) -> int:
    squeezed = re.sub(r"[ \t]+", " ", sample)
    if _HEADER.search(squeezed) or re.search(r"minbytes is \d+, maxbytes is \d+", squeezed):
        return 95
    return 60 if "hccl interface return err" in sample else 0


def read(source: Source) -> Reading:
    """Raises Unreadable where neither heading nor row nor error of the tool is there."""
    runs = [_Run()]
    for line in source.lines():
        text = " ".join(line.text.split())[:1000]
        if text:
            _take(runs, line.number, text)
    found = [run for run in runs if run.points or run.settings or run.errors or run.header]
    if not found:
        raise Unreadable(say("no output of hccl_test was found"), code="no_runs")
    facts = [_facts(run) for run in found]
    chosen = max(
        range(len(found)), key=lambda i: (facts[i]["status"] == "complete", bool(found[i].points), -i)
    )
    warnings = [warning for run in found for warning in run.warnings]
    top = dict(facts[chosen])
    if len(found) > 1:
        top["runs"] = facts
        message = say(
            "the file holds %(count)s runs; the facts are those of run %(chosen)s",
            count=len(found),
            chosen=chosen + 1,
        )
        warnings.insert(0, ReadingWarning(code="several_runs", message=message))
    return Reading(kind=KIND, facts=top, warnings=tuple(warnings), parser_version=VERSION)


def _take(runs: list[_Run], number: int, text: str) -> None:
    run = runs[-1]
    settings = {
        key: int(found.group(1)) for key, pattern in _SETTINGS.items() if (found := pattern.search(text))
    }
    header = bool(_HEADER.search(text))
    program = _PROGRAM.search(text)
    done = bool(run.points or run.errors)
    if done and len(runs) < _MOST_RUNS and (settings or header or (program and not _ERROR.search(text))):
        run = _Run()
        runs.append(run)
    run.header |= header
    run.settings |= settings
    if program:
        run.programs[program.group(1)] = None
    if found := _ROW.search(text):
        _take_row(run, number, found)
    elif _ERROR.search(text):
        run.errors += 1
        if code := _RETCODE.search(text):
            run.retcode = int(code.group(1)) if run.retcode is None else run.retcode
        if run.errors == 1:
            run.warn("errors_in_output", say("the output holds lines with errors"), number, text)
    elif run.header and not header and _HALF_ROW.search(text):
        run.warn("row_not_understood", say("this row of the table could not be read"), number, text)


def _take_row(run: _Run, number: int, found: re.Match[str]) -> None:
    size, time, bandwidth, check = found.groups()
    if len(run.points) >= _MOST_ROWS:
        run.rows_left_out += 1
        return
    if "," in time + bandwidth:
        run.warn(
            "decimal_comma", say("a number is written with a comma, which was read as decimal point"), number
        )
    if check.lower() not in ("success", "null"):
        run.warn(
            "wrong_data", say("the check of this row says %(check)s", check=check), number, found.group(0)
        )
    if (
        run.points
        and run.points[-1]["size_bytes"] == int(size)
        and run.points[-1]["time_us"] == _figure(time)
    ):
        run.warn("row_repeated", say("this row is there twice"), number, found.group(0))
    run.points.append(
        {
            "line": number,
            "size_bytes": int(size),
            "time_us": _figure(time),
            "algbw_gbps": _figure(bandwidth),
            "check_result": check,
        }
    )


def _figure(text: str) -> float | None:
    value = float(text.replace(",", "."))
    return value if abs(value) < float("inf") else None


def _fitting_bases(point: dict[str, Any]) -> list[int]:
    """2^30 or 10^9, whichever makes size over time the printed bandwidth; both where digits are too few."""
    size, time_us, bandwidth = point["size_bytes"], point["time_us"], point["algbw_gbps"]
    if not time_us or not bandwidth:
        return [2**30, 10**9]
    slack = 0.0005 + 0.00001 / bandwidth + 0.006 / time_us
    return [base for base in (2**30, 10**9) if abs(size / time_us * 1e6 / base / bandwidth - 1) <= slack]


def _checked_base(run: _Run) -> int | None:
    """The base that most rows agree on; rows that contradict it are warned of."""
    fitting = [_fitting_bases(point) for point in run.points]
    counts = Counter(bases[0] for bases in fitting if len(bases) == 1)
    base = counts.most_common(1)[0][0] if counts else None
    for point, bases in zip(run.points, fitting, strict=True):
        if point["time_us"] is None or point["algbw_gbps"] is None:
            run.warn("figure_unreadable", say("a figure of this row is nan or inf"), point["line"])
        elif not bases or base not in (None, *bases):
            message = say("size over time is not the bandwidth of this row")
            run.warn("algbw_contradicts_time", message, point["line"])
    return base


def _facts(run: _Run) -> dict[str, Any]:
    base = _checked_base(run)
    if run.rows_left_out:
        run.warn(
            "rows_left_out",
            say(
                "rows left out, because the file holds too many: %(rows_left_out)s",
                rows_left_out=run.rows_left_out,
            ),
        )
    if len(run.programs) > 1:
        run.warn(
            "collective_ambiguous",
            say("the text names several collectives: %(programs)s", programs=", ".join(run.programs)),
        )
    largest = max(run.points, key=lambda point: point["size_bytes"], default=None)
    is_whole = bool(run.points) and not _lacks_sizes(run)
    return {
        "tool": "hccl_test",
        "collective": next(iter(run.programs)) if len(run.programs) == 1 else None,
        **{key: run.settings.get(key) for key in _SETTINGS},
        "ranks": None,
        "rows": len(run.points),
        "max_size_bytes": largest["size_bytes"] if largest else None,
        "time_us_at_max": largest["time_us"] if largest else None,
        "algbw_gbps_at_max": largest["algbw_gbps"] if largest else None,
        "bandwidth_base_bytes": base,
        "check_results": dict(Counter(point["check_result"] for point in run.points)),
        "status": "failed" if run.errors or not run.points else "complete" if is_whole else "incomplete",
        "retcode": run.retcode,
        "points": run.points,
    }


def _lacks_sizes(run: _Run) -> bool:
    """Whether the size that comes next is still within what was asked for; warns where it is."""
    sizes, asked = [point["size_bytes"] for point in run.points], run.settings.get("max_bytes_asked")
    if asked is None or run.rows_left_out or _next_size(sizes) > asked:
        return False
    run.warn(
        "rows_missing",
        say(
            "sizes up to %(asked)s bytes were asked for, the last one here is %(largest)s: the output was cut",
            asked=asked,
            largest=sizes[-1],
        ),
        run.points[-1]["line"],
    )
    return True


def _next_size(sizes: list[int]) -> int:
    """The size after the last one: as much larger as the last three differ equally, else as many times (2 at first)."""
    if len(sizes) > 2 and sizes[-1] - sizes[-2] == sizes[-2] - sizes[-3]:
        return 2 * sizes[-1] - sizes[-2]
    if len(sizes) > 1 and sizes[-2]:
        return sizes[-1] * sizes[-1] // sizes[-2]
    return 2 * sizes[-1]
