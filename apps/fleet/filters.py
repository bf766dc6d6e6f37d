"""Filters of the fleet's lists, for pages and API alike."""

from __future__ import annotations

from typing import Any

import django_filters
from django.db.models import QuerySet
from django.utils.translation import gettext_lazy as _

from apps.core.filtering import WholeNumberFilter
from apps.fleet.engine.node_state import NodeState
from apps.fleet.models import (
    STAGE_CHOICES,
    Accelerator,
    BulkImport,
    Cluster,
    Domain,
    HardwareChange,
    Hold,
    HoldKind,
    ImportState,
    LifeCycle,
    Link,
    Node,
    NodeAlias,
    NodeHealth,
    Part,
    PartKind,
    Switch,
)
from apps.fleet.queries import in_state

STATE_WORDS = {
    NodeState.IN_SERVICE: _("in service"),
    NodeState.SUB_HEALTHY: _("sub-healthy"),
    NodeState.QUARANTINED: _("quarantined"),
    NodeState.MAINTENANCE: _("maintenance"),
    NodeState.IN_CHANGE: _("in change"),
    NodeState.TRAINING: _("training"),
    NodeState.SPARE: _("spare"),
    NodeState.RETIRED: _("retired"),
}


class NodeFilter(django_filters.FilterSet):
    """name: part of it. state: derived from life cycle, health and holds. A page of one cluster names it itself."""

    cluster = django_filters.CharFilter(field_name="cluster__slug", label=_("Cluster"))
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

    class Meta:
        model = Node
        fields: list[str] = []

    def by_state(self, nodes: QuerySet[Node], _name: str, state: str) -> QuerySet[Node]:
        return nodes.filter(in_state(NodeState(state)))


class NodeOfClusterFilter(NodeFilter):
    """The same on the page of one cluster, whose domains are offered for choice."""

    cluster = None
    domain = django_filters.ModelChoiceFilter(
        queryset=Domain.objects.none(), to_field_name="name", label=_("Domain")
    )

    class Meta:
        model = Node
        fields: list[str] = []

    def __init__(self, *args: Any, cluster: Cluster, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.filters["domain"].queryset = Domain.objects.filter(cluster=cluster, retired_at__isnull=True)


class ClusterFilter(django_filters.FilterSet):
    """Clusters by name and by whether they are demonstrations."""

    name = django_filters.CharFilter(lookup_expr="icontains", label=_("Name"))
    is_demo = django_filters.BooleanFilter(label=_("Demonstration"))

    class Meta:
        model = Cluster
        fields: list[str] = []


class DomainFilter(django_filters.FilterSet):
    """Domains by cluster and name."""

    cluster = django_filters.CharFilter(field_name="cluster__slug", label=_("Cluster"))
    name = django_filters.CharFilter(label=_("Name"))

    class Meta:
        model = Domain
        fields: list[str] = []


class HoldFilter(django_filters.FilterSet):
    """Holds by cluster, node, kind, owner, and whether they are active."""

    cluster = django_filters.CharFilter(field_name="node__cluster__slug", label=_("Cluster"))
    node = django_filters.CharFilter(field_name="node__name", label=_("Node"))
    kind = django_filters.ChoiceFilter(choices=HoldKind.choices, label=_("Kind"))
    owner = django_filters.CharFilter(label=_("Owner"))
    active = django_filters.BooleanFilter(field_name="released_at", lookup_expr="isnull", label=_("Active"))

    class Meta:
        model = Hold
        fields: list[str] = []


class AliasFilter(django_filters.FilterSet):
    """Aliases by cluster, node and name."""

    cluster = django_filters.CharFilter(field_name="cluster__slug", label=_("Cluster"))
    node = django_filters.CharFilter(field_name="node__name", label=_("Node"))
    name = django_filters.CharFilter(label=_("Name"))

    class Meta:
        model = NodeAlias
        fields: list[str] = []


class AcceleratorFilter(django_filters.FilterSet):
    """Accelerators by where they are and by identity."""

    cluster = django_filters.CharFilter(field_name="node__cluster__slug", label=_("Cluster"))
    domain = django_filters.CharFilter(field_name="node__domain__name", label=_("Domain"))
    node = django_filters.CharFilter(field_name="node__name", label=_("Node"))
    model = django_filters.CharFilter(label=_("Card model"))
    uuid = django_filters.CharFilter(label=_("UUID"))
    serial = django_filters.CharFilter(label=_("Serial"))

    class Meta:
        model = Accelerator
        fields: list[str] = []


class SwitchFilter(django_filters.FilterSet):
    """Switches by cluster, domain and tier."""

    cluster = django_filters.CharFilter(field_name="cluster__slug", label=_("Cluster"))
    domain = django_filters.CharFilter(field_name="domain__name", label=_("Domain"))
    tier = WholeNumberFilter(label=_("Tier"))

    class Meta:
        model = Switch
        fields: list[str] = []


class LinkFilter(django_filters.FilterSet):
    """Links by cluster, domain and the switch above."""

    cluster = django_filters.CharFilter(field_name="upper__cluster__slug", label=_("Cluster"))
    domain = django_filters.CharFilter(field_name="upper__domain__name", label=_("Domain"))
    upper = django_filters.CharFilter(field_name="upper__name", label=_("Switch"))

    class Meta:
        model = Link
        fields: list[str] = []


class HardwareChangeFilter(django_filters.FilterSet):
    """Changes of hardware by cluster and node."""

    cluster = django_filters.CharFilter(field_name="node__cluster__slug", label=_("Cluster"))
    node = django_filters.CharFilter(field_name="node__name", label=_("Node"))

    class Meta:
        model = HardwareChange
        fields: list[str] = []


class PartFilter(django_filters.FilterSet):
    """Boards and cards by cluster, stage and identity."""

    cluster = django_filters.CharFilter(field_name="cluster__slug", label=_("Cluster"))
    kind = django_filters.ChoiceFilter(choices=PartKind.choices, label=_("Kind"))
    stage = django_filters.ChoiceFilter(choices=STAGE_CHOICES, label=_("State"))
    node = django_filters.CharFilter(field_name="node__name", label=_("Node"))
    serial = django_filters.CharFilter(label=_("Serial"))
    uuid = django_filters.CharFilter(label=_("UUID"))

    class Meta:
        model = Part
        fields: list[str] = []


class ImportFilter(django_filters.FilterSet):
    """Imports by cluster, state and digest of the file."""

    cluster = django_filters.CharFilter(field_name="cluster__slug", label=_("Cluster"))
    state = django_filters.ChoiceFilter(choices=ImportState.choices, label=_("State"))
    sha256 = django_filters.CharFilter(label=_("Digest"))

    class Meta:
        model = BulkImport
        fields: list[str] = []
