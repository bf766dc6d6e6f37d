"""Search: every configuration judged, the best ones ranked, and why the others fail counted."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from enum import StrEnum
from typing import Any

import numpy as np

from apps.catalogue.engine.models import ModelSpec
from apps.planning.engine.candidates import Axes, Limits
from apps.planning.engine.coefficients import Coefficients, shipped_coefficients
from apps.planning.engine.energy import step_energy_j
from apps.planning.engine.estimate import Assumption, Estimate, PlanInput, estimate
from apps.planning.engine.layouts import Bools, Floats, Ints, Layouts
from apps.planning.engine.memory import fits, peak_bytes
from apps.planning.engine.reading_parallel import Options, workload_for
from apps.planning.engine.rules import SAME_AS_OTHER_PLACEMENT, rejected_with, violations
from apps.planning.engine.step_time import step_time
from apps.planning.engine.system import System
from apps.planning.engine.token_cost import IN_ACCELERATOR_HOURS, TokenPrices, cost_per_million_tokens
from apps.planning.engine.workload import Workload

OUT_OF_MEMORY = "out_of_memory"
Progress = Callable[[int, int], None]


class Objective(StrEnum):
    """What is best: most tokens per second, lowest cost of a token, most free memory on the fullest card, or least
    energy of a token.

    With all cards in use and no price of energy the fastest configuration is the cheapest. Where a search may use
    fewer cards the cheapest is often smaller: it loses less to communication.
    """

    TOKENS_PER_S = "tokens_per_s"
    COST = "cost"
    MEMORY_HEADROOM = "memory_headroom"
    ENERGY = "energy"


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchInput:
    """One model on one system with a batch, and the values to combine.

    axes: with all cards of the system. fewer: with less of them, one for each number of cards to try. Both are
    within `limits`.
    """

    model: ModelSpec
    system: System
    options: Options
    axes: Axes
    seq_len: int
    limits: Limits
    fewer: tuple[Axes, ...] = ()
    objective: Objective = Objective.TOKENS_PER_S
    prices: TokenPrices = IN_ACCELERATOR_HOURS
    top: int = 10
    assumptions: tuple[Assumption, ...] = ()
    ignored: tuple[str, ...] = ()

    @property
    def candidates(self) -> int:
        """How many configurations there are to judge."""
        return sum(axes.count for axes in (self.axes, *self.fewer))


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Configurations that run and fit, best first: seconds and joules of a step, cost of a million tokens, bytes on
    the fullest card."""

    layouts: Layouts
    step_s: Floats
    energy_j: Floats
    cost: Floats
    peak_bytes: Floats

    def __len__(self) -> int:
        return len(self.layouts)

    def pareto(self) -> Ints:
        """Positions that no other beats in both step time and memory."""
        order = np.lexsort((self.peak_bytes, self.step_s))
        peaks = self.peak_bytes[order]
        best_before = np.concatenate(([np.inf], np.minimum.accumulate(peaks)[:-1]))
        front: Ints = order[peaks < best_before]
        return front

    def listed(self, top: int) -> tuple[int, ...]:
        """Positions of the best, and of the best with each number of cards."""
        _counts, first = np.unique(self.layouts.accelerators, return_index=True)
        return tuple(sorted({*range(min(top, len(self))), *first.tolist()}))


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchResult:
    """What a search found. `rejected` counts each candidate once, under the first reason that applies.

    best: the estimates of the configurations at `listed` of the table.
    """

    candidates: int
    feasible: int
    rejected: Mapping[str, int]
    table: Table
    listed: tuple[int, ...]
    best: tuple[Estimate, ...]

    def to_json(self, search_s: float) -> dict[str, Any]:
        """Plain values, in the shape that the command prints; `pareto` says that none beats a configuration in both
        step time and memory."""
        front = set(self.table.pareto().tolist())
        best = [
            answer.to_json()
            | {"cost_per_million_tokens": self.table.cost[place].item(), "pareto": place in front}
            for place, answer in zip(self.listed, self.best, strict=True)
        ]
        return {
            "search_s": search_s,
            "candidates": self.candidates,
            "feasible": self.feasible,
            "rejected": dict(self.rejected),
            "best": best,
        }


_NONE = np.zeros(0)
EMPTY = Table(layouts=Layouts.none(), step_s=_NONE, energy_j=_NONE, cost=_NONE, peak_bytes=_NONE)


def search(
    wanted: SearchInput, coefficients: Coefficients | None = None, on_progress: Progress | None = None
) -> SearchResult:
    """Judge every candidate. `on_progress(done, total)` is called after each block and may raise to stop."""
    c = coefficients or shipped_coefficients()
    rejected: dict[str, int] = {}
    tables = [EMPTY]
    done = 0
    for axes in (wanted.axes, *wanted.fewer):
        for block in axes.blocks():
            for part in by_sharding(runnable(wanted, block, axes.accelerators, rejected)):
                tables.append(_judge(wanted, part, rejected, c))
            done += len(block)
            if on_progress is not None:
                on_progress(done, wanted.candidates)
    table = _ranked(_joined(tables), wanted)
    listed = table.listed(wanted.top)
    return SearchResult(
        candidates=wanted.candidates,
        feasible=len(table),
        rejected=rejected,
        table=table,
        listed=listed,
        best=tuple(estimate(plan_of(wanted, table.layouts, place), c) for place in listed),
    )


def plan_of(wanted: SearchInput, layouts: Layouts, position: int) -> PlanInput:
    """One found configuration as a plan of its own, on as many cards as it uses."""
    layout = layouts.take(np.array([position]))
    workload, assumed = workload_of(wanted, layout)
    return PlanInput(
        model=wanted.model,
        system=replace(wanted.system, accelerators=int(layout.accelerators[0])),
        workload=workload,
        layout=layout,
        assumptions=wanted.assumptions + assumed,
        ignored=wanted.ignored,
    )


def workload_of(wanted: SearchInput, part: Layouts) -> tuple[Workload, tuple[Assumption, ...]]:
    """What configurations with one way of sharding share, and what of it is assumed."""
    return workload_for(
        wanted.model,
        wanted.system,
        wanted.options,
        seq_len=wanted.seq_len,
        zero=int(part.zero[0]),
        sequence_parallel=bool(part.sequence_parallel[0]),
    )


def runnable(wanted: SearchInput, block: Layouts, accelerators: int, rejected: dict[str, int]) -> Layouts:
    """Those of a block that can run; the others are counted in `rejected`, each under its first reason."""
    found = violations(wanted.model, block, accelerators=accelerators, seq_len=wanted.seq_len)
    refused = rejected_with(wanted.options.framework)
    masks = {reason: mask for reason, mask in found.items() if reason in refused}
    open_: Bools = np.ones(len(block), dtype=np.bool_)
    for reason, mask in masks.items():
        _count(rejected, reason, int(np.count_nonzero(open_ & mask)))
        open_ &= ~mask
    return block.take(open_)


def by_sharding(layouts: Layouts) -> list[Layouts]:
    """Configurations with and without a sharded optimizer apart: their recipes overlap differently."""
    sharded = layouts.zero >= 1
    return [part for part in (layouts.take(~sharded), layouts.take(sharded)) if len(part)]


def _judge(wanted: SearchInput, part: Layouts, rejected: dict[str, int], c: Coefficients) -> Table:
    workload, _ = workload_of(wanted, part)
    peak = peak_bytes(wanted.model, workload, part, c)
    fitting = fits(peak, wanted.system.capacity_bytes, workload.reserve_share)
    _count(rejected, OUT_OF_MEMORY, int(np.count_nonzero(~fitting)))
    layouts = part.take(fitting)
    if not len(layouts):
        return EMPTY
    step = step_time(wanted.model, wanted.system, workload, layouts, c)
    energy = step_energy_j(wanted.system, layouts, step)
    cost = cost_per_million_tokens(
        wanted.prices,
        accelerators=layouts.accelerators,
        step_s=step.total,
        energy_j=energy,
        tokens=wanted.axes.global_batch * wanted.seq_len,
    )
    table = Table(layouts=layouts, step_s=step.total, energy_j=energy, cost=cost, peak_bytes=peak[fitting])
    return _without_twins(table, rejected)


def _without_twins(table: Table, rejected: dict[str, int]) -> Table:
    """The table without those that are as fast and as large with the order of ranks before theirs.

    Orders change last where candidates are enumerated, so twins stand beside each other.
    """
    sizes = [getattr(table.layouts, f.name) for f in fields(Layouts) if f.name != "placement"]
    alike = [column[1:] == column[:-1] for column in (*sizes, table.step_s, table.peak_bytes)]
    twins: Bools = np.append(False, np.logical_and.reduce(alike))
    _count(rejected, SAME_AS_OTHER_PLACEMENT, int(np.count_nonzero(twins)))
    return _taken(table, ~twins)


def _taken(table: Table, index: Ints | Bools) -> Table:
    columns = {name: getattr(table, name)[index] for name in _COLUMNS}
    return Table(layouts=table.layouts.take(index), **columns)


def _count(rejected: dict[str, int], reason: str, number: int) -> None:
    if number:
        rejected[reason] = rejected.get(reason, 0) + number


def _joined(tables: list[Table]) -> Table:
    columns = {name: np.concatenate([getattr(table, name) for table in tables]) for name in _COLUMNS}
    return Table(layouts=Layouts.joined([table.layouts for table in tables]), **columns)


def _ranked(table: Table, wanted: SearchInput) -> Table:
    """Best first by the objective; ties by time, then by memory, then in order of enumeration."""
    first = {
        Objective.TOKENS_PER_S: table.step_s,
        Objective.COST: table.cost,
        Objective.MEMORY_HEADROOM: table.peak_bytes,
        Objective.ENERGY: table.energy_j,
    }[wanted.objective]
    order = np.lexsort((table.peak_bytes, table.step_s, first))
    return _taken(table, order)


_COLUMNS = ("step_s", "energy_j", "cost", "peak_bytes")
