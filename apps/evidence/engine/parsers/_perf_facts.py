"""Facts of a run of nccl-tests or its relatives, from the text and from the JSON file alike."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from apps.core.texts import say
from apps.evidence.engine.parsers import _perf_checks as checks
from apps.evidence.engine.parsers._perf_rows import Row
from apps.evidence.engine.parsers._perf_runs import Run
from apps.evidence.engine.reading import Reading, ReadingWarning, Unreadable

_SETTINGS = (
    "n_thread",
    "n_gpus",
    "min_bytes_asked",
    "max_bytes_asked",
    "warmup_iters",
    "iters",
    "validation",
)
_NO_REDUCTION = ("all_gather", "alltoall", "broadcast", "gather", "scatter", "sendrecv")
_REDUCTION = ("all_reduce", "reduce", "reduce_scatter")
_MOST_WRONG = 2**53  # what is above has no meaning, and no column holds it


def reading(kind: str, version: int, runs: Sequence[Run], *, tool: str) -> Reading:
    """The reading of a file. Its facts are those of the first complete run, else of the first with rows.

    Raises Unreadable where there is no run at all.
    """
    if not runs:
        raise Unreadable(say("no output of %(tool)s was found", tool=tool), code="no_runs")
    each = [(run, *_facts(run, tool)) for run in runs]
    chosen = max(range(len(each)), key=lambda i: (_RANKING[each[i][1]["status"]], bool(each[i][0].rows), -i))
    facts = dict(each[chosen][1])
    warnings = [warning for _, _, found in each for warning in found]
    if len(each) > 1:
        facts["runs"] = [run_facts for _, run_facts, _ in each]
        warnings.insert(
            0,
            ReadingWarning(
                code="several_runs",
                message=say(
                    "the file holds %(count)s runs; the facts are those of run %(chosen)s",
                    count=len(each),
                    chosen=chosen + 1,
                ),
            ),
        )
    return Reading(kind=kind, facts=facts, warnings=tuple(warnings), parser_version=version)


_RANKING = {"complete": 2, "no_summary": 1, "failed": 0}


def _facts(run: Run, tool: str) -> tuple[dict[str, Any], list[ReadingWarning]]:
    collective, warnings = _collective(run)
    ranks = run.rank_count
    facts = {
        "tool": run.tool or tool,
        "tool_version": run.tool_version,
        "library_code": run.library_code,
        "nccl_version_line": run.library_version,
        "collective": collective,
        "collective_candidates": _candidates(run, collective, ranks),
        **_rank_facts(run, ranks),
        **{key: run.settings.get(key) for key in _SETTINGS},
        **_row_facts(run),
        "avg_busbw_gbps": run.averages[-1] if run.averages else None,
        "out_of_bounds": run.out_of_bounds,
        "status": _status(run),
        "errors": [{"line": line, "text": text} for line, text in run.failures],
        "points": [row.facts() for row in run.rows],
    }
    if run.failure_count:
        warnings.append(
            ReadingWarning(
                code="errors_in_output",
                message=say(
                    "lines with errors in the output: %(failure_count)s", failure_count=run.failure_count
                ),
                line=run.failures[0][0] if run.failures else None,
                text=run.failures[0][1] if run.failures else "",
            )
        )
    warnings += [*checks.rank_checks(run), *checks.row_checks(run), *run.warnings]
    warnings += checks.summary_checks(run, collective=collective, ranks=ranks)
    return facts, warnings


def _status(run: Run) -> str:
    if not run.rows:
        return "failed"
    if run.averages:
        return "complete"
    return "failed" if run.failures else "no_summary"


def _collective(run: Run) -> tuple[str | None, list[ReadingWarning]]:
    """The collective that the text names for this run; None where it names none, or several."""
    names = [run.starting] if run.starting else run.commanded or list(dict.fromkeys(run.mentioned))
    if len(names) > 1:
        return None, [
            ReadingWarning(
                code="collective_ambiguous",
                message=say("the text names several collectives: %(names)s", names=", ".join(names)),
            )
        ]
    if not names and run.rows:
        return None, [
            ReadingWarning(code="collective_unknown", message=say("the text does not name the collective"))
        ]
    return (names[0] if names else None), []


def _candidates(run: Run, collective: str | None, ranks: int | None) -> list[str]:
    """Where the text names no collective: those that redop and busbw factor allow, to ask from."""
    if collective or not run.rows:
        return []
    redop = run.rows[0].redop
    names = _NO_REDUCTION if redop in (None, "none") else _REDUCTION
    printed = checks.printed_factor(run)
    if printed is None:
        return list(names)
    return [name for name in names if checks.allows(name, printed, ranks)]


def _rank_facts(run: Run, ranks: int | None) -> dict[str, Any]:
    numbers = {rank.rank for rank in run.ranks}
    whole = ranks is not None and len(numbers) == ranks and not run.rank_list_cut
    hosts: dict[str, list[int]] = {}
    for rank in run.ranks:
        hosts.setdefault(rank.host, []).append(rank.rank)
    models = list(dict.fromkeys(rank.gpu for rank in run.ranks if rank.gpu))
    return {
        "ranks": ranks,
        "rank_lines": len(run.ranks),
        "nodes": len(hosts) if whole else run.told_nodes,
        "gpu_model": models[0] if models else None,
        "gpu_models": models,
        "hosts": [{"name": name, "ranks": numbers} for name, numbers in hosts.items()],
        "devices": [
            {"rank": r.rank, "host": r.host, "device": r.device, "bus": r.bus, "gpu": r.gpu or None}
            for r in run.ranks
        ],
    }


def _row_facts(run: Run) -> dict[str, Any]:
    first = run.rows[0] if run.rows else None
    largest: Row | None = max(run.rows, key=lambda row: row.size_bytes, default=None)
    wrong = [g.wrong for row in run.rows for g in (row.out_of_place, row.in_place)]
    known = [value for value in wrong if value is not None]
    return {
        "dtype": first.dtype if first else None,
        "redop": first.redop if first else None,
        "rows": len(run.rows),
        "max_size_bytes": largest.size_bytes if largest else None,
        "oop_time_us_at_max": largest.out_of_place.time_us if largest else None,
        "oop_algbw_gbps_at_max": largest.out_of_place.algbw_gbps if largest else None,
        "oop_busbw_gbps_at_max": largest.out_of_place.busbw_gbps if largest else None,
        "ip_time_us_at_max": largest.in_place.time_us if largest else None,
        "ip_algbw_gbps_at_max": largest.in_place.algbw_gbps if largest else None,
        "ip_busbw_gbps_at_max": largest.in_place.busbw_gbps if largest else None,
        "wrong_total": min(sum(known), _MOST_WRONG) if known else None,
        "wrong_unknown_cells": len(wrong) - len(known),
    }
