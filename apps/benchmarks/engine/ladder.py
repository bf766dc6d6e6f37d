"""The ladder of sizes: does bandwidth stay flat as ranks grow, and where does growth stop paying?

Sources: golden scaling_efficiency and acceptance.max_scaling_loss. busbw is made so that it does not depend on
the number of ranks; what grows with them is the aggregate throughput, ranks × busbw.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from apps.core.errors import OutOfRange
from apps.core.texts import say
from apps.core.verdicts import Verdict

MAX_SCALING_LOSS = 0.15
_PLACES = 9  # a loss of exactly the limit is not above it for a rounding error


class Advice(StrEnum):
    """Where to look after a step of the ladder."""

    OK = "ok"
    CHECK_TOPOLOGY_AND_SCHEDULING = "check_topology_and_scheduling"


@dataclass(frozen=True, slots=True, kw_only=True)
class Scaling:
    """One step from fewer to more ranks. factor: growth of aggregate throughput; efficiency: share of the ideal."""

    factor: float
    efficiency: float
    advice: Advice

    @property
    def loss(self) -> float:
        """What is missing to ideal growth, as a share; below zero where growth is more than ideal."""
        return 1.0 - self.efficiency

    @property
    def verdict(self) -> Verdict:
        return Verdict.PASS if self.advice is Advice.OK else Verdict.FAIL


def scaling(*, factor: float, ranks_before: int, ranks_after: int) -> Scaling:
    """Judge a growth of aggregate throughput by `factor`. Raises OutOfRange for ranks that do not grow.

    A loss above 15 % points at interconnect or scheduling, not at the cards.
    """
    if not 1 <= ranks_before < ranks_after or factor <= 0:
        raise OutOfRange(say("ranks must grow, and the factor must be above zero"))
    efficiency = factor * ranks_before / ranks_after
    too_much = round(1.0 - efficiency, _PLACES) > MAX_SCALING_LOSS
    advice = Advice.CHECK_TOPOLOGY_AND_SCHEDULING if too_much else Advice.OK
    return Scaling(factor=factor, efficiency=efficiency, advice=advice)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rung:
    """The bandwidth at one size of the ladder, and the step from the size before.

    step: None on the first rung, and on those that leave the domain, where other links decide.
    """

    ranks: int
    busbw_bytes_per_s: float
    run_id: int
    step: Scaling | None = None
    leaves_domain: bool = False


def ladder(
    measured: Iterable[tuple[int, float, int]], *, domain_ranks: int | None = None
) -> tuple[Rung, ...]:
    """Rungs by rising ranks, from (ranks, busbw in bytes/s, run id); the first of a size counts.

    domain_ranks: accelerators of the domain; rungs above it leave the domain.
    """
    by_ranks: dict[int, tuple[float, int]] = {}
    for ranks, busbw, run_id in measured:
        by_ranks.setdefault(ranks, (busbw, run_id))
    rungs: list[Rung] = []
    for ranks in sorted(by_ranks):
        busbw, run_id = by_ranks[ranks]
        leaves = domain_ranks is not None and ranks > domain_ranks
        step = None
        if rungs and not leaves:
            before = rungs[-1]
            factor = ranks * busbw / (before.ranks * before.busbw_bytes_per_s)
            step = scaling(factor=factor, ranks_before=before.ranks, ranks_after=ranks)
        rungs.append(
            Rung(ranks=ranks, busbw_bytes_per_s=busbw, run_id=run_id, step=step, leaves_domain=leaves)
        )
    return tuple(rungs)
