"""Plans: which there are, and which of their versions a launch may use."""

from __future__ import annotations

from collections.abc import Iterable

from django.db.models import OuterRef, Prefetch, QuerySet, Subquery
from django.utils.translation import gettext as _

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
        raise Missing(_("there is no such plan, or you may not see it"))
    actor.require(right, plan.scope_id)
    return plan


def version_for(actor: Actor, plan_id: int, number: int) -> PlanVersion:
    """One version of a plan. Raises Missing."""
    plan = plan_for(actor, plan_id)
    version = plan.versions.select_related("plan__domain__cluster", "job").filter(number=number).first()
    if version is None:
        raise Missing(_("there is no such version of this plan"))
    return version


def plans_with_newest(plans: QuerySet[Plan]) -> QuerySet[Plan]:
    """The plans with their newest version joined as the list `newest_versions` of one."""
    newest = PlanVersion.objects.filter(plan=OuterRef("plan")).order_by("-number").values("pk")[:1]
    rows = PlanVersion.objects.filter(pk=Subquery(newest)).select_related("job")
    return plans.prefetch_related(Prefetch("versions", queryset=rows, to_attr="newest_versions"))


def versions_of(actor: Actor, pairs: Iterable[tuple[int, int]]) -> list[PlanVersion]:
    """Versions by plan id and number, in the order given. Raises Missing for the first that is not there."""
    return [version_for(actor, plan_id, number) for plan_id, number in pairs]


def versions_visible(actor: Actor) -> QuerySet[PlanVersion]:
    """Versions of plans that the actor may read, newest first."""
    return PlanVersion.objects.filter(plan__in=plans_visible(actor)).select_related("plan").order_by("-id")


def launch_plan_versions(*, scope_ids: Iterable[int]) -> QuerySet[PlanVersion]:
    """Versions that were chosen as launch plans in these scopes, newest first."""
    chosen = Plan.objects.filter(scope_id__in=list(scope_ids), launch_version__isnull=False)
    rows = PlanVersion.objects.filter(pk__in=chosen.values("launch_version"))
    return rows.select_related("plan").order_by("-id")
