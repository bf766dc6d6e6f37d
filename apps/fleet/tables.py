"""The list of nodes."""

from __future__ import annotations

from typing import Any

import django_tables2 as tables
from django.urls import reverse
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

from apps.core.templatetags.components import state, when
from apps.fleet.models import Node
from apps.fleet.queries import state_of

_FIGURES = {"td": {"class": "number"}, "th": {"class": "number"}}


class NodeTable(tables.Table):
    """Nodes of one cluster; the rows come from queries.node_rows."""

    name = tables.Column(
        verbose_name=_("Node"),
        linkify=lambda record: reverse("fleet:node", args=[record.cluster.slug, record.pk]),
    )
    state = tables.Column(verbose_name=_("State"), orderable=False, empty_values=())
    health = tables.Column(verbose_name=_("Health"))
    domain = tables.Column(
        verbose_name=_("Domain"), accessor="domain__name", order_by=("domain__name", "index")
    )
    accelerator_count = tables.Column(verbose_name=_("Accelerators"), attrs=_FIGURES)
    rack = tables.Column(verbose_name=_("Rack"))
    last_reported_at = tables.Column(verbose_name=_("Last report"))

    class Meta:
        model = Node
        fields = ("name", "state", "health", "domain", "accelerator_count", "rack", "last_reported_at")

    def render_state(self, record: Any) -> SafeString:
        return state(state_of(record))

    def render_health(self, record: Any) -> SafeString:
        return state(record.health)

    def render_last_reported_at(self, value: Any) -> SafeString:
        return when(value, show="relative")
