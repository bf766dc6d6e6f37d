"""Verdicts: pass, warn, fail, unknown, waived, and how several become one. Unknown never becomes pass."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum


class Verdict(StrEnum):
    PASS = "pass"
    WARN = "warn"
    FAIL = "fail"
    UNKNOWN = "unknown"
    WAIVED = "waived"


_WEIGHT = (Verdict.FAIL, Verdict.UNKNOWN, Verdict.WARN, Verdict.WAIVED, Verdict.PASS)


def combine(verdicts: Iterable[Verdict]) -> Verdict:
    """The verdict of several: fail > unknown > warn > waived > pass; of none at all, unknown.

    What does not apply is left out by the caller.
    """
    present = set(verdicts)
    for verdict in _WEIGHT:
        if verdict in present:
            return verdict
    return Verdict.UNKNOWN


VERDICT_CHOICES = [(verdict.value, verdict.value) for verdict in Verdict]
