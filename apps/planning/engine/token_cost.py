"""Cost of trained tokens: hours of accelerators and energy at their prices, in any one currency."""

from __future__ import annotations

from dataclasses import dataclass

from apps.core.errors import OutOfRange
from apps.core.texts import say
from apps.planning.engine.layouts import Floats, Ints

SECONDS_PER_HOUR = 3600.0
JOULES_PER_KWH = 3.6e6


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenPrices:
    """Price of an hour of one accelerator with its share of host and network, and of a kWh with its cooling.

    As it starts, one per hour and none for energy, a cost is in accelerator hours.
    """

    accelerator_hour: float = 1.0
    kwh: float = 0.0

    def __post_init__(self) -> None:
        if self.accelerator_hour <= 0 or self.kwh < 0:
            raise OutOfRange(say("an hour must cost more than nothing, and energy no less than nothing"))


IN_ACCELERATOR_HOURS = TokenPrices()


def cost_per_million_tokens(
    prices: TokenPrices, *, accelerators: Ints, step_s: Floats, energy_j: Floats, tokens: int
) -> Floats:
    """Cost of a million tokens of each configuration: cards x step x price of an hour + energy x price of a kWh.

    step_s and energy_j are of one step of all cards of a configuration, tokens those of a step.
    """
    hours = accelerators * step_s / SECONDS_PER_HOUR
    kwh = energy_j / JOULES_PER_KWH
    cost: Floats = (hours * prices.accelerator_hour + kwh * prices.kwh) / tokens * 1e6
    return cost
