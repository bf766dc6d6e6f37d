"""Work that is due again and again."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from django.db import transaction

from apps.audit.services import decision, record
from apps.core import clock
from apps.core.actor import Actor
from apps.core.errors import Invalid, Missing, Stale
from apps.core.rights import Right
from apps.core.texts import say
from apps.jobs import registry
from apps.jobs.models import Schedule
from apps.jobs.services.work import enqueue

SHORTEST_S, LONGEST_S = 60, 366 * 86400


def run_due_schedules(*, actor: Actor) -> int:
    """Ask for the work that is due; a schedule that missed several times runs once. Returns how many."""
    now = clock.now()
    return sum(
        _run_due(schedule, now=now, actor=actor)
        for schedule in Schedule.objects.filter(enabled=True, next_due_at__lte=now)
    )


@transaction.atomic
def _run_due(schedule: Schedule, *, now: datetime, actor: Actor) -> int:
    behind_s = (now - schedule.next_due_at).total_seconds()
    steps = int(behind_s // schedule.every_s) + 1
    moved = Schedule.objects.filter(pk=schedule.pk, enabled=True, next_due_at=schedule.next_due_at).update(
        next_due_at=schedule.next_due_at + timedelta(seconds=steps * schedule.every_s)
    )
    if moved:
        enqueue(schedule.kind, actor=actor, **schedule.arguments)
    return moved


def ensure_recurring() -> None:
    """Each kind of work that declares itself recurring has a schedule, named as the kind."""
    wanted = registry.recurring()
    there = set(Schedule.objects.filter(name__in=wanted).values_list("name", flat=True))
    for kind in wanted.keys() - there:
        ensure_schedule(kind, kind=kind, every_s=wanted[kind])


def ensure_schedule(name: str, *, kind: str, every_s: int, **arguments: Any) -> Schedule:
    """A schedule of this name exists; what a team changed in it stays. every_s: seconds."""
    schedule, _created = Schedule.objects.get_or_create(
        name=name,
        defaults={"kind": kind, "arguments": arguments, "every_s": every_s, "next_due_at": clock.now()},
    )
    return schedule


@decision
def change_schedule(
    *, schedule_id: int, expected_version: int, every_s: int, enabled: bool, actor: Actor
) -> Schedule:
    """Set how often the work is due, or pause it; due next one span from now, or sooner if it was.

    Raises NotAllowed (role), Missing, Invalid (every_s) and Stale.
    """
    actor.require(Right.ADMIN, None)
    if not SHORTEST_S <= every_s <= LONGEST_S:
        raise Invalid(
            say(
                "every_s: say %(shortest_s)s to %(longest_s)s seconds",
                shortest_s=SHORTEST_S,
                longest_s=LONGEST_S,
            ),
            code="every_s",
        )
    schedule = Schedule.objects.filter(pk=schedule_id).first()
    if schedule is None:
        raise Missing()
    before = {"every_s": schedule.every_s, "enabled": schedule.enabled}
    after = {"every_s": every_s, "enabled": enabled}
    due = min(schedule.next_due_at, clock.now() + timedelta(seconds=every_s))
    rows = Schedule.objects.filter(pk=schedule_id, version=expected_version)
    if not rows.update(**after, next_due_at=due, version=expected_version + 1):
        raise Stale()
    schedule.refresh_from_db()
    if before != after:
        record(actor=actor, action="schedule.changed", on=schedule, before=before, after=after)
    return schedule
