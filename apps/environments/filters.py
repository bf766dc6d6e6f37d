"""Filters of matrices, checks, findings and facts, for pages and API alike."""

from __future__ import annotations

from typing import Any

import django_filters
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from apps.catalogue.engine.components import components
from apps.core.filtering import WholeNumberFilter, YesNoFilter, of_cluster, of_node
from apps.core.status import VERDICT_CHOICES
from apps.environments.models import DriftCheck, DriftFinding, Matrix, MatrixState, MatrixVersion, NodeFact
from apps.environments.words import FINDING_KINDS, components_called

_FINDING_STATES = [("open", _("open")), ("resolved", _("resolved"))]


class ComponentFilter(django_filters.CharFilter):
    """A component by its id, else all whose id or name holds the text, in the reader's language too."""

    def filter(self, qs: Any, value: str) -> Any:
        text = value.strip()
        if not text:
            return qs
        if text in components():
            return qs.filter(component=text)
        return qs.filter(Q(component__icontains=text) | Q(component__in=components_called(text)))


class MatrixFilter(django_filters.FilterSet):
    cluster = of_cluster()
    domain = WholeNumberFilter(field_name="domain_id", label=_("Domain"))

    class Meta:
        model = Matrix
        fields: list[str] = []


class VersionFilter(django_filters.FilterSet):
    cluster = of_cluster("matrix__cluster")
    domain = WholeNumberFilter(field_name="matrix__domain_id", label=_("Domain"))
    matrix = WholeNumberFilter(field_name="matrix_id", label=_("Matrix"))
    state = django_filters.ChoiceFilter(choices=MatrixState.choices, label=_("State"))
    known_good = YesNoFilter(
        field_name="known_good_at", lookup_expr="isnull", exclude=True, label=_("Known-good")
    )

    class Meta:
        model = MatrixVersion
        fields: list[str] = []


class CheckFilter(django_filters.FilterSet):
    cluster = of_cluster("domain__cluster")
    domain = WholeNumberFilter(field_name="domain_id", label=_("Domain"))
    verdict = django_filters.ChoiceFilter(choices=VERDICT_CHOICES, label=_("Verdict"))

    class Meta:
        model = DriftCheck
        fields: list[str] = []


class FindingFilter(django_filters.FilterSet):
    cluster = of_cluster("domain__cluster")
    domain = WholeNumberFilter(field_name="domain_id", label=_("Domain"))
    node = of_node()
    component = ComponentFilter(label=_("Component"))
    kind = django_filters.ChoiceFilter(choices=[*FINDING_KINDS.items()], label=_("Kind"))
    verdict = django_filters.ChoiceFilter(choices=VERDICT_CHOICES, label=_("Severity"))
    owner = WholeNumberFilter(field_name="owner_id", label=_("Owner"))
    state = django_filters.ChoiceFilter(choices=_FINDING_STATES, method="in_state", label=_("State"))

    class Meta:
        model = DriftFinding
        fields: list[str] = []

    def in_state(self, rows: Any, _name: str, value: str) -> Any:
        return rows.filter(resolved_at__isnull=value == "open")


class FindingOnPageFilter(FindingFilter):
    """The same on the page of one domain, without what the page says already."""

    cluster = None
    domain = None
    owner = None
    state = None


class FactFilter(django_filters.FilterSet):
    cluster = of_cluster("node__cluster")
    node = of_node()
    component = ComponentFilter(label=_("Component"))
    kind = django_filters.CharFilter(label=_("Kind of evidence"))
    current = YesNoFilter(field_name="until", lookup_expr="isnull", label=_("Current"))

    class Meta:
        model = NodeFact
        fields: list[str] = []
