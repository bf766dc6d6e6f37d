"""Figures of a domain's fabric: what it costs and gives, and for which work it fits."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from apps.core.errors import Invalid, OutOfRange
from apps.fleet.engine.fit import Fit, all_to_all_share, fits
from apps.fleet.engine.graph import Graph, TopologyKind
from apps.fleet.engine.layout_values import from_values
from apps.fleet.engine.layouts import Layout, graph_of
from apps.fleet.engine.metrics import TopologyMetrics, analyse
from apps.fleet.engine.wiring import graph_of_fleet
from apps.fleet.models import Domain, Link
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
    """The layout that a domain was built with; None where it came in by an import."""
    if not domain.parameters:
        return None
    try:
        return from_values(domain.parameters)
    except Invalid:
        return None


def fabric_of(domain: Domain) -> Fabric | None:
    """The fabric of a domain: of its layout, else of its links; None where neither is on record."""
    layout = layout_of(domain)
    if layout is not None:
        return fabric_of_layout(layout)
    if not Link.objects.filter(upper__domain=domain).exists():
        return None
    try:
        graph = graph_of_fleet(description_of(domain.cluster, domain=domain, fabric=True))
        return _fabric(graph, None)
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
