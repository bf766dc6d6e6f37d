"""Plans: asked, computed by a worker, and chosen for a launch."""

from __future__ import annotations

from math import prod
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import Max
from django.utils.translation import gettext as _

from apps.audit.services import decision, record
from apps.core import clock, digest
from apps.core.actor import Actor
from apps.core.errors import Conflict, FieldError, Invalid, Missing
from apps.core.reasons import says_something
from apps.core.rights import Right, TokenScope
from apps.core.texts import say
from apps.fleet.models import Domain
from apps.jobs.services import enqueue
from apps.planning import queries
from apps.planning.documents import is_search, parallel_of_found
from apps.planning.engine.ablations import ablations
from apps.planning.engine.reading import read_plan
from apps.planning.models import Plan, PlanVersion
from apps.planning.services.asked import written_out
from apps.planning.services.computing import Progress, answer_to, check_document


@decision
def create_plan(
    *, actor: Actor, scope_id: int, name: str, document: dict[str, Any], domain_id: int | None = None
) -> PlanVersion:
    """A new plan and the job that computes its first version.

    document: as the command plan_estimate takes it, with model, system and parallel; or a search, as plan_search
    takes it; what `asked.written_out` knows may be left to it. Raises Invalid with a pointer to each
    field that is wrong, Missing for a domain of another scope, Conflict where the name is taken.
    """
    _may_write(actor, scope_id)
    domain = _domain(domain_id, scope_id) if domain_id else None
    document = written_out(document, scope_id=scope_id, domain=domain)
    check_document(document)
    if not says_something(name):
        raise Invalid(_("a plan has a name"), errors=[FieldError(pointer="/name", message=_("say a name"))])
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
        raise Conflict(
            say("there is a plan %(name)s already", name=f"{name!r}"), code="name_taken"
        ) from error
    return _add_version(actor, plan, document)


@decision
def revise_plan(*, actor: Actor, plan_id: int, document: dict[str, Any]) -> PlanVersion:
    """The next version of a plan. Raises Invalid; the same question again gives the version that has it."""
    plan = _plan_to_write(actor, plan_id)
    document = written_out(document, scope_id=plan.scope_id, domain=plan.domain)
    return _revised(actor, plan, document)


def _revised(actor: Actor, plan: Plan, document: dict[str, Any]) -> PlanVersion:
    check_document(document)
    newest = plan.versions.first()
    if newest is not None and newest.input_digest == digest.of_value(document):
        return newest
    return _add_version(actor, plan, document)


@decision
def take_found(*, actor: Actor, plan_id: int, number: int, place: int) -> PlanVersion:
    """One of the layouts that a search found becomes the next version of the plan.

    place: its place in the ranking, from 1. Raises Conflict where the version is no search or is not computed,
    Missing where there is no such place.
    """
    version = queries.version_for(actor, plan_id, number)
    if not is_search(version.input) or version.result is None:
        raise Conflict(_("only a search that is done has layouts to choose from"), code="no_search")
    best = version.result["best"]
    if not 1 <= place <= len(best):
        raise Missing(say("layouts that the search lists: %(count)s", count=len(best)))
    parallel = parallel_of_found(best[place - 1]["configuration"], version.input)
    used = prod(parallel[name] for name in ("tp", "pp", "dp", "cp"))
    system = version.input["system"] | {"accelerators": used}
    document = {"model": version.input["model"], "system": system, "parallel": parallel}
    return _revised(actor, _plan_to_write(actor, plan_id), document)


@decision
def take_ablation(*, actor: Actor, plan_id: int, number: int, place: int) -> PlanVersion:
    """One of the layouts to run for comparison becomes the next version, so that what it takes can be noted.

    place: its place in the list, from 1. Raises Missing where there is none, or it cannot run.
    """
    version = queries.version_for(actor, plan_id, number)
    listed = () if is_search(version.input) else ablations(read_plan(version.input))
    predicted = listed[place - 1].prediction if 1 <= place <= len(listed) else None
    if predicted is None:
        raise Missing(_("the version lists no such layout"))
    parallel = parallel_of_found(predicted.configuration, version.input["parallel"])
    return _revised(actor, _plan_to_write(actor, plan_id), dict(version.input) | {"parallel": parallel})


@decision
def compute_again(*, actor: Actor, plan_id: int, number: int) -> PlanVersion:
    """Ask anew for a version whose job failed or was cancelled. Raises Conflict where it is done or under way."""
    version = queries.version_for(actor, plan_id, number)
    _may_write(actor, version.plan.scope_id)
    if version.done_at is not None or (version.job is not None and not version.job.is_over):
        raise Conflict(_("the version is computed, or its job is still under way"), code="under_way")
    version.job = enqueue(
        "planning.estimate", actor=actor, scope_id=version.plan.scope_id, version_id=version.pk
    )
    PlanVersion.objects.filter(pk=version.pk, done_at__isnull=True).update(job=version.job)
    record(actor=actor, action="plan.asked_again", on=version, scope_id=version.plan.scope_id)
    return version


def compute_version(*, version_id: int, on_progress: Progress | None = None) -> dict[str, Any]:
    """Compute a version and give its result; writing it down is `keep_result`, in the job's own transaction."""
    return answer_to(PlanVersion.objects.get(pk=version_id).input, on_progress)


def keep_result(*, version_id: int, result: dict[str, Any]) -> PlanVersion:
    """Write the result of a version down. It follows from the input: no decision, no audit event.

    A search fits nothing by itself: what it found is made a version first.
    """
    PlanVersion.objects.filter(pk=version_id, done_at__isnull=True).update(
        result=result,
        fits=result["memory"]["fits"] if "memory" in result else None,
        engine_version=result["engine_version"],
        done_at=clock.now(),
    )
    return PlanVersion.objects.select_related("plan").get(pk=version_id)


@decision
def use_for_launch(*, actor: Actor, plan_id: int, number: int) -> Plan:
    """Launches may choose this version from now on. Raises Conflict where it is not computed or does not fit."""
    version = queries.version_for(actor, plan_id, number)
    _may_write(actor, version.plan.scope_id)
    if not version.fits:
        raise Conflict(_("only a computed version that fits can be a launch plan"), code="does_not_fit")
    before = version.plan.launch_version_id
    if before == version.pk:
        return queries.plan_for(actor, plan_id)
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
    try:
        with transaction.atomic():
            version = PlanVersion.objects.create(
                plan=plan,
                number=newest + 1,
                input=document,
                input_digest=digest.of_value(document),
                created_by_id=actor.person_id,
                created_at=clock.now(),
            )
    except IntegrityError as error:  # the other of two people at once took the number
        raise Conflict(
            _("somebody added a version just now; look at it first"), code="version_added"
        ) from error
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


def _plan_to_write(actor: Actor, plan_id: int) -> Plan:
    plan = queries.plan_for(actor, plan_id, Right.OPERATE)
    _may_write(actor, plan.scope_id)
    return plan


def _domain(domain_id: int, scope_id: int) -> Domain:
    domain = Domain.objects.filter(pk=domain_id, cluster__scope_id=scope_id, retired_at__isnull=True).first()
    if domain is None:
        raise Missing(_("there is no such domain in this cluster"))
    return domain


def _may_write(actor: Actor, scope_id: int) -> None:
    actor.require(Right.OPERATE, scope_id)
    actor.require_token_scope(TokenScope.PLAN_WRITE)
