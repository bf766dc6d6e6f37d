"""Filters of the fleet's lists, for pages and API alike."""

from __future__ import annotations

from typing import Any

import django_filters
from django import forms
from django.db.models import QuerySet
from django.forms.utils import flatatt
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext_lazy as _

from apps.core.filtering import WholeNumberFilter, YesNoFilter, of_cluster, of_node
from apps.fleet.engine.node_state import NodeState
from apps.fleet.models import (
    STAGE_CHOICES,
    Cluster,
    Domain,
    HoldKind,
    ImportState,
    LifeCycle,
    Node,
    NodeHealth,
    NodeQuerySet,
    PartKind,
)
from apps.fleet.queries import in_state

STATE_WORDS = {
    NodeState.IN_SERVICE: _("in service"),
    NodeState.SUB_HEALTHY: _("sub-healthy"),
    NodeState.QUARANTINED: _("quarantined"),
    NodeState.FAULTY: _("faulty"),
    NodeState.MAINTENANCE: _("maintenance"),
    NodeState.IN_CHANGE: _("in change"),
    NodeState.TRAINING: _("training"),
    NodeState.SPARE: _("spare"),
    NodeState.RETIRED: _("retired"),
}


class NodeFilter(django_filters.FilterSet):
    """name: part of it. state: derived from life cycle, health and holds. A page of one cluster names it itself."""

    cluster = of_cluster()
    name = django_filters.CharFilter(lookup_expr="icontains", label=_("Name"))
    state = django_filters.ChoiceFilter(
        choices=[(state.value, word) for state, word in STATE_WORDS.items()],
        method="by_state",
        label=_("State"),
    )
    health = django_filters.ChoiceFilter(choices=NodeHealth.choices, label=_("Health"))
    life_cycle = django_filters.ChoiceFilter(choices=LifeCycle.choices, label=_("Life cycle"))
    domain = django_filters.CharFilter(field_name="domain__name", label=_("Domain"))
    rack = django_filters.CharFilter(label=_("Rack"))

    def by_state(self, nodes: QuerySet[Node], _name: str, state: str) -> QuerySet[Node]:
        return nodes.filter(in_state(NodeState(state)))


class LongSelect(forms.Select):
    """A choice among hundreds, whose options are put together without a template for each."""

    def render(self, name: str, value: Any, attrs: Any = None, renderer: Any = None) -> SafeString:
        options = format_html_join(
            "",
            '<option value="{}"{}>{}</option>',
            (
                (option, mark_safe(" selected") if str(option) == str(value or "") else "", label)
                for option, label in self.choices
            ),
        )
        own = self.build_attrs(self.attrs, {"name": name, **(attrs or {})})
        return format_html("<select{}>{}</select>", flatatt(own), options)


NO_DOMAIN = "-"  # no domain can be called so


class NodeOfClusterFilter(NodeFilter):
    """The same on the page of one cluster, whose domains are offered for choice, and those in none (not retired)."""

    cluster = None
    domain = django_filters.ChoiceFilter(
        method="by_domain",
        widget=LongSelect,
        label=_("Domain"),
        null_value=NO_DOMAIN,
        null_label=_("in none"),
    )

    def __init__(self, *args: Any, cluster: Cluster, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        domains = Domain.objects.filter(cluster=cluster, retired_at__isnull=True)
        names = domains.order_by("name").values_list("name", flat=True)
        self.filters["domain"].extra["choices"] = [(name, name) for name in names]

    def by_domain(self, nodes: NodeQuerySet, _name: str, domain: str) -> NodeQuerySet:
        return (
            nodes.in_use().filter(domain=None) if domain == NO_DOMAIN else nodes.filter(domain__name=domain)
        )


class ClusterFilter(django_filters.FilterSet):
    """Clusters by name and by whether they are demonstrations."""

    name = django_filters.CharFilter(lookup_expr="icontains", label=_("Name"))
    is_demo = YesNoFilter(label=_("Demonstration"))


class DomainFilter(django_filters.FilterSet):
    """Domains by cluster and name."""

    cluster = of_cluster()
    name = django_filters.CharFilter(label=_("Name"))


class HoldFilter(django_filters.FilterSet):
    """Holds by cluster, node, kind, owner, and whether they are active."""

    cluster = of_cluster("node__cluster")
    node = of_node()
    kind = django_filters.ChoiceFilter(choices=HoldKind.choices, label=_("Kind"))
    owner = django_filters.CharFilter(label=_("Owner"))
    active = YesNoFilter(field_name="released_at", lookup_expr="isnull", label=_("Active"))


class AliasFilter(django_filters.FilterSet):
    """Aliases by cluster, node and name."""

    cluster = of_cluster()
    node = of_node()
    name = django_filters.CharFilter(label=_("Name"))


class AcceleratorFilter(django_filters.FilterSet):
    """Accelerators by where they are and by identity."""

    cluster = of_cluster("node__cluster")
    domain = django_filters.CharFilter(field_name="node__domain__name", label=_("Domain"))
    node = of_node()
    model = django_filters.CharFilter(label=_("Card model"))
    uuid = django_filters.CharFilter(label=_("UUID"))
    serial = django_filters.CharFilter(label=_("Serial"))


class SwitchFilter(django_filters.FilterSet):
    """Switches by cluster, domain and tier."""

    cluster = of_cluster()
    domain = django_filters.CharFilter(field_name="domain__name", label=_("Domain"))
    tier = WholeNumberFilter(label=_("Tier"))


class LinkFilter(django_filters.FilterSet):
    """Links by cluster, domain and the switch above."""

    cluster = of_cluster("upper__cluster")
    domain = django_filters.CharFilter(field_name="upper__domain__name", label=_("Domain"))
    upper = django_filters.CharFilter(field_name="upper__name", label=_("Switch"))


class HardwareChangeFilter(django_filters.FilterSet):
    """Changes of hardware by cluster and node."""

    cluster = of_cluster("node__cluster")
    node = of_node()


class PartFilter(django_filters.FilterSet):
    """Boards and cards by cluster, stage and identity."""

    cluster = of_cluster()
    kind = django_filters.ChoiceFilter(choices=PartKind.choices, label=_("Kind"))
    stage = django_filters.ChoiceFilter(choices=STAGE_CHOICES, label=_("State"))
    node = of_node()
    serial = django_filters.CharFilter(label=_("Serial"))
    uuid = django_filters.CharFilter(label=_("UUID"))


class ImportFilter(django_filters.FilterSet):
    """Imports by cluster, state and digest of the file."""

    cluster = of_cluster()
    state = django_filters.ChoiceFilter(choices=ImportState.choices, label=_("State"))
    sha256 = django_filters.CharFilter(label=_("Digest"))
