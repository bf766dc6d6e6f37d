"""Cost: total cost of ownership, cost per million tokens, and what one more block of cards gains.

One currency throughout; the engine does not know which.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from apps.core.errors import OutOfRange
from apps.core.texts import say

HOURS_PER_YEAR = 8766.0
SECONDS_PER_YEAR = HOURS_PER_YEAR * 3600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Prices:
    """What a cluster costs. `capital` per card holds cards, hosts, network and installation."""

    capital_per_card: float
    years: float
    energy_per_kwh: float
    it_kw_per_card: float
    pue: float = 1.3
    upkeep_share_per_year: float = 0.05
    interest_per_year: float = 0.0
    residual_share: float = 0.0

    def __post_init__(self) -> None:
        if self.years <= 0 or self.pue < 1.0:
            raise OutOfRange(say("years must be above zero and the PUE at least 1"))
        parts = (self.capital_per_card, self.energy_per_kwh, self.it_kw_per_card, self.upkeep_share_per_year)
        if min(parts) < 0 or not 0.0 <= self.residual_share <= 1.0 or self.interest_per_year < 0:
            raise OutOfRange(say("prices must not be negative, and shares lie between 0 and 1"))


@dataclass(frozen=True, slots=True, kw_only=True)
class YearlyCost:
    """Cost of a year by part; they add up to `total`."""

    capital: float
    interest: float
    energy: float
    upkeep: float

    @property
    def total(self) -> float:
        """All of it."""
        return self.capital + self.interest + self.energy + self.upkeep


def yearly_cost(prices: Prices, cards: int) -> YearlyCost:
    """Cost of a year: straight depreciation, interest on the mean capital bound, energy and upkeep."""
    if cards < 1:
        raise OutOfRange(say("there must be at least one card"))
    capital = prices.capital_per_card * cards
    written_off = capital * (1.0 - prices.residual_share) / prices.years
    bound = capital * (1.0 + prices.residual_share) / 2.0
    energy = prices.it_kw_per_card * cards * prices.pue * HOURS_PER_YEAR * prices.energy_per_kwh
    return YearlyCost(
        capital=written_off,
        interest=bound * prices.interest_per_year,
        energy=energy,
        upkeep=capital * prices.upkeep_share_per_year,
    )


def total_cost(prices: Prices, cards: int) -> float:
    """Cost over all years."""
    return yearly_cost(prices, cards).total * prices.years


def cost_per_million_tokens(
    prices: Prices, cards: int, *, tokens_per_s: float, goodput: float = 1.0
) -> float:
    """Cost of a million trained tokens when the cluster always works. `goodput` is the useful share of time."""
    if tokens_per_s <= 0 or not 0.0 < goodput <= 1.0:
        raise OutOfRange(say("throughput must be above zero, and goodput lie between 0 and 1"))
    tokens_per_year = tokens_per_s * goodput * SECONDS_PER_YEAR
    return yearly_cost(prices, cards).total / tokens_per_year * 1e6


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """A size of the cluster and what it does."""

    cards: int
    tokens_per_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class MarginalGain:
    """From one size to the next: throughput gained, and what a million of those further tokens cost.

    `marginal_cost` is None where the step gains nothing.
    """

    cards: int
    added_cards: int
    added_tokens_per_s: float
    marginal_cost_per_million: float | None
    average_cost_per_million: float


def marginal_gains(prices: Prices, blocks: Sequence[Block]) -> tuple[MarginalGain, ...]:
    """Gain of each step between sizes in ascending order."""
    ordered = sorted(blocks, key=lambda block: block.cards)
    gains = []
    for before, after in pairwise(ordered):
        added = after.tokens_per_s - before.tokens_per_s
        cost = yearly_cost(prices, after.cards).total - yearly_cost(prices, before.cards).total
        gains.append(
            MarginalGain(
                cards=after.cards,
                added_cards=after.cards - before.cards,
                added_tokens_per_s=added,
                marginal_cost_per_million=cost / (added * SECONDS_PER_YEAR) * 1e6 if added > 0 else None,
                average_cost_per_million=cost_per_million_tokens(
                    prices, after.cards, tokens_per_s=after.tokens_per_s
                ),
            )
        )
    return tuple(gains)


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """One way to buy a cluster: a name, prices, cards and throughput on the workload in question."""

    name: str
    prices: Prices
    cards: int
    tokens_per_s: float

    @property
    def cost_per_million(self) -> float:
        """Cost of a million tokens."""
        return cost_per_million_tokens(self.prices, self.cards, tokens_per_s=self.tokens_per_s)


def better_buy(first: Offer, second: Offer) -> tuple[Offer, float]:
    """The cheaper offer per token, and how much dearer the other is (share)."""
    cheap, dear = sorted((first, second), key=lambda offer: offer.cost_per_million)
    return cheap, dear.cost_per_million / cheap.cost_per_million - 1.0


def break_even_speedup(supernode: Prices, ordinary: Prices, cards: int) -> float:
    """Throughput per card that a supernode must have against an ordinary cluster to cost the same per token."""
    return yearly_cost(supernode, cards).total / yearly_cost(ordinary, cards).total


@dataclass(frozen=True, slots=True, kw_only=True)
class Swing:
    """Cost per million tokens with one price low and high."""

    name: str
    low: float
    high: float


def sensitivity(prices: Prices, cards: int, *, tokens_per_s: float, change: float = 0.2) -> tuple[Swing, ...]:
    """How the cost per million tokens moves with each price by plus and minus a share, widest first."""
    if not 0.0 < change < 1.0:
        raise OutOfRange(say("the change must lie between 0 and 1"))

    def at(name: str, factor: float) -> float:
        value = getattr(prices, name) * factor
        if name == "pue":
            value = max(1.0, value)
        return cost_per_million_tokens(replace(prices, **{name: value}), cards, tokens_per_s=tokens_per_s)

    names = ("capital_per_card", "years", "energy_per_kwh", "it_kw_per_card", "pue", "upkeep_share_per_year")
    swings = [Swing(name=n, low=at(n, 1 - change), high=at(n, 1 + change)) for n in names]
    by_speed = [
        cost_per_million_tokens(prices, cards, tokens_per_s=tokens_per_s * f)
        for f in (1 - change, 1 + change)
    ]
    swings.append(Swing(name="tokens_per_s", low=by_speed[0], high=by_speed[1]))
    return tuple(sorted(swings, key=lambda swing: -abs(swing.high - swing.low)))
