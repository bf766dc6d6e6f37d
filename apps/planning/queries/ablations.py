"""Ablations of a plan: the layouts to run for real, the versions that they have become, and what was measured."""

from __future__ import annotations

from dataclasses import dataclass, replace
from statistics import mean
from typing import Any

from django.utils.translation import gettext as _

from apps.core.errors import Conflict
from apps.planning.documents import is_search
from apps.planning.engine.ablations import Ablation, ablations
from apps.planning.engine.estimate import PlanInput
from apps.planning.engine.reading import read_plan
from apps.planning.engine.system import Measured
from apps.planning.models import MeasuredStep, PlanVersion


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedAblation:
    """One layout to run, the newest version that has it (None where nobody has made one), and its measured steps."""

    ablation: Ablation
    version: PlanVersion | None
    steps: tuple[MeasuredStep, ...]

    @property
    def measured_s(self) -> float | None:
        """Mean of the measured steps that count."""
        return mean(step.measured_s for step in self.steps) if self.steps else None

    @property
    def ratio(self) -> float | None:
        """Measured over what was predicted without any calibration."""
        return mean(step.ratio for step in self.steps) if self.steps else None


def listed_ablations(version: PlanVersion) -> list[ListedAblation]:
    """The list for a version of one layout. Raises Conflict for a search: choose a layout first."""
    if is_search(version.input):
        raise Conflict(
            _("a search has no layout of its own; make a version of one it found"), code="no_layout"
        )
    known = [
        (row, _what_runs(read_plan(row.input)))
        for row in version.plan.versions.prefetch_related("measured_steps")
        if not is_search(row.input)
    ]
    return [_listed(one, known) for one in ablations(read_plan(version.input))]


def _what_runs(plan: PlanInput) -> tuple[Any, ...]:
    """What a plan would start, however much of it its document states; what was measured there makes no other run."""
    system = replace(plan.system, measured=Measured())
    return plan.model, system, plan.workload, plan.layout.row(0)


def _listed(one: Ablation, known: list[tuple[PlanVersion, tuple[Any, ...]]]) -> ListedAblation:
    wanted = _what_runs(one.plan) if one.plan is not None else None
    versions = [version for version, runs in known if runs == wanted]
    steps = (step for version in versions for step in version.measured_steps.all())
    return ListedAblation(
        ablation=one,
        version=versions[0] if versions else None,
        steps=tuple(step for step in steps if step.withdrawn_at is None),
    )
