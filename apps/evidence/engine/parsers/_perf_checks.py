"""What looks wrong in a run of nccl-tests or its relatives: checks of the printed figures against each other.

Each row is checked three ways (size over time is algbw; size over count is the same multiple of the
element in all rows; busbw over algbw is a known factor), the whole run by its printed average.
A check finds damage and contradictions; it never replaces a figure.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from statistics import median

from apps.core.texts import say
from apps.evidence.engine.parsers._perf_rows import ELEMENT_BYTES, Group, Row
from apps.evidence.engine.parsers._perf_runs import Run
from apps.evidence.engine.reading import ReadingWarning

_MOST_PER_CHECK = 20
_PRECISE_GBPS = 2.0
_FACTOR_SLACK = 0.01


def _warning(code: str, message: str, line: int | None = None) -> ReadingWarning:
    return ReadingWarning(code=code, message=message, line=line)


def factor(collective: str, ranks: int) -> float:
    """busbw over algbw as nccl-tests defines it (its PERFORMANCE.md), for n ranks."""
    if collective == "all_reduce":
        return 2 * (ranks - 1) / ranks
    if collective in ("broadcast", "reduce", "sendrecv"):
        return 1.0
    return (ranks - 1) / ranks


def allows(collective: str, printed: float, ranks: int | None) -> bool:
    """Whether a printed factor can be that of the collective with so many ranks, or any number."""
    if ranks is not None and ranks > 1:
        return abs(printed - factor(collective, ranks)) <= _FACTOR_SLACK
    if collective == "all_reduce":
        return 1 - _FACTOR_SLACK <= printed < 2 + _FACTOR_SLACK
    if collective in ("broadcast", "reduce", "sendrecv"):
        return abs(printed - 1) <= _FACTOR_SLACK
    return 0.5 - _FACTOR_SLACK <= printed < 1 + _FACTOR_SLACK


def printed_factor(run: Run) -> float | None:
    """Median of busbw over algbw, over the groups whose algbw has enough digits; None where none has."""
    ratios = [
        group.busbw_gbps / group.algbw_gbps
        for row in run.rows
        for group in (row.out_of_place, row.in_place)
        if group.algbw_gbps and group.busbw_gbps is not None and group.algbw_gbps >= _PRECISE_GBPS
    ]
    return median(ratios) if ratios else None


def rank_checks(run: Run) -> Iterator[ReadingWarning]:
    """Independent runs, one rank, several ranks on one GPU, partitions, several GPU models."""
    ranks = [rank.rank for rank in run.ranks]
    if len(set(ranks)) < len(ranks):
        yield _warning(
            "independent_runs",
            say(
                "rank numbers repeat: several programs ran independently (built without MPI "
                "support?); this is no measurement across them"
            ),
        )
    if run.rank_count == 1:
        yield _warning("single_rank", say("one rank only: nothing was sent, the figures are no bandwidth"))
    if _shared_gpus(run):
        yield _warning(
            "ranks_share_gpu", say("several ranks run on one GPU: this is no measurement of links")
        )
    if any(" MIG " in f" {rank.gpu} " for rank in run.ranks):
        yield _warning("partitioned_gpu", say("a rank runs on a partition of a GPU (MIG)"))
    models = Counter(rank.gpu for rank in run.ranks if rank.gpu)
    if len(models) > 1:
        yield _warning(
            "mixed_gpu_models", say("GPUs of different models: %(models)s", models=", ".join(sorted(models)))
        )


def _shared_gpus(run: Run) -> bool:
    """Old versions print one byte of the bus id, or always 0x00: there the device number counts too."""
    places = Counter(
        (rank.host, rank.bus) if rank.bus.count(":") >= 2 else (rank.host, rank.bus, rank.device)
        for rank in {(rank.rank, rank.pid): rank for rank in run.ranks}.values()
    )
    return any(count > 1 for count in places.values())


def row_checks(run: Run) -> Iterator[ReadingWarning]:
    """Rows whose figures contradict each other, that are there twice, or whose data was wrong."""
    yield from _first(
        _algbw(run), "algbw_contradicts_time", say("size over time is not the algbw of this row")
    )
    yield from _first(
        _sizes(run), "size_contradicts_count", say("size and count of this row do not go together")
    )
    yield from _first(
        _busbw(run), "busbw_contradicts_algbw", say("busbw over algbw is not as in the other rows")
    )
    yield from _first(_repeated(run), "row_repeated", say("this row is there twice"))
    yield from _first(
        _descending(run), "sizes_descend", say("sizes descend here: rows of several sweeps are mixed")
    )
    yield from _first(_text_before(run), "text_before_row", say("other text stands in front of this row"))
    yield from _first(
        _unprintable(run), "figure_unreadable", say("a figure of this row is missing, nan or inf")
    )
    wrong = [
        row.line for row in run.rows if any((g.wrong or 0) >= 1 for g in (row.out_of_place, row.in_place))
    ]
    yield from _first(iter(wrong), "wrong_data", say("the collective delivered wrong data"))
    if run.out_of_bounds:
        yield _warning(
            "out_of_bounds", say("out of bounds values: %(out_of_bounds)s", out_of_bounds=run.out_of_bounds)
        )
    if any(row.decimal_comma for row in run.rows):
        yield _warning(
            "decimal_comma", say("numbers are written with a comma, which was read as decimal point")
        )
    if len({_operation(row) for row in run.rows}) > 1:
        yield _warning(
            "several_operations", say("the table holds sweeps of several types, operations or roots")
        )
    if run.rows_left_out:
        yield _warning(
            "rows_left_out",
            say(
                "rows left out, because the file holds too many: %(rows_left_out)s",
                rows_left_out=run.rows_left_out,
            ),
        )


def _first(lines: Iterator[int], code: str, message: str) -> Iterator[ReadingWarning]:
    for _, line in zip(range(_MOST_PER_CHECK), lines, strict=False):
        yield _warning(code, message, line)


def _algbw(run: Run) -> Iterator[int]:
    for row in run.rows:
        if not all(_agrees(row, group) for group in (row.out_of_place, row.in_place)):
            yield row.line


def _agrees(row: Row, group: Group) -> bool:
    """Whether size over time is algbw within what rounding of both allows; GB/s is bytes over 1000 µs."""
    if group.time_us is None or group.algbw_gbps is None:
        return True
    if group.time_us == 0:
        return row.size_bytes == 0 or group.algbw_gbps == 0
    computed = row.size_bytes / group.time_us / 1000
    slack = 0.0051 if group.algbw_gbps < 10_000 else 0.51
    time_slack = max(0.006 / group.time_us, 0.006) if group.time_us < 100_000 else 0.06
    return abs(computed - group.algbw_gbps) <= slack + computed * time_slack


def _sizes(run: Run) -> Iterator[int]:
    """Size is count × element × k bytes, and k (1, or the number of ranks) is the same in all rows."""
    multiples = {
        row.line: row.size_bytes / (row.count * ELEMENT_BYTES[row.dtype])
        for row in run.rows
        if row.count and row.dtype in ELEMENT_BYTES
    }
    usual = Counter(multiples.values()).most_common(1)
    for row in run.rows:
        multiple = multiples.get(row.line)
        odd = multiple is not None and (multiple != usual[0][0] or multiple % 1 != 0)
        if odd or (row.count is not None and (row.count == 0) != (row.size_bytes == 0)):
            yield row.line


def _busbw(run: Run) -> Iterator[int]:
    usual = printed_factor(run)
    for row in run.rows if usual else ():
        for group in (row.out_of_place, row.in_place):
            algbw, busbw = group.algbw_gbps, group.busbw_gbps
            if algbw is None or busbw is None or usual is None:
                continue
            if abs(busbw - usual * algbw) > 0.0051 * (1 + usual) + 0.005 * busbw:
                yield row.line
                break


def _descending(run: Run) -> Iterator[int]:
    return (
        row.line
        for before, row in pairwise(run.rows)
        if row.size_bytes < before.size_bytes and _operation(row) == _operation(before)
    )


def _operation(row: Row) -> tuple[object, ...]:
    """What is measured; with -d all, -o all or -r all, one table holds a sweep for each."""
    return (row.dtype, row.redop, row.root)


def _repeated(run: Run) -> Iterator[int]:
    for before, row in pairwise(run.rows):
        if row.size_bytes and _figures(row) == _figures(before):
            yield row.line


def _figures(row: Row) -> tuple[object, ...]:
    return (row.size_bytes, row.count, row.dtype, row.redop, row.root, row.out_of_place, row.in_place)


def _text_before(run: Run) -> Iterator[int]:
    return (row.line for row in run.rows if sum(map(str.isdigit, row.before)) > 24 or " NCCL " in row.before)


def _unprintable(run: Run) -> Iterator[int]:
    for row in run.rows:
        for group in (row.out_of_place, row.in_place):
            if None in (group.time_us, group.algbw_gbps, group.busbw_gbps):
                yield row.line
                break


def summary_checks(run: Run, *, collective: str | None, ranks: int | None) -> Iterator[ReadingWarning]:
    """Printed average against the rows, busbw factor against ranks and collective, CPU time."""
    if run.header and run.header.cpu_time:
        yield _warning("cpu_time", say("times are those of the CPU (-C 1); the bandwidths mean nothing"))
    busbw = [
        g.busbw_gbps for row in run.rows for g in (row.out_of_place, row.in_place) if g.busbw_gbps is not None
    ]
    average = run.averages[0] if len(run.averages) == 1 else None
    if average is not None and busbw and not run.rows_left_out:
        computed = sum(busbw) / len(busbw)
        if abs(computed - average) > 0.006 + 0.0005 * average:
            yield _warning(
                "average_contradicts_rows",
                say(
                    "the printed average %(average)s GB/s is not that of the rows (%(computed)s)",
                    average=f"{average:g}",
                    computed=f"{computed:.4g}",
                ),
            )
    yield from _factor_checks(run, collective=collective, ranks=ranks)


def _factor_checks(run: Run, *, collective: str | None, ranks: int | None) -> Iterator[ReadingWarning]:
    printed = printed_factor(run)
    if printed is None or ranks is None or ranks < 2 or run.programs > 1:
        return
    names = [collective] if collective else ["all_reduce", "broadcast", "all_gather"]
    if not any(allows(name, printed, ranks) for name in names):
        yield _warning(
            "factor_contradicts",
            say(
                "busbw is %(printed)s × algbw, which is not the factor of %(collective)s with "
                "%(ranks)s ranks",
                printed=f"{printed:.4g}",
                collective=collective or say("any collective"),
                ranks=ranks,
            ),
        )
