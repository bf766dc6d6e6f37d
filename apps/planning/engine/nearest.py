"""Nearest: where nothing fits, which layouts come closest to it, and what would make one fit."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from apps.planning.engine.candidates import Axes, axes
from apps.planning.engine.coefficients import Coefficients, shipped_coefficients
from apps.planning.engine.estimate import MemoryLedger, StageLedger, memory_ledger
from apps.planning.engine.layouts import Floats, Ints, Layouts, Recompute
from apps.planning.engine.memory import peak_bytes
from apps.planning.engine.search import SearchInput, by_sharding, plan_of, runnable, workload_of

MOST = 5
MULTIPLES = (2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64)  # of the cards of the system
MOST_CP = 64
ZERO_STAGES = (0, 1, 2, 3)
PARTS = ("weights", "gradients", "optimizer", "activations", "logits", "buffers")


@dataclass(frozen=True, slots=True, kw_only=True)
class Near:
    """A layout that runs: the fullest stage, its largest part, and the bytes above what may be used of a card.

    `over_bytes` is below zero where it fits.
    """

    configuration: Mapping[str, Any]
    accelerators: int
    stage: StageLedger
    largest_part: str
    over_bytes: float

    def to_json(self) -> dict[str, Any]:
        """Plain values; the ledger is that of the fullest stage."""
        return {
            "configuration": dict(self.configuration),
            "accelerators": self.accelerators,
            "peak_bytes": self.stage.total_bytes,
            "over_bytes": self.over_bytes,
            "stage": {name: getattr(self.stage, name) for name in StageLedger.__slots__},
            "largest_part": self.largest_part,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Remedy:
    """One change of what was asked, and the layout that needs least memory after it.

    code and value: `recompute`, `zero`, `cp` (the largest that is tried), `accelerators` (the smallest multiple
    that helps), `reserve_share` (what may be kept free at most), `capacity_bytes` (of a card, at least).
    """

    code: str
    value: str | float
    near: Near

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "code": self.code,
            "value": self.value,
            "fits": self.near.over_bytes <= 0,
            **self.near.to_json(),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Shortfall:
    """How near a search came that found nothing: layouts by what they lack, and what would help."""

    nearest: tuple[Near, ...] = ()
    remedies: tuple[Remedy, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Plain values, to stand beside those of the search."""
        return {
            "nearest": [near.to_json() for near in self.nearest],
            "remedies": [remedy.to_json() for remedy in self.remedies],
        }


def shortfall(wanted: SearchInput, coefficients: Coefficients | None = None) -> Shortfall:
    """How near a search comes to a layout that fits. For one that found some there is nothing to say."""
    c = coefficients or shipped_coefficients()
    nearest = _nearest(wanted, (wanted.axes, *wanted.fewer), c)
    if not nearest:
        return Shortfall()
    return Shortfall(nearest=nearest, remedies=tuple(_remedies(wanted, nearest[0], c)))


def _remedies(wanted: SearchInput, near: Near, c: Coefficients) -> Iterator[Remedy]:
    """What helps, each by itself."""
    for code, value, tried in _wider(wanted):
        found = _nearest(wanted, tried, c)
        if found and found[0].over_bytes < near.over_bytes:
            yield Remedy(code=code, value=value, near=found[0])
    for multiple in MULTIPLES:
        count = wanted.system.accelerators * multiple
        found = _nearest(wanted, [_resized(wanted, count)], c)
        if found and found[0].over_bytes <= 0:
            yield Remedy(code="accelerators", value=count, near=found[0])
            break
    peak, capacity = near.stage.total_bytes, wanted.system.capacity_bytes
    if peak <= capacity:
        share = 1.0 - peak / capacity
        yield Remedy(code="reserve_share", value=share, near=replace(near, over_bytes=0.0))
    needed = peak / (1.0 - wanted.options.reserve_share)
    yield Remedy(code="capacity_bytes", value=needed, near=replace(near, over_bytes=0.0))


def _wider(wanted: SearchInput) -> Iterator[tuple[str, str | float, list[Axes]]]:
    """Choices that the search was not given: code, value, and the sizes to combine then."""
    asked, all_levels = (wanted.axes, *wanted.fewer), tuple(map(int, Recompute))
    if Recompute.FULL not in wanted.axes.recompute:
        yield "recompute", "full", [replace(one, recompute=all_levels) for one in asked]
    if max(wanted.axes.zero) < max(ZERO_STAGES):
        yield "zero", max(ZERO_STAGES), [replace(one, zero=ZERO_STAGES) for one in asked]
    rings = _resized(
        replace(wanted, limits=replace(wanted.limits, max_cp=MOST_CP)), wanted.axes.accelerators
    ).cp
    if len(rings) > len(wanted.axes.cp):
        yield "cp", rings[-1], [replace(one, cp=rings) for one in asked]


def _resized(wanted: SearchInput, accelerators: int) -> Axes:
    return axes(
        wanted.model,
        accelerators=accelerators,
        global_batch=wanted.axes.global_batch,
        seq_len=wanted.seq_len,
        limits=wanted.limits,
    )


def _nearest(wanted: SearchInput, tried: Iterable[Axes], c: Coefficients) -> tuple[Near, ...]:
    """The layouts that need least memory, one for each combination of TP, PP, CP, EP and number of cards."""
    layouts, peaks = [Layouts.none()], [np.zeros(0)]
    for one in tried:
        for block in _leanest(one).blocks():
            for part in by_sharding(runnable(wanted, block, one.accelerators, {})):
                layouts.append(part)
                peaks.append(peak_bytes(wanted.model, workload_of(wanted, part)[0], part, c))
    joined = Layouts.joined(layouts)
    places = _first_of_each(joined, np.concatenate(peaks))[:MOST]
    return tuple(_near(wanted, joined, int(place), c) for place in places)


def _leanest(tried: Axes) -> Axes:
    """Without choices that never lower memory: larger micro-batches, and the order of ranks."""
    return replace(tried, micro_batch=tried.micro_batch[:1], placement=tried.placement[:1])


def _first_of_each(layouts: Layouts, peak: Floats) -> Ints:
    order = np.argsort(peak, kind="stable")
    sizes = np.stack([getattr(layouts, name) for name in ("accelerators", "tp", "pp", "cp", "ep")])
    _sizes, first = np.unique(sizes[:, order], axis=1, return_index=True)
    return np.asarray(order[np.sort(first)])


def _near(wanted: SearchInput, layouts: Layouts, place: int, c: Coefficients) -> Near:
    ledger = memory_ledger(plan_of(wanted, layouts, place), c)
    stage = max(ledger.stages, key=lambda one: one.total_bytes)
    return Near(
        configuration=layouts.named(place),
        accelerators=int(layouts.accelerators[place]),
        stage=stage,
        largest_part=max(PARTS, key=lambda part: float(getattr(stage, f"{part}_bytes"))),
        over_bytes=_over(ledger),
    )


def _over(ledger: MemoryLedger) -> float:
    return ledger.peak_bytes - ledger.capacity_bytes * (1.0 - ledger.reserve_share)
