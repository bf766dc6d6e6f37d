"""Checklist templates: the standard one exists from the first launch on."""

from __future__ import annotations

from apps.core import clock
from apps.launches.engine.checklist import STANDARD
from apps.launches.models import ChecklistTemplate

STANDARD_NAME = "Standard"


def standard_template() -> ChecklistTemplate:
    """The newest standard template; a new version is written where the shipped items have changed."""
    items = [item.to_json() for item in STANDARD]
    newest = ChecklistTemplate.objects.filter(name=STANDARD_NAME).first()
    if newest is not None and newest.items == items:
        return newest
    template, _created = ChecklistTemplate.objects.get_or_create(
        name=STANDARD_NAME,
        number=newest.number + 1 if newest else 1,
        defaults={"items": items, "created_at": clock.now()},
    )
    return template
