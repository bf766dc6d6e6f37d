"""Scaling what-if: the best plan at each size and shape of the system, what limits it, and where growth ends."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from apps.core.errors import OutOfRange
from apps.core.texts import say
from apps.planning.engine.candidates import Limits, axes
from apps.planning.engine.estimate import Estimate
from apps.planning.engine.search import SearchInput, search


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """How cards are joined: domain, sub-domains (None: full bandwidth everywhere) and convergence ratio."""

    name: str
    domain_size: int
    sub_domain_size: int | None = None
    convergence: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """The best configuration at one size: throughput, share of ideal growth from the first size, and what takes
    most time besides compute. `best` is None where nothing fits."""

    accelerators: int
    shape: str
    best: Estimate | None
    efficiency: float | None
    bottleneck: str | None

    @property
    def tokens_per_s(self) -> float:
        """Throughput; 0 where nothing fits."""
        return self.best.tokens_per_s if self.best else 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Growth:
    """Points by size, the size with the highest throughput, and the first that is slower than the one before."""

    points: tuple[Point, ...]
    peak_accelerators: int | None
    turns_negative_at: int | None


def grow(
    wanted: SearchInput,
    sizes: Sequence[int],
    *,
    limits: Limits,
    batch_per_card: float | None = None,
) -> Growth:
    """The best plan at each size, cards ascending.

    With `batch_per_card` None the global batch stays (strong scaling); else it grows with the cards. Efficiency
    is throughput per card against the first size that runs.
    """
    if not sizes or min(sizes) < 1:
        raise OutOfRange(say("sizes must be at least 1"))
    points: list[Point] = []
    for size in sorted(set(sizes)):
        batch = wanted.axes.global_batch if batch_per_card is None else max(1, round(batch_per_card * size))
        best = _best(_resized(wanted, size, batch, limits))
        points.append(_point(size, "", best, _first(points)))
    running = [point for point in points if point.best]
    peak = max(running, key=lambda point: point.tokens_per_s, default=None)
    slower = [big.accelerators for small, big in pairwise(running) if big.tokens_per_s < small.tokens_per_s]
    return Growth(
        points=tuple(points),
        peak_accelerators=peak.accelerators if peak else None,
        turns_negative_at=min(slower, default=None),
    )


def compare_shapes(wanted: SearchInput, shapes: Iterable[Shape]) -> tuple[Point, ...]:
    """The best plan on the same cards joined in different ways; efficiency is against the first shape."""
    points: list[Point] = []
    for shape in shapes:
        system = replace(
            wanted.system,
            domain_size=shape.domain_size,
            sub_domain_size=shape.sub_domain_size,
            convergence=shape.convergence,
        )
        best = _best(replace(wanted, system=system))
        points.append(_point(wanted.system.accelerators, shape.name, best, _first(points)))
    return tuple(points)


def bottleneck(answer: Estimate) -> str:
    """The part of a step, besides compute, that takes most time; `compute` where none takes 5 % of the step."""
    t = answer.time
    parts = {
        "tensor_parallel": t.tp_s,
        "context_parallel": t.cp_s,
        "expert_parallel": t.ep_s,
        "pipeline_traffic": t.pp_s,
        "data_parallel": t.dp_s,
        "pipeline_bubble": t.bubble_s,
        "optimizer": t.optimizer_s,
    }
    name = max(parts, key=lambda key: parts[key])
    return name if parts[name] >= 0.05 * answer.iteration_time_s else "compute"


def _resized(wanted: SearchInput, accelerators: int, global_batch: int, limits: Limits) -> SearchInput:
    values = axes(
        wanted.model,
        accelerators=accelerators,
        global_batch=global_batch,
        seq_len=wanted.seq_len,
        limits=limits,
    )
    system = replace(wanted.system, accelerators=accelerators)
    return replace(wanted, axes=values, limits=limits, fewer=(), system=system)


def _best(wanted: SearchInput) -> Estimate | None:
    found = search(replace(wanted, top=1))
    return found.best[0] if found.best else None


def _first(points: Sequence[Point]) -> Point | None:
    return next((point for point in points if point.best), None)


def _point(accelerators: int, shape: str, best: Estimate | None, first: Point | None) -> Point:
    efficiency = None
    if best is not None:
        base = first.tokens_per_s / first.accelerators if first else best.tokens_per_s / accelerators
        efficiency = best.tokens_per_s / accelerators / base
    return Point(
        accelerators=accelerators,
        shape=shape,
        best=best,
        efficiency=efficiency,
        bottleneck=bottleneck(best) if best else None,
    )
