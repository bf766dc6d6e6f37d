"""Soak: whether the links of a measured system hold for a day.

Source of the time: golden acceptance.soak_hours. A link that degrades or drops breaks it. That nothing was seen says
something only where somebody looked after its end.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from apps.core.verdicts import Verdict

SOAK_HOURS = 24


@dataclass(frozen=True, slots=True, kw_only=True)
class Soak:
    """How far a soak is. hours: passed, at most the needed. broken_by: what broke it. unwatched: nodes whose links
    nobody looked at since it ended."""

    verdict: Verdict
    hours: float
    broken_by: tuple[str, ...] = ()
    unwatched: int = 0
    needed_hours: int = SOAK_HOURS


def ends_at(began_at: datetime) -> datetime:
    """When a soak that began then is over."""
    return began_at + timedelta(hours=SOAK_HOURS)


def soak(
    *, began_at: datetime, now: datetime, broken_by: Sequence[str], watched_at: Sequence[datetime | None]
) -> Soak:
    """Judge a soak. watched_at: for each node when its links were last looked at, None for never."""
    hours = min(float(SOAK_HOURS), max(0.0, (now - began_at).total_seconds() / 3600))
    unwatched = sum(at is None or at < ends_at(began_at) for at in watched_at)
    if broken_by:
        return Soak(verdict=Verdict.FAIL, hours=hours, broken_by=tuple(broken_by))
    if now < ends_at(began_at):
        return Soak(verdict=Verdict.UNKNOWN, hours=hours)
    verdict = Verdict.PASS if watched_at and not unwatched else Verdict.UNKNOWN
    return Soak(verdict=verdict, hours=hours, unwatched=unwatched)
