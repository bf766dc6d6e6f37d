"""Plans: which there are, and which of their versions a launch may use."""

from __future__ import annotations

from collections.abc import Iterable

from django.db.models import QuerySet

from apps.core.actor import Actor
from apps.core.errors import Missing
from apps.core.rights import Right
from apps.planning.models import Plan, PlanVersion


def plans_visible(actor: Actor) -> QuerySet[Plan]:
    """Plans of scopes that the actor may read, newest first."""
    rows = Plan.objects.select_related("scope", "domain__cluster", "created_by", "launch_version")
    scopes = actor.scope_ids(Right.READ)
    return rows if scopes is None else rows.filter(scope_id__in=scopes)


def plan_for(actor: Actor, plan_id: int, right: Right = Right.READ) -> Plan:
    """One plan. Raises Missing, NotAllowed."""
    plan = plans_visible(actor).filter(pk=plan_id).first()
    if plan is None:
        raise Missing("there is no such plan, or you may not see it")
    actor.require(right, plan.scope_id)
    return plan


def version_for(actor: Actor, plan_id: int, number: int) -> PlanVersion:
    """One version of a plan. Raises Missing."""
    plan = plan_for(actor, plan_id)
    version = plan.versions.select_related("plan__domain__cluster", "job").filter(number=number).first()
    if version is None:
        raise Missing("there is no such version of this plan")
    return version


def launch_plan_versions(*, scope_ids: Iterable[int]) -> QuerySet[PlanVersion]:
    """Versions that were chosen as launch plans in these scopes, newest first."""
    chosen = Plan.objects.filter(scope_id__in=list(scope_ids), launch_version__isnull=False)
    rows = PlanVersion.objects.filter(pk__in=chosen.values("launch_version"))
    return rows.select_related("plan").order_by("-id")
