"""Filters of plans, for pages and API alike."""

from __future__ import annotations

import django_filters
from django.db.models import QuerySet
from django.utils.translation import gettext_lazy as _

from apps.core.filtering import WholeNumberFilter, YesNoFilter, of_cluster
from apps.planning.models import MeasuredStep, Plan


class PlanFilter(django_filters.FilterSet):
    """Plans by cluster, domain, a part of the name, and whether launches may choose them."""

    cluster = of_cluster("scope")
    domain = django_filters.CharFilter(field_name="domain__name", label=_("Domain"))
    name = django_filters.CharFilter(lookup_expr="icontains", label=_("Name"))
    for_launch = django_filters.ChoiceFilter(
        choices=[("true", _("yes")), ("false", _("no"))],
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

    cluster = of_cluster("domain__cluster")
    domain = django_filters.CharFilter(field_name="domain__name", label=_("Domain"))
    plan = WholeNumberFilter(field_name="version__plan_id", label=_("Plan"))
    counts = YesNoFilter(field_name="withdrawn_at", lookup_expr="isnull", label=_("Counts"))

    class Meta:
        model = MeasuredStep
        fields: list[str] = []
