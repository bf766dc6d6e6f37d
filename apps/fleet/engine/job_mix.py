"""A mix of jobs: classes of equal jobs, and the single jobs in order of submission."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from apps.core.errors import FieldError
from apps.core.texts import say
from apps.fleet.engine.pool import Grant

MAX_JOBS = 20_000


@dataclass(frozen=True, slots=True, kw_only=True)
class JobClass:
    """`count` equal jobs. first_at_s: when the first is submitted. mean_gap_s: between submissions on average
    (exponential, by seed); 0 submits all at once."""

    name: str
    cards: int
    count: int
    duration_s: float
    first_at_s: float = 0.0
    mean_gap_s: float = 0.0


@dataclass(slots=True, eq=False)
class Job:
    """number: place in order of submission; set when the order is known."""

    name: str
    cards: int
    duration_s: float
    submitted_at_s: float
    number: int = 0
    started_at_s: float | None = None
    ended_at_s: float | None = None
    grant: Grant = field(default_factory=dict)

    @property
    def missing(self) -> int:
        return self.cards - sum(self.grant.values())


def mix_errors(mix: Sequence[JobClass]) -> list[FieldError]:
    """What is wrong with a job mix, each with its place."""
    errors = []
    for place, one in enumerate(mix):
        at = f"/jobs/{place}"
        for name in ("cards", "count"):
            if getattr(one, name) < 1:
                errors.append(FieldError(pointer=f"{at}/{name}", message=say("must be 1 or more")))
        if not 0 < one.duration_s < float("inf"):
            errors.append(FieldError(pointer=f"{at}/duration_s", message=say("must be above zero")))
        for name in ("first_at_s", "mean_gap_s"):
            if not 0 <= getattr(one, name) < float("inf"):
                errors.append(FieldError(pointer=f"{at}/{name}", message=say("must be zero or more")))
    if not mix:
        errors.append(FieldError(pointer="/jobs", message=say("there is no job"), code="empty"))
    if not errors and sum(one.count for one in mix) > MAX_JOBS:
        errors.append(
            FieldError(
                pointer="/jobs",
                message=say("more than %(max_jobs)s jobs", max_jobs=MAX_JOBS),
                code="too_many",
            )
        )
    return errors


def submitted(mix: Sequence[JobClass], seed: int) -> list[Job]:
    """The jobs in order of submission."""
    dice = np.random.default_rng([seed, 1])
    jobs = []
    for one in mix:
        gaps = dice.exponential(one.mean_gap_s, one.count - 1) if one.mean_gap_s else np.zeros(one.count - 1)
        for number, later in enumerate([0.0, *gaps.cumsum().tolist()], start=1):
            name = one.name if one.count == 1 else f"{one.name}-{number}"
            jobs.append(
                Job(
                    name=name,
                    cards=one.cards,
                    duration_s=one.duration_s,
                    submitted_at_s=one.first_at_s + later,
                )
            )
    jobs.sort(key=lambda job: job.submitted_at_s)
    for number, job in enumerate(jobs):
        job.number = number
    return jobs
