"""Ablations of a plan: the layouts to run for real, the versions that they have become, and what was measured."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import mean
from typing import Any

from django.utils.translation import gettext as _

from apps.core import digest
from apps.core.errors import Conflict
from apps.planning.documents import is_search, parallel_of_found
from apps.planning.engine.ablations import Ablation, ablations
from apps.planning.engine.reading import read_plan
from apps.planning.models import MeasuredStep, PlanVersion


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedAblation:
    """One layout to run: the planner's document for it, the version that has it, and its measured steps.

    `document` is None where the layout cannot run; `version` where nobody has made one of it.
    """

    ablation: Ablation
    document: dict[str, Any] | None
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
    listed = [(one, _document(version, one)) for one in ablations(read_plan(version.input))]
    digests = {digest.of_value(document): None for _one, document in listed if document is not None}
    rows = PlanVersion.objects.filter(plan=version.plan_id, input_digest__in=digests).order_by("-number")
    known = {row.input_digest: row for row in rows.prefetch_related("measured_steps")}
    return [_listed(one, document, known) for one, document in listed]


def _document(version: PlanVersion, one: Ablation) -> dict[str, Any] | None:
    if one.plan is None:
        return None
    asked = version.input
    parallel = parallel_of_found(one.plan.layout.row(0), asked["parallel"])
    return {"model": asked["model"], "system": asked["system"], "parallel": parallel}


def _listed(one: Ablation, document: dict[str, Any] | None, known: dict[str, PlanVersion]) -> ListedAblation:
    version = known.get(digest.of_value(document)) if document is not None else None
    steps = version.measured_steps.all() if version is not None else ()
    return ListedAblation(
        ablation=one,
        document=document,
        version=version,
        steps=tuple(step for step in steps if step.withdrawn_at is None),
    )
