"""The list of nodes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import django_tables2 as tables
from django.db.models import QuerySet
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

from apps.core.templatetags.components import state, when
from apps.fleet.models import Node
from apps.fleet.queries import cards_on, counted, listed, state_of

_FIGURES = {"th": {"class": "number"}}
_NONE = "—"
_CELL = '<td data-label="{}">{}</td>'
_ROW = (
    f'<tr><th scope="row"><a href="{{}}">{{}}</a></th>{_CELL * 3}'
    f'<td class="number" data-label="{{}}">{{}}</td>{_CELL * 2}</tr>'
)


class NodeTable(tables.Table):
    """Nodes of one cluster; the rows come from queries.node_rows.

    The rows are put together here: fifty of them, cell by cell through templates, would take longer than all
    else of the page.
    """

    name = tables.Column(verbose_name=_("Node"))
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
        template_name = "fleet/_node_table.html"
        attrs = {"class": "table table-stacked"}
        fields = ("name", "state", "health", "domain", "accelerator_count", "rack", "last_reported_at")

    def order_accelerator_count(
        self, nodes: QuerySet[Node], is_descending: bool
    ) -> tuple[QuerySet[Node], bool]:
        order = "-accelerator_count" if is_descending else "accelerator_count"
        return counted(nodes).order_by(order, "name"), True

    def body(self) -> SafeString:
        """The rows of the page, as HTML."""
        nodes = listed(row.record for row in self.paginated_rows)
        heads = [str(column.header) for column in self.columns][1:]
        row = format_html(_ROW, "{}", "{}", *(part for head in heads for part in (head, "{}")))
        numbers, chip = cards_on(nodes), cache(state)
        return format_html_join("\n", row, (_cells(node, numbers, chip) for node in nodes))


def _cells(node: Any, numbers: Mapping[int, int], chip: Callable[[str], SafeString]) -> tuple[Any, ...]:
    return (
        reverse("fleet:node", args=[node.cluster.slug, node.pk]),
        node.name,
        chip(state_of(node).value),
        chip(node.health),
        node.domain.name if node.domain else _NONE,
        numbers.get(node.pk, 0),
        node.rack or _NONE,
        when(node.last_reported_at, show="relative"),
    )
