"""Filters of nodes, for pages and API alike."""

from __future__ import annotations

from typing import Any

import django_filters
from django.db.models import QuerySet
from django.utils.translation import gettext_lazy as _

from apps.fleet.engine.node_state import NodeState
from apps.fleet.models import Cluster, Domain, LifeCycle, Node, NodeHealth
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
    """name: part of it. state: derived from life cycle, health and holds."""

    name = django_filters.CharFilter(lookup_expr="icontains", label=_("Name"))
    state = django_filters.ChoiceFilter(
        choices=[(state.value, word) for state, word in STATE_WORDS.items()],
        method="by_state",
        label=_("State"),
    )
    health = django_filters.ChoiceFilter(choices=NodeHealth.choices, label=_("Health"))
    life_cycle = django_filters.ChoiceFilter(choices=LifeCycle.choices, label=_("Life cycle"))
    domain = django_filters.ModelChoiceFilter(queryset=Domain.objects.none(), label=_("Domain"))
    rack = django_filters.CharFilter(label=_("Rack"))

    class Meta:
        model = Node
        fields: list[str] = []

    def __init__(self, *args: Any, cluster: Cluster | None = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        domains = Domain.objects.all() if cluster is None else Domain.objects.filter(cluster=cluster)
        self.filters["domain"].queryset = domains
        self.filters["domain"].field.queryset = domains

    def by_state(self, nodes: QuerySet[Node], _name: str, state: str) -> QuerySet[Node]:
        return nodes.filter(in_state(NodeState(state)))
