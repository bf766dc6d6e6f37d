"""An allocation what-if as plain values: the mix that somebody gives, and the result that a page or script reads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from apps.core.errors import FieldError, Invalid
from apps.core.texts import say
from apps.fleet.engine.allocation import AllocationResult, Sample
from apps.fleet.engine.job_mix import JobClass, mix_errors
from apps.fleet.engine.pool import Policy

MAX_SAMPLES = 300  # of each policy, so that a result stays small
MAX_STRANDED = 40
MAX_NODES_NAMED = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class WhatIf:
    """mix, policies, seed and block as `allocation.compare` takes them."""

    mix: tuple[JobClass, ...]
    policies: tuple[Policy, ...]
    seed: int
    block_cards: int | None


def what_if_of(values: Mapping[str, Any]) -> WhatIf:
    """The what-if that plain values describe. Raises Invalid with everything that is wrong in the mix."""
    mix = tuple(JobClass(**job) for job in values["jobs"])
    if errors := mix_errors(mix):
        raise Invalid(say("the job mix cannot be played"), code="job_mix", errors=errors)
    policies = tuple(Policy(one) for one in values["policies"]) or tuple(Policy)
    block = values.get("block_cards")
    if block is not None and block < 1:
        message = say("must be 1 or more")
        raise Invalid(message, errors=[FieldError(pointer="/block_cards", message=message)])
    return WhatIf(mix=mix, policies=policies, seed=int(values["seed"]), block_cards=block)


def result_values(results: Sequence[AllocationResult]) -> list[dict[str, Any]]:
    """Results as what JSON can hold; samples are thinned, the largest stranding is kept."""
    return [_one(result) for result in results]


def _one(result: AllocationResult) -> dict[str, Any]:
    return {
        "policy": result.policy.value,
        "block_cards": result.block_cards,
        "mean_wait_s": result.mean_wait_s,
        "p95_wait_s": result.p95_wait_s,
        "longest_queue": result.longest_queue,
        "mean_fragmentation": result.mean_fragmentation,
        "utilisation": result.utilisation,
        "makespan_s": result.makespan_s,
        "never_started": result.never_started,
        "deadlocked": result.deadlocked,
        "stranded_at_s": result.stranded_at_s,
        "stranded_cards": sum(one.cards for one in result.stranded),
        "stranded": [
            {
                "domain": one.domain,
                "cards": one.cards,
                "jobs": list(one.jobs[:MAX_NODES_NAMED]),
                "nodes": [list(node) for node in one.nodes[:MAX_NODES_NAMED]],
            }
            for one in result.stranded[:MAX_STRANDED]
        ],
        "samples": [_sample(one) for one in thinned(result.samples)],
    }


def thinned(samples: Sequence[Sample], most: int = MAX_SAMPLES) -> list[Sample]:
    """At most `most` samples, evenly taken, the first and the last among them."""
    if len(samples) <= most:
        return list(samples)
    step = (len(samples) - 1) / (most - 1)
    return [samples[round(place * step)] for place in range(most)]


def _sample(sample: Sample) -> dict[str, Any]:
    return {
        "at_s": sample.at_s,
        "free_cards": sample.free_cards,
        "largest_block": sample.largest_block,
        "fragmentation": round(sample.fragmentation, 4),
        "stranded_cards": sample.stranded_cards,
        "queued_jobs": sample.queued_jobs,
    }
