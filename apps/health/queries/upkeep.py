"""Upkeep of cooling and fittings: what is due, and what is overdue."""

from __future__ import annotations

from datetime import date

from django.db.models import Q, QuerySet
from django.utils.translation import gettext as _

from apps.core.actor import Actor
from apps.core.errors import Missing
from apps.core.rights import Right
from apps.fleet.models import Domain, LifeCycle
from apps.health.models import HealthState, MaintenanceTask

_HEAT = ("gpu-temperature", "memory-temperature", "npu-temperature")  # what a failing cooling shows in


def tasks_visible(actor: Actor) -> QuerySet[MaintenanceTask]:
    """Upkeep that is not retired, of clusters that the actor may read, what is due first comes first."""
    return _visible(actor).filter(retired_at__isnull=True)


def downgrade_paths(actor: Actor, bad: QuerySet[HealthState]) -> QuerySet[MaintenanceTask]:
    """Upkeep that says what to do when the cooling fails, of where a node in use runs hot.

    bad: figures beyond their limits.
    """
    hot = bad.filter(rule__in=_HEAT).exclude(node__life_cycle=LifeCycle.RETIRED).order_by()
    return (
        tasks_visible(actor)
        .exclude(downgrade_path="")
        .filter(
            Q(domain__in=hot.values("node__domain"))
            | Q(domain__isnull=True, cluster__in=hot.values("node__cluster"))
        )
    )


def task_for(actor: Actor, task_id: int, right: Right = Right.READ) -> MaintenanceTask:
    """One task, retired or not. Raises Missing, NotAllowed."""
    task = _visible(actor).filter(pk=task_id).first()
    if task is None:
        raise Missing(_("there is no such upkeep, or you may not see it"))
    actor.require(right, task.cluster.scope_id)
    return task


def _visible(actor: Actor) -> QuerySet[MaintenanceTask]:
    rows = MaintenanceTask.objects.select_related("cluster", "domain")
    scopes = actor.scope_ids(Right.READ)
    return rows if scopes is None else rows.filter(cluster__scope_id__in=scopes)


def overdue_upkeep(domain: Domain, *, today: date) -> QuerySet[MaintenanceTask]:
    """Upkeep of a domain, or of its whole cluster, that should have been done before today."""
    rows = MaintenanceTask.objects.filter(retired_at__isnull=True, due_on__lt=today)
    return rows.filter(Q(domain=domain) | Q(domain__isnull=True, cluster_id=domain.cluster_id))
