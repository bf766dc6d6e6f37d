"""What was measured on a domain, and the calibration that follows from it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from django.db.models import QuerySet
from django.utils.translation import gettext as _

from apps.core.actor import Actor
from apps.core.errors import Missing
from apps.core.rights import Right
from apps.fleet.models import Domain
from apps.fleet.queries import clusters_visible
from apps.planning.engine.calibration import Calibration, Observation, calibrate, calibrated
from apps.planning.models import MeasuredStep


@dataclass(frozen=True, slots=True, kw_only=True)
class CalibrationVersion:
    """The calibration as it stood from a moment on, and the step that was noted or withdrawn then."""

    number: int
    since: datetime
    step: MeasuredStep
    withdrawn: bool
    calibration: Calibration


def measured_steps_visible(actor: Actor) -> QuerySet[MeasuredStep]:
    """Measured steps of scopes that the actor may read, newest first; withdrawn ones too."""
    rows = MeasuredStep.objects.select_related("version__plan", "domain__cluster", "noted_by", "withdrawn_by")
    rows = rows.defer("version__input", "version__result")  # large, and no list shows them
    scopes = actor.scope_ids(Right.READ)
    return rows if scopes is None else rows.filter(version__plan__scope_id__in=scopes)


def measured_step_for(actor: Actor, step_id: int) -> MeasuredStep:
    """One measured step. Raises Missing."""
    step = measured_steps_visible(actor).filter(pk=step_id).first()
    if step is None:
        raise Missing(_("there is no such measured step, or you may not see it"))
    return step


def measured_domain_for(actor: Actor, domain_id: int) -> Domain:
    """A domain whose measured steps the actor may read, retired ones too. Raises Missing."""
    domain = Domain.objects.filter(pk=domain_id, cluster__in=clusters_visible(actor)).first()
    if domain is None:
        raise Missing(_("there is no such domain, or you may not see it"))
    return domain


def calibration_of(domain: Domain) -> Calibration:
    """The calibration of a domain: a function of the steps that count, so leaving one out reverses it."""
    steps = MeasuredStep.objects.filter(domain=domain, withdrawn_at__isnull=True)
    return calibrate([_observed(step) for step in steps])


def calibration_versions(steps: Iterable[MeasuredStep]) -> list[CalibrationVersion]:
    """How the calibration came about, step by step noted or withdrawn, newest first."""
    known = list(steps)
    moments = [(step.noted_at, step.pk, step, False) for step in known]
    moments += [(step.withdrawn_at, step.pk, step, True) for step in known if step.withdrawn_at is not None]
    versions: list[CalibrationVersion] = []
    log_ratio_sum, runs = 0.0, 0
    for since, _pk, step, withdrawn in sorted(moments, key=lambda moment: moment[:2]):
        sign = -1 if withdrawn else 1
        log_ratio_sum += sign * _observed(step).log_ratio
        runs += sign
        versions.append(
            CalibrationVersion(
                number=len(versions) + 1,
                since=since,
                step=step,
                withdrawn=withdrawn,
                calibration=calibrated(log_ratio_sum if runs else 0.0, runs),
            )
        )
    return versions[::-1]


def _observed(step: MeasuredStep) -> Observation:
    return Observation(predicted_s=step.predicted_s, measured_s=step.measured_s)
