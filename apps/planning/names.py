"""Pages beside the ids of the audit trail; see apps.audit.directory."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from django.urls import reverse

from apps.planning.models import MeasuredStep, PlanVersion


def pages_of_versions(ids: Collection[str]) -> Mapping[str, str]:
    """Ids of plan versions to their pages."""
    rows = PlanVersion.objects.filter(pk__in=_numbers(ids)).values_list("pk", "plan_id", "number")
    return {str(pk): reverse("planning:version", args=[plan, number]) for pk, plan, number in rows}


def pages_of_steps(ids: Collection[str]) -> Mapping[str, str]:
    """Ids of measured steps to the page of the version that they were measured of."""
    rows = MeasuredStep.objects.filter(pk__in=_numbers(ids))
    found = rows.values_list("pk", "version__plan_id", "version__number")
    return {str(pk): reverse("planning:version", args=[plan, number]) for pk, plan, number in found}


def _numbers(ids: Collection[str]) -> list[int]:
    return [int(one) for one in ids if one.isdecimal()]
