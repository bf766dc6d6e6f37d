"""Plans: asked, computed by a worker, and chosen for a launch."""

from __future__ import annotations

from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import Max

from apps.audit.services import decision, record
from apps.core import clock, digest
from apps.core.actor import Actor
from apps.core.errors import Conflict, FieldError, Invalid
from apps.core.rights import Right, TokenScope
from apps.fleet.models import Domain
from apps.jobs.services import enqueue
from apps.planning import queries
from apps.planning.engine.estimate import estimate
from apps.planning.engine.reading import read_plan
from apps.planning.models import Plan, PlanVersion


@decision
def create_plan(
    *, actor: Actor, scope_id: int, name: str, document: dict[str, Any], domain_id: int | None = None
) -> PlanVersion:
    """A new plan and the job that computes its first version.

    document: model, system, parallel as the command plan_estimate takes them. Raises Invalid with a pointer to
    each field that is wrong, Conflict where the name is taken.
    """
    _may_write(actor, scope_id)
    read_plan(document)
    if not name.strip():
        raise Invalid("a plan has a name", errors=[FieldError(pointer="/name", message="say a name")])
    domain = Domain.objects.get(pk=domain_id, cluster__scope_id=scope_id) if domain_id else None
    try:
        with transaction.atomic():
            plan = Plan.objects.create(
                scope_id=scope_id,
                domain=domain,
                name=name.strip()[:120],
                created_by_id=actor.person_id,
                created_at=clock.now(),
            )
    except IntegrityError as error:
        raise Conflict(f"there is a plan {name!r} already", code="name_taken") from error
    return _add_version(actor, plan, document)


@decision
def revise_plan(*, actor: Actor, plan_id: int, document: dict[str, Any]) -> PlanVersion:
    """The next version of a plan. Raises Invalid; the same question again gives the version that has it."""
    plan = queries.plan_for(actor, plan_id, Right.OPERATE)
    _may_write(actor, plan.scope_id)
    read_plan(document)
    newest = plan.versions.first()
    if newest is not None and newest.input_digest == digest.of_value(document):
        return newest
    return _add_version(actor, plan, document)


def compute_version(*, version_id: int) -> dict[str, Any]:
    """Compute a version and give its result; writing it down is `keep_result`, in the job's own transaction."""
    version = PlanVersion.objects.get(pk=version_id)
    return estimate(read_plan(version.input)).to_json()


def keep_result(*, version_id: int, result: dict[str, Any]) -> PlanVersion:
    """Write the result of a version down. It follows from the input: no decision, no audit event."""
    PlanVersion.objects.filter(pk=version_id, done_at__isnull=True).update(
        result=result, fits=result["memory"]["fits"], done_at=clock.now()
    )
    return PlanVersion.objects.select_related("plan").get(pk=version_id)


@decision
def use_for_launch(*, actor: Actor, plan_id: int, number: int) -> Plan:
    """Launches may choose this version from now on. Raises Conflict where it is not computed or does not fit."""
    version = queries.version_for(actor, plan_id, number)
    _may_write(actor, version.plan.scope_id)
    if not version.fits:
        raise Conflict("only a computed version that fits can be a launch plan", code="does_not_fit")
    before = version.plan.launch_version_id
    Plan.objects.filter(pk=plan_id).update(launch_version=version)
    record(
        actor=actor,
        action="plan.chosen",
        on=version,
        scope_id=version.plan.scope_id,
        before={"version": before},
        after={"version": version.pk, "digest": version.input_digest},
    )
    return queries.plan_for(actor, plan_id)


def _add_version(actor: Actor, plan: Plan, document: dict[str, Any]) -> PlanVersion:
    newest = plan.versions.aggregate(newest=Max("number"))["newest"] or 0
    version = PlanVersion.objects.create(
        plan=plan,
        number=newest + 1,
        input=document,
        input_digest=digest.of_value(document),
        created_by_id=actor.person_id,
        created_at=clock.now(),
    )
    version.job = enqueue("planning.estimate", actor=actor, scope_id=plan.scope_id, version_id=version.pk)
    version.save(update_fields=["job"])
    record(
        actor=actor,
        action="plan.asked",
        on=version,
        scope_id=plan.scope_id,
        after={"number": version.number, "digest": version.input_digest},
    )
    return version


def _may_write(actor: Actor, scope_id: int) -> None:
    actor.require(Right.OPERATE, scope_id)
    actor.require_token_scope(TokenScope.PLAN_WRITE)
