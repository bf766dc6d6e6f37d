"""Filters of benchmark runs and baselines, for pages and API alike."""

from __future__ import annotations

import django_filters
from django.utils.translation import gettext_lazy as _

from apps.benchmarks.models import Baseline, BenchmarkRun
from apps.benchmarks.words import COLLECTIVES
from apps.core.filtering import WholeNumberFilter, YesNoFilter, of_cluster, of_node

STATUSES = [("complete", _("complete")), ("no_summary", _("without summary")), ("failed", _("failed"))]


class RunFilter(django_filters.FilterSet):
    """Runs by cluster, domain, node, collective, number of ranks, and how far the tool came."""

    cluster = of_cluster()
    domain = django_filters.CharFilter(field_name="domain__name", label=_("Domain"))
    node = of_node("nodes__name", distinct=True)
    collective = django_filters.ChoiceFilter(choices=list(COLLECTIVES.items()), label=_("Collective"))
    ranks = WholeNumberFilter(label=_("Ranks"))
    status = django_filters.ChoiceFilter(choices=STATUSES, label=_("Output"))

    class Meta:
        model = BenchmarkRun
        fields: list[str] = []


class BaselineFilter(django_filters.FilterSet):
    """Baselines by cluster, domain, collective, and whether they are in force."""

    cluster = of_cluster("domain__cluster")
    domain = django_filters.CharFilter(field_name="domain__name", label=_("Domain"))
    collective = django_filters.ChoiceFilter(choices=list(COLLECTIVES.items()), label=_("Collective"))
    in_force = YesNoFilter(field_name="replaced_at", lookup_expr="isnull", label=_("In force"))

    class Meta:
        model = Baseline
        fields: list[str] = []
