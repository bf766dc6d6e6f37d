"""What a domain runs as a whole: for each component the versions that most of its nodes report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from apps.environments.engine.drift.values import NodeReport


@dataclass(frozen=True, slots=True, kw_only=True)
class Observed:
    """Raw versions of one component, and how many nodes report exactly these."""

    component: str
    values: tuple[str, ...]
    node_count: int


def observed_in(reports: Iterable[NodeReport], *, now: datetime, stale_after_s: float) -> dict[str, Observed]:
    """Component to what most nodes report of it; stale reports have no vote, and a tie gives nothing.

    Nor does a component that fewer than half of the nodes report that report anything: one odd node is not the domain.
    """
    fresh_after = now - timedelta(seconds=stale_after_s)
    votes: dict[str, Counter[tuple[str, ...]]] = {}
    speaking = 0
    for report in reports:
        fresh = {
            name: held.values
            for name, held in report.reported.items()
            if held.values and held.seen_at >= fresh_after
        }
        speaking += bool(fresh)
        for name, values in fresh.items():
            votes.setdefault(name, Counter())[values] += 1
    common = [name for name in sorted(votes) if 2 * votes[name].total() >= speaking]
    return {name: found for name in common if (found := _majority(name, votes[name])) is not None}


def _majority(name: str, votes: Counter[tuple[str, ...]]) -> Observed | None:
    ranked = votes.most_common(2)
    if len(ranked) == 2 and ranked[0][1] == ranked[1][1]:
        return None
    values, count = ranked[0]
    return Observed(component=name, values=values, node_count=count)
