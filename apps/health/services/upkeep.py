"""Upkeep of cooling and fittings: planned, done, put off the calendar."""

from __future__ import annotations

from datetime import date, timedelta

from django.db.models import F
from django.utils.translation import gettext as _

from apps.audit.services import decision, record
from apps.core import clock
from apps.core.actor import Actor
from apps.core.errors import FieldError, Invalid, Stale
from apps.core.reasons import require_reason, says_something
from apps.core.rights import Right, TokenScope
from apps.fleet.models import Cluster, Domain
from apps.health import queries
from apps.health.models import MaintenanceRecord, MaintenanceTask, Upkeep

# What operators of liquid-cooled rooms do, and how often.
USUAL_DAYS = {
    Upkeep.COOLANT_LEVEL: 7,
    Upkeep.COOLANT_QUALITY: 7,
    Upkeep.FITTINGS: 30,
    Upkeep.COLD_PLATES: 91,
}
LONGEST_DAYS = 3660


@decision
def plan_upkeep(
    *,
    actor: Actor,
    cluster_id: int,
    kind: str,
    title: str,
    every_days: int,
    due_on: date | None = None,
    domain_id: int | None = None,
    downgrade_path: str = "",
) -> MaintenanceTask:
    """Put upkeep on the calendar; due first after one span unless said. Raises Invalid, NotAllowed."""
    cluster = Cluster.objects.get(pk=cluster_id)
    _may_write(actor, cluster.scope_id)
    _check(kind, title, every_days)
    if domain_id is not None and not Domain.objects.filter(pk=domain_id, cluster=cluster).exists():
        message = _("there is no such domain in this cluster")
        raise Invalid(message, errors=[FieldError(pointer="/domain_id", message=message)])
    task = MaintenanceTask.objects.create(
        cluster=cluster,
        domain_id=domain_id,
        kind=kind,
        title=title.strip()[:200],
        every_days=every_days,
        due_on=due_on or clock.now().date() + timedelta(days=every_days),
        downgrade_path=downgrade_path.strip(),
    )
    record(actor=actor, action="upkeep.planned", on=task, scope_id=cluster.scope_id, after=_facts(task))
    return task


@decision
def plan_usual_upkeep(*, actor: Actor, cluster_id: int) -> list[MaintenanceTask]:
    """The usual calendar of a liquid-cooled room: coolant weekly, fittings monthly, cold plates quarterly.

    What of it is on the calendar of the whole cluster already stays as it is.
    """
    # One at a time: of two each would find the calendar empty.
    cluster = Cluster.objects.select_for_update(no_key=True).get(pk=cluster_id)
    _may_write(actor, cluster.scope_id)
    there = MaintenanceTask.objects.filter(cluster=cluster, domain__isnull=True, retired_at__isnull=True)
    planned = set(there.values_list("kind", flat=True))
    return [
        plan_upkeep(
            actor=actor,
            cluster_id=cluster_id,
            kind=kind.value,
            title=str(kind.label).capitalize(),
            every_days=days,
        )
        for kind, days in USUAL_DAYS.items()
        if kind.value not in planned
    ]


@decision
def record_upkeep(
    *, actor: Actor, task_id: int, expected_version: int, note: str, done_on: date | None = None
) -> MaintenanceRecord:
    """Upkeep was done, by the person who says so; the next time is due one span later.

    Raises Invalid (a day in the future, no note), NotAllowed, Stale where somebody recorded it meanwhile.
    """
    task = queries.task_for(actor, task_id, Right.OPERATE)
    _may_write(actor, task.cluster.scope_id)
    today = clock.now().date()
    day = done_on or today
    errors = []
    if day > today:
        errors.append(FieldError(pointer="/done_on", message=_("this day has not come yet")))
    if not says_something(note):
        errors.append(FieldError(pointer="/note", message=_("say what was found")))
    if errors or actor.person_id is None:
        raise Invalid(errors[0].message if errors else _("a person does upkeep"), errors=errors)
    due_on = task.due_on
    moved = MaintenanceTask.objects.filter(
        pk=task_id, version=expected_version, retired_at__isnull=True
    ).update(due_on=day + timedelta(days=task.every_days), version=F("version") + 1)
    if not moved:
        raise Stale(_("somebody else recorded this upkeep meanwhile"), version=task.version)
    done = MaintenanceRecord.objects.create(
        task=task,
        due_on=due_on,
        done_on=day,
        done_by_id=actor.person_id,
        note=note.strip()[:500],
        recorded_at=clock.now(),
    )
    record(
        actor=actor,
        action="upkeep.done",
        on=task,
        scope_id=task.cluster.scope_id,
        after={"due_on": due_on.isoformat(), "done_on": day.isoformat(), "note": done.note},
    )
    return done


@decision
def retire_upkeep(*, actor: Actor, task_id: int, expected_version: int, reason: str) -> MaintenanceTask:
    """Take upkeep off the calendar; what was recorded stays. Raises Invalid without a reason, Stale."""
    task = queries.task_for(actor, task_id, Right.OPERATE)
    _may_write(actor, task.cluster.scope_id)
    require_reason(reason)
    rows = MaintenanceTask.objects.filter(pk=task_id, version=expected_version, retired_at__isnull=True)
    if not rows.update(retired_at=clock.now(), version=F("version") + 1):
        raise Stale(_("the upkeep was changed meanwhile"), version=task.version)
    record(
        actor=actor,
        action="upkeep.retired",
        on=task,
        scope_id=task.cluster.scope_id,
        before=_facts(task),
        reason=reason.strip(),
    )
    task.refresh_from_db()
    return task


def _may_write(actor: Actor, scope_id: int) -> None:
    actor.require(Right.OPERATE, scope_id)
    actor.require_token_scope(TokenScope.FLEET_WRITE)


def _check(kind: str, title: str, every_days: int) -> None:
    errors = []
    if kind not in Upkeep.values:
        errors.append(FieldError(pointer="/kind", message=", ".join(Upkeep.values)))
    if not says_something(title):
        errors.append(FieldError(pointer="/title", message=_("say what is to be done")))
    if not 1 <= every_days <= LONGEST_DAYS:
        message = _("say 1 to %(days)s days") % {"days": LONGEST_DAYS}
        errors.append(FieldError(pointer="/every_days", message=message))
    if errors:
        raise Invalid(errors[0].message, code="upkeep", errors=errors)


def _facts(task: MaintenanceTask) -> dict[str, object]:
    return {
        "kind": task.kind,
        "title": task.title,
        "every_days": task.every_days,
        "due_on": task.due_on.isoformat(),
        "domain": task.domain_id,
    }
