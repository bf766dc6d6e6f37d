"""Mixed accelerator generations in one pool: work in proportion to compute, and same-model groups."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from apps.core.errors import FieldError, Invalid
from apps.core.texts import say
from apps.fleet.engine.description import FleetDescription


class ComputeSource(StrEnum):
    MEASURED = "measured"
    CATALOGUE = "catalogue"


@dataclass(frozen=True, slots=True, kw_only=True)
class Generation:
    """Equal accelerators. compute_flops: of one of them, per second; source: where that figure is from."""

    model: str
    cards: int
    compute_flops: float
    source: ComputeSource


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """What one generation gets. units: of all its cards together. time: relative to a perfect split (1.0)."""

    generation: Generation
    units: int
    work_share: float
    relative_time: float

    @property
    def tflops(self) -> float:
        """Of one accelerator, for people."""
        return self.generation.compute_flops / 1e12


@dataclass(frozen=True, slots=True, kw_only=True)
class Split:
    """A division of work. imbalance: slowest over mean time, minus 1. loss_share: of the pool's compute that
    waits for the slowest (0 to 1)."""

    shares: tuple[Share, ...]
    imbalance: float
    loss_share: float


@dataclass(frozen=True, slots=True, kw_only=True)
class MixedPlan:
    """equal: every card the same, as frameworks do by default. proportional: by compute, in whole units.

    mixed_sources: measured and catalogue figures are compared with each other, which flatters the catalogue.
    """

    equal: Split
    proportional: Split
    mixed_sources: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelGroup:
    """Nodes of one model in one domain: where latency-bound groups (TP, EP) belong. cards: None if unknown."""

    domain: str
    model: str
    nodes: tuple[str, ...]
    cards: int | None


def split_work(generations: Sequence[Generation], *, units: int) -> MixedPlan:
    """Divide `units` equal pieces (micro-batches, samples) over the generations.

    Raises Invalid with everything that is wrong with the input.
    """
    errors = [
        FieldError(pointer=f"/generations/{place}/{name}", message=say("must be above zero"))
        for place, one in enumerate(generations)
        for name in ("cards", "compute_flops")
        if not 0 < getattr(one, name) < float("inf")
    ]
    if not generations:
        errors.append(FieldError(pointer="/generations", message=say("there is none"), code="empty"))
    if units < 1:
        errors.append(FieldError(pointer="/units", message=say("must be 1 or more")))
    if errors:
        raise Invalid(say("this work cannot be divided"), code="mixed", errors=errors)
    cards = [float(one.cards) for one in generations]
    compute = [one.cards * one.compute_flops for one in generations]
    return MixedPlan(
        equal=_split(generations, largest_remainder(cards, units)),
        proportional=_split(generations, largest_remainder(compute, units)),
        mixed_sources=len({one.source for one in generations}) > 1,
    )


def largest_remainder(weights: Sequence[float], units: int) -> tuple[int, ...]:
    """Whole units in proportion to weights, summing to `units`; what is left goes to the largest remainders."""
    total = sum(weights)
    exact = [units * weight / total for weight in weights]
    whole = [int(one) for one in exact]
    order = sorted(range(len(weights)), key=lambda at: (whole[at] - exact[at], at))
    for at in order[: units - sum(whole)]:
        whole[at] += 1
    return tuple(whole)


def model_groups(fleet: FleetDescription) -> tuple[ModelGroup, ...]:
    """Nodes of the same model in the same domain, in the fleet's order; nodes of unknown model are left out."""
    members: dict[tuple[str, str], list[str]] = {}
    cards: dict[tuple[str, str], list[int | None]] = {}
    for node in fleet.nodes:
        if node.model:
            members.setdefault((node.domain, node.model), []).append(node.name)
            cards.setdefault((node.domain, node.model), []).append(node.cards)
    return tuple(
        ModelGroup(domain=key[0], model=key[1], nodes=tuple(names), cards=_sum_known(cards[key]))
        for key, names in members.items()
    )


def _split(generations: Sequence[Generation], units: Sequence[int]) -> Split:
    capacity = [one.cards * one.compute_flops for one in generations]
    perfect = sum(units) / sum(capacity)
    times = [given / able / perfect for given, able in zip(units, capacity, strict=True)]
    mean = sum(times) / len(times)
    return Split(
        shares=tuple(
            Share(generation=one, units=given, work_share=given / sum(units), relative_time=time)
            for one, given, time in zip(generations, units, times, strict=True)
        ),
        imbalance=max(times) / mean - 1,
        loss_share=1 - 1 / max(times),
    )


def _sum_known(counts: Sequence[int | None]) -> int | None:
    known = [one for one in counts if one is not None]
    return sum(known) if len(known) == len(counts) else None
