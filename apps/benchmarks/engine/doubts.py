"""Which warnings of a reading speak against a run's figures, and against which of the runs of a file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from apps.benchmarks.engine.acceptance import DOUBTS

_BLOCKING = {reason.value: rank for rank, reason in enumerate(DOUBTS)}


def doubts_of_run(
    points: Sequence[Mapping[str, Any]],
    warnings: Sequence[Mapping[str, Any]],
    *,
    lines_of_others: Sequence[int] = (),
) -> list[dict[str, str]]:
    """The warnings that speak against one run, gravest first, each code once.

    points: rows of the run, with the `line` that each stood on. warnings: of the whole reading, with `code`,
    `message` and a `line` where they are about one row. lines_of_others: lines of rows of the file's other runs;
    a warning about one of these is left to its own run, and one about no row at all concerns every run.
    """
    own = {point.get("line") for point in points}
    foreign = set(lines_of_others) - own
    found: dict[str, str] = {}
    for warning in warnings:
        code = str(warning.get("code", ""))
        if code in _BLOCKING and warning.get("line") not in foreign:
            found.setdefault(code, str(warning.get("message", "")))
    return [{"code": code, "message": found[code]} for code in sorted(found, key=_BLOCKING.__getitem__)]
