"""Claims: what follows from published or vendor figures, and which of them contradict each other."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from apps.core.errors import OutOfRange
from apps.core.texts import say

TOLERANCE = 0.05  # figures in texts are rounded


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """Cards and the MFU that they are said to reach (0 to 1); more cards do not change the peak of one."""

    cards: float
    mfu: float

    def __post_init__(self) -> None:
        if self.cards <= 0 or not 0.0 < self.mfu <= 1.0:
            raise OutOfRange(say("cards must be above zero, and MFU lie between 0 and 1"))

    @property
    def effective_cards(self) -> float:
        """Cards that would do the same work at MFU 1."""
        return self.cards * self.mfu


@dataclass(frozen=True, slots=True, kw_only=True)
class Consequence:
    """What two setups imply: effective cards, speed-up of the second, share of time saved (negative: lost)."""

    before: float
    after: float

    @property
    def speedup(self) -> float:
        """Throughput of the second setup against the first."""
        return self.after / self.before

    @property
    def time_saved(self) -> float:
        """Share of the time that the second setup saves."""
        return 1.0 - self.before / self.after


def consequence(before: Setup, after: Setup) -> Consequence:
    """What follows when the same work moves from one setup to another."""
    return Consequence(before=before.effective_cards, after=after.effective_cards)


def equivalent_extra_cards(setup: Setup, gain: float) -> float:
    """Cards at the same MFU that a relative gain of throughput is worth."""
    if gain <= -1.0:
        raise OutOfRange(say("a gain cannot take more than everything"))
    return setup.cards * gain


class Finding(StrEnum):
    """How a claimed figure stands against what follows from the others; derived where nobody claimed it."""

    FOLLOWS = "follows"
    CONTRADICTS = "contradicts"
    IMPOSSIBLE = "impossible"
    DERIVED = "derived"


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """One claimed figure beside the one that follows; `claimed` is None where nobody claimed it."""

    name: str
    claimed: float | None
    implied: float
    finding: Finding


def judge(name: str, claimed: float, implied: float) -> Judgement:
    """Whether a claimed figure agrees with the implied one, within a relative or absolute tolerance."""
    near = abs(claimed - implied) <= TOLERANCE * max(1.0, abs(implied)) and claimed * implied >= 0
    return Judgement(
        name=name,
        claimed=claimed,
        implied=implied,
        finding=Finding.FOLLOWS if near else Finding.CONTRADICTS,
    )


def check_comparison(
    before: Setup, after: Setup, *, speedup: float | None = None, time_saved: float | None = None
) -> tuple[Judgement, ...]:
    """Judge claimed speed-up and saved time of a comparison of two setups."""
    implied = consequence(before, after)
    judged = []
    if speedup is not None:
        judged.append(judge("speedup", speedup, implied.speedup))
    if time_saved is not None:
        judged.append(judge("time_saved", time_saved, implied.time_saved))
    return tuple(judged)


class ScalingVerdict(StrEnum):
    """What to do about a measured scaling factor."""

    OK = "ok"
    CHECK_INTERCONNECT = "check_interconnect_and_scheduling"
    CHECK_TOPOLOGY = "check_topology_and_scheduling"


GOOD_EFFICIENCY = 0.85  # a loss above 15 % points at interconnect or scheduling
POOR_EFFICIENCY = 0.75


@dataclass(frozen=True, slots=True, kw_only=True)
class Scaling:
    """Throughput factor of a growth in cards, and the share of the ideal that it is."""

    factor: float
    efficiency: float
    verdict: ScalingVerdict


def scaling(*, cards_before: int, cards_after: int, factor: float) -> Scaling:
    """Judge a measured factor of aggregate throughput."""
    if cards_before < 1 or cards_after <= cards_before or factor <= 0:
        raise OutOfRange(say("cards must grow, and the factor be above zero"))
    efficiency = factor / (cards_after / cards_before)
    verdict = ScalingVerdict.OK
    if efficiency < POOR_EFFICIENCY:
        verdict = ScalingVerdict.CHECK_TOPOLOGY
    elif efficiency < GOOD_EFFICIENCY:
        verdict = ScalingVerdict.CHECK_INTERCONNECT
    return Scaling(factor=factor, efficiency=efficiency, verdict=verdict)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunClaim:
    """A claimed training run: cards, dense peak of one (FLOP/s), and what of time, MFU and FLOPs is told."""

    cards: int
    peak_flops: float
    total_flops: float
    time_s: float | None = None
    mfu: float | None = None


def check_run(claim: RunClaim) -> tuple[Judgement, ...]:
    """Judge a run: the MFU that its time implies, whether that is possible, and the time that its MFU implies.

    Where only one of both is claimed, the other is derived.
    """
    if claim.cards < 1 or claim.peak_flops <= 0 or claim.total_flops <= 0:
        raise OutOfRange(say("cards, peak and FLOPs must be above zero"))
    ideal_s = claim.total_flops / (claim.cards * claim.peak_flops)
    judged = []
    if claim.time_s is not None:
        implied = ideal_s / claim.time_s
        if implied > 1.0:
            judged.append(
                Judgement(name="time_s", claimed=claim.time_s, implied=ideal_s, finding=Finding.IMPOSSIBLE)
            )
        elif claim.mfu is not None:
            judged.append(judge("mfu", claim.mfu, implied))
        else:
            judged.append(_derived("mfu", implied))
    elif claim.mfu is not None:
        judged.append(_derived("time_s", ideal_s / claim.mfu))
    return tuple(judged)


def _derived(name: str, implied: float) -> Judgement:
    return Judgement(name=name, claimed=None, implied=implied, finding=Finding.DERIVED)


@dataclass(frozen=True, slots=True, kw_only=True)
class RankSizes:
    """Ranks that parallel sizes make: the world, and the domains that it fills. Experts lie over tp x dp."""

    world: int
    domains: float
    experts_fit_domain: bool
    experts_fit_split_by_tp: bool


def rank_sizes(*, tp: int, pp: int, dp: int, ep: int, domain_cards: int) -> RankSizes:
    """What tp x pp x dp with expert groups of ep need. `experts_fit_split_by_tp` is for experts cut by tp too."""
    if min(tp, pp, dp, ep, domain_cards) < 1:
        raise OutOfRange(say("parallel sizes must be at least 1"))
    world = tp * pp * dp
    return RankSizes(
        world=world,
        domains=world / domain_cards,
        experts_fit_domain=ep <= domain_cards,
        experts_fit_split_by_tp=ep * tp <= domain_cards,
    )
