"""Candidates: every configuration that a search looks at, in blocks of bounded size."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import prod

import numpy as np

from apps.catalogue.engine.models import ModelSpec
from apps.planning.engine.layouts import Layouts, Placement, Recompute, Schedule


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Bounds of a search: the largest value of each size, and the choices to try of the rest.

    min_accelerators: with how few cards a configuration may do; None where all must be used.
    """

    max_tp: int = 64
    max_pp: int = 256
    max_vpp: int = 16
    max_cp: int = 1
    max_ep: int = 256
    max_micro_batch: int = 16
    recompute: tuple[Recompute, ...] = tuple(Recompute)
    zero: tuple[int, ...] = (0, 1, 2, 3)
    placement: tuple[Placement, ...] = tuple(Placement)
    min_accelerators: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Axes:
    """The values to combine; dp follows from the number of cards."""

    accelerators: int
    global_batch: int
    tp: tuple[int, ...]
    pp: tuple[int, ...]
    cp: tuple[int, ...]
    ep: tuple[int, ...]
    vpp: tuple[int, ...]
    micro_batch: tuple[int, ...]
    recompute: tuple[int, ...]
    zero: tuple[int, ...]
    placement: tuple[int, ...]

    @property
    def count(self) -> int:
        """How many combinations there are."""
        return len(self.tp) * self._block_size()

    def _block_size(self) -> int:
        return prod(len(values) for values in self._inner())

    def _inner(self) -> tuple[tuple[int, ...], ...]:
        return (
            self.pp,
            self.cp,
            self.ep,
            self.vpp,
            self.micro_batch,
            self.recompute,
            self.zero,
            self.placement,
        )

    def blocks(self) -> Iterator[Layouts]:
        """All combinations, one block per tensor-parallel size."""
        names = ("pp", "cp", "ep", "vpp", "micro_batch", "recompute", "zero", "placement")
        grid = np.meshgrid(*(np.array(v, dtype=np.int64) for v in self._inner()), indexing="ij")
        columns = {name: axis.ravel() for name, axis in zip(names, grid, strict=True)}
        ones = np.ones(self._block_size(), dtype=np.int64)
        interleaved = np.where(columns["vpp"] > 1, Schedule.INTERLEAVED, Schedule.ONE_F_ONE_B)
        for tp in self.tp:
            dp = self.accelerators // (tp * columns["pp"] * columns["cp"])
            yield Layouts.of(
                columns
                | {
                    "tp": ones * tp,
                    "dp": np.maximum(dp, 1),
                    "etp": ones,
                    "global_batch": ones * self.global_batch,
                    "sequence_parallel": ones * (tp > 1),
                    "schedule": interleaved,
                }
            )


def divisors(number: int, most: int) -> tuple[int, ...]:
    """Divisors of a number up to a bound, ascending."""
    return tuple(d for d in range(1, min(number, most) + 1) if number % d == 0)


def axes(model: ModelSpec, *, accelerators: int, global_batch: int, seq_len: int, limits: Limits) -> Axes:
    """The values that a search combines: divisors of the cards, of the batch, of the layers, of the experts.

    Expert- and context-parallel sizes go up in powers of two; chunks per stage are divisors of the layers (or
    of the layers with embedding and logits counted as one each, as uneven layouts do).
    """
    rooms = (model.layers, model.layers + 2, model.layers + model.mtp_layers + 2)
    chunks = sorted({d for room in rooms for d in divisors(room, limits.max_vpp)})
    experts = divisors(model.experts, limits.max_ep) if model.is_moe else (1,)
    return Axes(
        accelerators=accelerators,
        global_batch=global_batch,
        tp=divisors(accelerators, limits.max_tp),
        pp=divisors(accelerators, min(limits.max_pp, model.layers)),
        cp=_powers(min(limits.max_cp, accelerators, max(1, seq_len // 2))),
        ep=experts,
        vpp=tuple(chunks),
        micro_batch=divisors(global_batch, limits.max_micro_batch),
        recompute=tuple(int(level) for level in limits.recompute),
        zero=limits.zero,
        placement=tuple(int(order) for order in limits.placement),
    )


def card_counts(accelerators: int, least: int) -> tuple[int, ...]:
    """Numbers of cards to try from all of them down to `least`: divisors, and powers of two (64 of 72)."""
    wanted = {*divisors(accelerators, accelerators), *_powers(accelerators)}
    return tuple(sorted((count for count in wanted if count >= least), reverse=True))


def _powers(most: int) -> tuple[int, ...]:
    values = [1]
    while values[-1] * 2 <= most:
        values.append(values[-1] * 2)
    return tuple(values)
