"""Step times measured with a plan's layout: noted by people, withdrawn where they were wrong."""

from __future__ import annotations

from django.utils.translation import gettext as _

from apps.audit.services import decision, record
from apps.core import clock
from apps.core.actor import Actor
from apps.core.errors import Conflict, FieldError, Invalid
from apps.core.reasons import require_reason, says_something
from apps.core.rights import Right, TokenScope
from apps.core.texts import say
from apps.planning import queries
from apps.planning.documents import is_search
from apps.planning.models import MeasuredStep, PlanVersion
from apps.planning.services.computing import engine_version, uncalibrated_step_s

SHORTEST_STEP_S, LONGEST_STEP_S = 1e-6, 86_400.0


@decision
def note_measured_step(
    *, actor: Actor, plan_id: int, number: int, measured_s: float, source: str
) -> MeasuredStep:
    """A step of the version's layout took so long on its domain; later predictions there weigh it in.

    Raises Invalid for a time outside of a microsecond to a day or without a source, Conflict where the version is a
    search or belongs to no domain of the fleet.
    """
    version = queries.version_for(actor, plan_id, number)
    actor.require(Right.OPERATE, version.plan.scope_id)
    actor.require_token_scope(TokenScope.PLAN_WRITE)
    _check(version, measured_s, source)
    step = MeasuredStep.objects.create(
        domain=version.plan.domain,
        version=version,
        measured_s=measured_s,
        predicted_s=uncalibrated_step_s(version.input),
        engine_version=engine_version(),
        source=source.strip()[:300],
        noted_by_id=actor.person_id,
        noted_at=clock.now(),
    )
    record(
        actor=actor,
        action="plan.step_measured",
        on=step,
        scope_id=version.plan.scope_id,
        reason=step.source,
        after={"version": version.pk, "measured_s": measured_s, "predicted_s": step.predicted_s},
    )
    return step


@decision
def withdraw_measured_step(*, actor: Actor, step_id: int, reason: str) -> MeasuredStep:
    """The figure was wrong: predictions count it no more; it stays to be seen. Raises Conflict the second time."""
    step = queries.measured_step_for(actor, step_id)
    scope_id = step.version.plan.scope_id
    actor.require(Right.OPERATE, scope_id)
    actor.require_token_scope(TokenScope.PLAN_WRITE)
    reason = require_reason(reason)
    withdrawn = MeasuredStep.objects.filter(pk=step_id, withdrawn_at__isnull=True).update(
        withdrawn_at=clock.now(), withdrawn_by=actor.person_id, withdrawn_reason=reason[:500]
    )
    if not withdrawn:
        raise Conflict(_("the measured step is withdrawn already"), code="withdrawn")
    record(
        actor=actor,
        action="plan.step_withdrawn",
        on=step,
        scope_id=scope_id,
        reason=reason,
        before={"measured_s": step.measured_s},
    )
    step.refresh_from_db()
    return step


def _check(version: PlanVersion, measured_s: float, source: str) -> None:
    errors = []
    if not SHORTEST_STEP_S <= measured_s <= LONGEST_STEP_S:
        message = say(
            "a step takes from a millionth of a second to %(longest_step_s)s seconds",
            longest_step_s=f"{LONGEST_STEP_S:.0f}",
        )
        errors.append(FieldError(pointer="/measured_s", message=message, code="out_of_range"))
    if not says_something(source):
        errors.append(
            FieldError(pointer="/source", message=_("say where the figure is from"), code="required")
        )
    if errors:
        raise Invalid(errors[0].message, errors=errors)
    if is_search(version.input):
        raise Conflict(_("a search has no layout that could be measured"), code="no_layout")
    if version.plan.domain is None:
        raise Conflict(_("hypothetical hardware measures nothing"), code="no_domain")
