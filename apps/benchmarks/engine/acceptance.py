"""Acceptance of a collective benchmark: bus bandwidth against the interconnect's theory.

Source of the limit: golden acceptance.min_busbw_share, 80 % of the one-way bandwidth of an accelerator.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from apps.core.verdicts import Verdict

MIN_BUSBW_SHARE = 0.80
TRUSTED_SIZE_BYTES = 1 << 30  # below this, latency still shapes the figure


class AcceptanceReason(StrEnum):
    """Why a run was accepted, or was not."""

    AS_FAST_AS_IT_SHOULD = "as_fast_as_it_should"
    TOO_SLOW = "too_slow"
    WRONG_RESULTS = "wrong_results"
    NOT_COMPLETE = "not_complete"
    NO_MEASUREMENT = "no_measurement"
    COLLECTIVE_UNKNOWN = "collective_unknown"
    THEORY_UNKNOWN = "theory_unknown"
    NOT_VALIDATED = "not_validated"
    SIZE_TOO_SMALL = "size_too_small"
    ABOVE_THEORY = "above_theory"
    LEAVES_DOMAIN = "leaves_domain"
    # What a reader of the output found against its figures; each of these makes the run no measurement.
    INDEPENDENT_RUNS = "independent_runs"
    SINGLE_RANK = "single_rank"
    RANKS_SHARE_GPU = "ranks_share_gpu"
    PARTITIONED_GPU = "partitioned_gpu"
    WRONG_DATA = "wrong_data"
    OUT_OF_BOUNDS = "out_of_bounds"
    FACTOR_CONTRADICTS = "factor_contradicts"
    ALGBW_CONTRADICTS_TIME = "algbw_contradicts_time"
    BUSBW_CONTRADICTS_ALGBW = "busbw_contradicts_algbw"
    SIZE_CONTRADICTS_COUNT = "size_contradicts_count"
    AVERAGE_CONTRADICTS_ROWS = "average_contradicts_rows"
    CPU_TIME = "cpu_time"
    SIZES_DESCEND = "sizes_descend"


DOUBTS = (
    AcceptanceReason.INDEPENDENT_RUNS,
    AcceptanceReason.SINGLE_RANK,
    AcceptanceReason.RANKS_SHARE_GPU,
    AcceptanceReason.PARTITIONED_GPU,
    AcceptanceReason.WRONG_DATA,
    AcceptanceReason.OUT_OF_BOUNDS,
    AcceptanceReason.FACTOR_CONTRADICTS,
    AcceptanceReason.ALGBW_CONTRADICTS_TIME,
    AcceptanceReason.BUSBW_CONTRADICTS_ALGBW,
    AcceptanceReason.SIZE_CONTRADICTS_COUNT,
    AcceptanceReason.AVERAGE_CONTRADICTS_ROWS,
    AcceptanceReason.CPU_TIME,
    AcceptanceReason.SIZES_DESCEND,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """What a run says at its largest size.

    busbw_bytes_per_s: the lower of out-of-place and in-place. wrong_total: wrong elements over all rows,
    None where nothing was checked. is_complete: the tool printed its summary. doubts: what speaks against the
    figures, gravest first. domain_ranks: accelerators of the domain, None where that is not known.
    """

    collective: str
    ranks: int | None
    size_bytes: int | None
    busbw_bytes_per_s: float | None
    wrong_total: int | None
    is_complete: bool
    doubts: tuple[AcceptanceReason, ...] = ()
    domain_ranks: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Acceptance:
    """A verdict with its parts. share: measured over theory, None where one of them is unknown."""

    verdict: Verdict
    reason: AcceptanceReason
    share: float | None = None
    needed_share: float = MIN_BUSBW_SHARE


def accept(run: Measured, *, theory_bytes_per_s: float | None) -> Acceptance:
    """Judge one run against the one-way bandwidth that an accelerator has into its domain, in bytes/s.

    What cannot be judged is unknown, and so are figures that something speaks against. Wrong results fail
    whatever the speed.
    """
    share = (
        run.busbw_bytes_per_s / theory_bytes_per_s if run.busbw_bytes_per_s and theory_bytes_per_s else None
    )

    def told(verdict: Verdict, reason: AcceptanceReason) -> Acceptance:
        return Acceptance(verdict=verdict, reason=reason, share=share)

    if run.wrong_total:
        return told(Verdict.FAIL, AcceptanceReason.WRONG_RESULTS)
    if run.doubts:
        return told(Verdict.UNKNOWN, run.doubts[0])
    if run.ranks is None or run.ranks < 2 or not run.busbw_bytes_per_s or run.size_bytes is None:
        return told(Verdict.UNKNOWN, AcceptanceReason.NO_MEASUREMENT)
    if not run.is_complete:
        return told(Verdict.UNKNOWN, AcceptanceReason.NOT_COMPLETE)
    if not run.collective:
        return told(Verdict.UNKNOWN, AcceptanceReason.COLLECTIVE_UNKNOWN)
    # Over more than the domain the network between domains takes part.
    if run.domain_ranks is not None and run.ranks > run.domain_ranks:
        return told(Verdict.UNKNOWN, AcceptanceReason.LEAVES_DOMAIN)
    if share is None:
        return told(Verdict.UNKNOWN, AcceptanceReason.THEORY_UNKNOWN)
    if run.size_bytes < TRUSTED_SIZE_BYTES:
        return told(Verdict.UNKNOWN, AcceptanceReason.SIZE_TOO_SMALL)
    if share < MIN_BUSBW_SHARE:
        return told(Verdict.FAIL, AcceptanceReason.TOO_SLOW)
    if share > 1.05:  # in-network reduction can pass the ring's theory; anything else is a wrong theory
        return told(Verdict.WARN, AcceptanceReason.ABOVE_THEORY)
    if run.wrong_total is None:
        return told(Verdict.WARN, AcceptanceReason.NOT_VALIDATED)
    return told(Verdict.PASS, AcceptanceReason.AS_FAST_AS_IT_SHOULD)
