"""Filters of faults, figures and upkeep, for pages and API alike."""

from __future__ import annotations

from typing import Any

import django_filters
from django.utils.translation import gettext_lazy as _

from apps.core.filtering import WholeNumberFilter, of_cluster, of_node
from apps.core.status import VERDICT_CHOICES
from apps.health.engine.faults import KIND_NAMES
from apps.health.models import FaultRecord, HealthState, MaintenanceTask, Upkeep
from apps.health.words import SEVERITIES

_STATES = [("open", _("open")), ("resolved", _("resolved"))]


class FaultFilter(django_filters.FilterSet):
    cluster = of_cluster("node__cluster")
    node = of_node()
    kind = django_filters.ChoiceFilter(choices=[*KIND_NAMES.items()], label=_("Kind"))
    code = WholeNumberFilter(label=_("Code"))
    severity = django_filters.ChoiceFilter(choices=[*SEVERITIES.items()], label=_("Severity"))
    state = django_filters.ChoiceFilter(choices=_STATES, method="in_state", label=_("State"))

    class Meta:
        model = FaultRecord
        fields: list[str] = []

    def in_state(self, rows: Any, _name: str, value: str) -> Any:
        return rows.filter(resolved_at__isnull=value == "open")


class StateFilter(django_filters.FilterSet):
    cluster = of_cluster("node__cluster")
    node = of_node()
    rule = django_filters.CharFilter(label=_("Rule"))
    verdict = django_filters.ChoiceFilter(choices=VERDICT_CHOICES, label=_("Verdict"))

    class Meta:
        model = HealthState
        fields: list[str] = []


class UpkeepFilter(django_filters.FilterSet):
    cluster = of_cluster()
    kind = django_filters.ChoiceFilter(choices=Upkeep.choices, label=_("Kind"))
    due_before = django_filters.DateFilter(field_name="due_on", lookup_expr="lt", label=_("Due before"))

    class Meta:
        model = MaintenanceTask
        fields: list[str] = []
