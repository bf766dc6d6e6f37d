"""Filters of plans, for pages and API alike."""

from __future__ import annotations

import django_filters
from django.db.models import QuerySet
from django.utils.translation import gettext_lazy as _

from apps.core.filtering import WholeNumberFilter
from apps.planning.models import MeasuredStep, Plan


class PlanFilter(django_filters.FilterSet):
    """Plans by cluster, domain, a part of the name, and whether launches may choose them."""

    cluster = django_filters.CharFilter(field_name="scope__slug", label=_("Cluster"))
    domain = django_filters.CharFilter(field_name="domain__name", label=_("Domain"))
    name = django_filters.CharFilter(lookup_expr="icontains", label=_("Name"))
    for_launch = django_filters.ChoiceFilter(
        choices=[("true", _("yes")), ("false", _("no"))],
        empty_label=_("any"),
        method="by_launch",
        label=_("Launch plan"),
    )

    class Meta:
        model = Plan
        fields: list[str] = []

    def by_launch(self, plans: QuerySet[Plan], _name: str, chosen: str) -> QuerySet[Plan]:
        return plans.filter(launch_version__isnull=chosen == "false")


class MeasuredStepFilter(django_filters.FilterSet):
    """Measured steps by cluster, domain, plan, and whether they were withdrawn."""

    cluster = django_filters.CharFilter(field_name="domain__cluster__slug", label=_("Cluster"))
    domain = django_filters.CharFilter(field_name="domain__name", label=_("Domain"))
    plan = WholeNumberFilter(field_name="version__plan_id", label=_("Plan"))
    counts = django_filters.BooleanFilter(field_name="withdrawn_at", lookup_expr="isnull", label=_("Counts"))

    class Meta:
        model = MeasuredStep
        fields: list[str] = []
