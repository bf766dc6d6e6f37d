"""The allocation what-if: a mix of jobs played on free and busy nodes under one policy.

Waiting jobs are tried oldest first at every arrival and end; one that does not fit is passed over. The same
nodes, mix and seed give the same result.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from apps.core.errors import Invalid
from apps.core.texts import say
from apps.fleet.engine.graph import Ints
from apps.fleet.engine.job_mix import Job, JobClass, mix_errors, submitted
from apps.fleet.engine.pool import Policy, Pool, PoolNode

Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class JobOutcome:
    """started_at_s: None where it never had all its cards. nodes: (node, cards), those held so far if so."""

    name: str
    cards: int
    submitted_at_s: float
    started_at_s: float | None
    ended_at_s: float | None
    nodes: tuple[tuple[str, int], ...]
    domains: int

    @property
    def wait_s(self) -> float | None:
        return None if self.started_at_s is None else self.started_at_s - self.submitted_at_s


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """The pool right after something happened. largest_block: free cards of the best domain.

    fragmentation: share of free cards that no whole block can use. stranded: see `Stranded`.
    """

    at_s: float
    free_cards: int
    largest_block: int
    fragmentation: float
    stranded_cards: int
    queued_jobs: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Stranded:
    """A domain cut up: part of it is taken, and what is left does not hold a block, or is kept from others.

    nodes: (node, free cards). jobs: those that run on it; cards taken before the what-if have no job.
    """

    domain: str
    cards: int
    jobs: tuple[str, ...]
    nodes: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class AllocationResult:
    """block_cards: the block that fragmentation is measured by. stranded: at the moment with the most of it.

    utilisation: share of the usable card time that jobs ran on, until the last end. deadlocked: jobs hold
    cards and wait for each other's.
    """

    policy: Policy
    block_cards: int
    jobs: tuple[JobOutcome, ...]
    samples: tuple[Sample, ...]
    stranded: tuple[Stranded, ...]
    stranded_at_s: float
    mean_wait_s: float | None
    p95_wait_s: float | None
    longest_queue: int
    mean_fragmentation: float
    utilisation: float
    makespan_s: float
    never_started: int
    deadlocked: bool


def compare(
    nodes: Sequence[PoolNode],
    mix: Sequence[JobClass],
    *,
    seed: int,
    policies: Iterable[Policy] = tuple(Policy),
    block_cards: int | None = None,
    progress: Progress | None = None,
) -> tuple[AllocationResult, ...]:
    """The same mix under each policy; `progress` counts ended jobs over all of them."""
    chosen = tuple(policies)
    total = len(chosen) * sum(one.count for one in mix)
    results: list[AllocationResult] = []
    for policy in chosen:
        before = len(results) * (total // max(1, len(chosen)))

        def report(done: int, _: int, before: int = before) -> None:
            if progress is not None:
                progress(before + done, total)

        results.append(play(nodes, mix, policy=policy, seed=seed, block_cards=block_cards, progress=report))
    return tuple(results)


def play(
    nodes: Sequence[PoolNode],
    mix: Sequence[JobClass],
    *,
    policy: Policy,
    seed: int,
    block_cards: int | None = None,
    progress: Progress | None = None,
) -> AllocationResult:
    """Play a mix to its end.

    block_cards: the block that big jobs need; None takes the largest job, at most a domain. progress: told
    (ended, all) after every step; what it raises stops the play.
    Raises Invalid with everything wrong in nodes and mix.
    """
    if errors := mix_errors(mix):
        raise Invalid(say("the job mix cannot be played"), code="job_mix", errors=errors)
    pool = Pool(nodes, seed=seed)
    block = block_cards or min(max(one.cards for one in mix), int(pool.domain_cards.max()))
    game = _Game(pool, submitted(mix, seed), policy, block)
    game.run(progress)
    return game.result()


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Peak:
    """The moment with the most stranded cards: the domains cut up, free cards per node, and who held some."""

    at_s: float = 0.0
    cards: int = 0
    domains: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    free: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    jobs: Sequence[Job] = ()


class _Game:
    """The clock, the queue and the running jobs of one play."""

    def __init__(self, pool: Pool, jobs: list[Job], policy: Policy, block: int) -> None:
        self.pool, self.jobs, self.policy, self.block = pool, jobs, policy, block
        self.usable_cards = int(pool.free.sum())
        self.waiting: list[Job] = []
        self.ends: list[tuple[float, int]] = []
        self.samples: list[Sample] = []
        self.peak = _Peak()

    def run(self, progress: Progress | None) -> None:
        arrived = ended = 0
        while arrived < len(self.jobs) or self.ends:
            now = min(
                self.jobs[arrived].submitted_at_s if arrived < len(self.jobs) else float("inf"),
                self.ends[0][0] if self.ends else float("inf"),
            )
            while self.ends and self.ends[0][0] <= now:
                job = self.jobs[heapq.heappop(self.ends)[1]]
                self.pool.give_back(job.grant, reserved=self.policy is Policy.WHOLE_DOMAIN)
                ended += 1
            while arrived < len(self.jobs) and self.jobs[arrived].submitted_at_s <= now:
                self.waiting.append(self.jobs[arrived])
                arrived += 1
            self._start_waiting(now)
            self._sample(now)
            if progress is not None:
                progress(ended, len(self.jobs))

    def _start_waiting(self, now: float) -> None:
        if self.policy is Policy.PER_CARD:
            self._hand_out_cards()
            ready = [job for job in self.waiting if not job.missing]
        else:
            ready = self._fitting()
        for job in ready:
            job.started_at_s, job.ended_at_s = now, now + job.duration_s
            heapq.heappush(self.ends, (job.ended_at_s, job.number))
        self.waiting = [job for job in self.waiting if job.started_at_s is None]

    def _fitting(self) -> list[Job]:
        """Jobs that get all their cards now; what did not fit once is not tried again at that size."""
        place = {
            Policy.GANG: self.pool.anywhere,
            Policy.TOPOLOGY_AWARE: self.pool.together,
            Policy.WHOLE_DOMAIN: self.pool.empty_domains,
        }[self.policy]
        too_large: set[int] = set()
        ready = []
        for job in self.waiting:
            if job.cards in too_large:
                continue
            if grant := place(job.cards):
                job.grant = grant
                self.pool.take(grant, reserve=self.policy is Policy.WHOLE_DOMAIN)
                ready.append(job)
            else:
                too_large.add(job.cards)
        return ready

    def _hand_out_cards(self) -> None:
        """Free cards go to waiting pods by lot, whatever job they belong to."""
        missing = [job.missing for job in self.waiting]
        free = min(int(self.pool.free.sum()), sum(missing))
        if not free:
            return
        shares = self.pool.dice.multivariate_hypergeometric(missing, free, method="marginals")
        for job, cards in zip(self.waiting, shares.tolist(), strict=True):
            grant = self.pool.scattered(cards) if cards else {}
            self.pool.take(grant)
            for node, more in grant.items():
                job.grant[node] = job.grant.get(node, 0) + more

    def _sample(self, now: float) -> None:
        pool, whole = self.pool, self.policy is Policy.WHOLE_DOMAIN
        left = pool.domain_free
        placeable = np.where(left == pool.domain_cards, left, 0) if whole else left
        cut_up = (left < pool.domain_cards) & (left > 0) & ((left < self.block) | whole)
        free, stranded = int(left.sum()), int(left[cut_up].sum())
        if stranded > self.peak.cards:
            self.peak = _Peak(
                at_s=now,
                cards=stranded,
                domains=np.flatnonzero(cut_up),
                free=pool.free.copy(),
                jobs=[*(self.jobs[number] for _, number in sorted(self.ends)), *self.waiting],
            )
        in_blocks = int((placeable // self.block * self.block).sum())
        self.samples.append(
            Sample(
                at_s=now,
                free_cards=free,
                largest_block=int(placeable.max()),
                fragmentation=1 - in_blocks / free if free else 0.0,
                stranded_cards=stranded,
                queued_jobs=len(self.waiting),
            )
        )

    def _stranded(self) -> tuple[Stranded, ...]:
        """The domains cut up at the peak, with the jobs and nodes of that moment."""
        pool, peak = self.pool, self.peak
        holders: dict[int, list[str]] = {}
        for job in peak.jobs:
            for home in {int(pool.domain_of[node]) for node in job.grant}:
                holders.setdefault(home, []).append(job.name)
        nodes: dict[int, list[tuple[str, int]]] = {}
        for node in np.flatnonzero(peak.free > 0).tolist():
            left = pool.nodes[node].name, int(peak.free[node])
            nodes.setdefault(int(pool.domain_of[node]), []).append(left)
        return tuple(
            Stranded(
                domain=pool.domain_name(home),
                cards=sum(cards for _, cards in nodes[home]),
                jobs=tuple(holders.get(home, ())),
                nodes=tuple(nodes[home]),
            )
            for home in peak.domains.tolist()
        )

    def result(self) -> AllocationResult:
        waits = [job.started_at_s - job.submitted_at_s for job in self.jobs if job.started_at_s is not None]
        makespan = max((job.ended_at_s for job in self.jobs if job.ended_at_s is not None), default=0.0)
        ran = sum(job.cards * job.duration_s for job in self.jobs if job.started_at_s is not None)
        return AllocationResult(
            policy=self.policy,
            block_cards=self.block,
            jobs=tuple(self._outcome(job) for job in self.jobs),
            samples=tuple(self.samples),
            stranded=self._stranded(),
            stranded_at_s=self.peak.at_s,
            mean_wait_s=float(np.mean(waits)) if waits else None,
            p95_wait_s=float(np.percentile(waits, 95)) if waits else None,
            longest_queue=max((sample.queued_jobs for sample in self.samples), default=0),
            mean_fragmentation=self._mean_fragmentation(),
            utilisation=ran / (self.usable_cards * makespan) if makespan and self.usable_cards else 0.0,
            makespan_s=makespan,
            never_started=len(self.waiting),
            deadlocked=any(job.grant for job in self.waiting),
        )

    def _outcome(self, job: Job) -> JobOutcome:
        return JobOutcome(
            name=job.name,
            cards=job.cards,
            submitted_at_s=job.submitted_at_s,
            started_at_s=job.started_at_s,
            ended_at_s=job.ended_at_s,
            nodes=tuple((self.pool.nodes[node].name, cards) for node, cards in sorted(job.grant.items())),
            domains=len({int(self.pool.domain_of[node]) for node in job.grant}),
        )

    def _mean_fragmentation(self) -> float:
        """Over time, from the first thing that happened to the last."""
        times = np.array([sample.at_s for sample in self.samples])
        shares = np.array([sample.fragmentation for sample in self.samples])
        spans = np.diff(times)
        return float((shares[:-1] * spans).sum() / spans.sum()) if len(spans) and spans.sum() else 0.0
