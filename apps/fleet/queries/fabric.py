"""Figures of a domain's fabric: what it costs and gives, and for which work it fits."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import lru_cache

from django.db.models import Count

from apps.core.errors import Invalid, OutOfRange
from apps.fleet.engine.description import FleetDescription
from apps.fleet.engine.fit import Fit, all_to_all_share, fits
from apps.fleet.engine.graph import Graph, Medium, TopologyKind
from apps.fleet.engine.layout_values import from_values
from apps.fleet.engine.layouts import Layout, graph_of
from apps.fleet.engine.metrics import TopologyMetrics, analyse, oversubscription, worst_ratio
from apps.fleet.engine.wiring import graph_of_fleet, joined_as
from apps.fleet.models import Domain, Link, Node
from apps.fleet.queries.description import description_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Fabric:
    """layout: what the figures were computed from; None where they come from the links on record.

    all_to_all_share: of its injection rate, what each accelerator keeps up in a uniform all-to-all (0 to 1).
    """

    kind: TopologyKind
    layout: Layout | None
    metrics: TopologyMetrics
    fits: tuple[Fit, ...]
    all_to_all_share: float

    @property
    def bisection_share(self) -> float:
        """Of full bandwidth between the halves (0 to 1)."""
        cut = self.metrics.bisection
        return cut.bandwidth_bytes_per_s / cut.full_bytes_per_s


def layout_of(domain: Domain) -> Layout | None:
    """The layout that a domain was built with; None where it has none, or is no longer what that makes."""
    if not domain.parameters:
        return None
    try:
        layout = from_values(domain.parameters)
    except Invalid:
        return None
    return layout if _is_as_built(domain, layout) else None


def _is_as_built(domain: Domain, layout: Layout) -> bool:
    """Whether nodes, accelerators and links on record are as many and as fast as the layout makes them."""
    nodes = Node.objects.filter(domain=domain).order_by().annotate(cards=Count("accelerators"))
    if list(nodes.values_list("cards", flat=True)) != [layout.accelerators_per_node] * layout.nodes:
        return False
    links = Link.objects.filter(upper__domain=domain, node__isnull=True).order_by()
    kinds = links.values_list("upper__tier", "count", "unidirectional_bytes_per_s", "optical")
    return {tuple(kind): number for *kind, number in kinds.annotate(number=Count("pk"))} == _made(layout)


@lru_cache(maxsize=64)
def _made(layout: Layout) -> dict[tuple[int, int, float, bool], int]:
    """Links into switches that a layout makes: tier above, cables, speed of one, optical or not → how many."""
    graph, made = graph_of(layout), Counter[tuple[int, int, float, bool]]()
    for layer in graph.layers:
        if tier := int(graph.level[layer.head].max()):
            optical = layer.medium is Medium.OPTICAL
            made[tier, layer.links, layer.link_bytes_per_s, optical] += len(layer.head)
    return dict(made)


def fabric_of(domain: Domain) -> Fabric | None:
    """The fabric of a domain: of its layout, else of its links; None where neither is on record."""
    layout = layout_of(domain)
    if layout is not None:
        return fabric_of_layout(layout)
    graph = _graph_of_links(domain)
    return _fabric(graph, None) if graph is not None else None


def wired_fleet_of(domain: Domain) -> FleetDescription:
    """A domain with its switches and links; those of its layout where the records hold none, as of a mesh or a ring."""
    fleet = description_of(domain.cluster, domain=domain, fabric=True)
    if fleet.links or (layout := layout_of(domain)) is None:
        return fleet
    return joined_as(layout, fleet, domain=domain.name)


def worst_ratio_of(domain: Domain) -> float:
    """The highest ratio of downlinks to uplinks of any tier of a domain; 1.0 where nothing tells one."""
    layout = layout_of(domain)
    graph = graph_of(layout) if layout is not None else _graph_of_links(domain)
    return worst_ratio(oversubscription(graph)) if graph is not None else 1.0


def _graph_of_links(domain: Domain) -> Graph | None:
    """The graph that the links on record make; None where they make none."""
    if not Link.objects.filter(upper__domain=domain).exists():
        return None
    try:
        return graph_of_fleet(description_of(domain.cluster, domain=domain, fabric=True))
    except (Invalid, OutOfRange):
        return None


@lru_cache(maxsize=64)
def fabric_of_layout(layout: Layout) -> Fabric:
    """The fabric that a layout makes; a pure figure of the layout, so it is kept."""
    return _fabric(graph_of(layout), layout)


def _fabric(graph: Graph, layout: Layout | None) -> Fabric:
    metrics = analyse(graph)
    return Fabric(
        kind=graph.kind,
        layout=layout,
        metrics=metrics,
        fits=fits(graph, metrics),
        all_to_all_share=all_to_all_share(metrics),
    )
