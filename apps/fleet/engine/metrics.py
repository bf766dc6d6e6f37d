"""What a fabric costs and gives: bisection, hops, oversubscription per tier, ports, cables and optics."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from apps.fleet.engine.bisection import Bisection, bisection
from apps.fleet.engine.distances import Distances, distances
from apps.fleet.engine.graph import Graph, Medium


@dataclass(frozen=True, slots=True, kw_only=True)
class TierRatio:
    """Convergence of the switches of one level: what comes from below over what goes up, one way.

    ratio: of the worst switch of the level; 1.0 is non-blocking.
    """

    level: int
    switches: int
    down_bytes_per_s: int
    up_bytes_per_s: int
    ratio: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """endpoint_ports and switch_ports: ends of links. cables: links that leave a board. optics: modules."""

    switches: int
    endpoint_ports: int
    switch_ports: int
    links: int
    cables: int
    optics: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TopologyMetrics:
    endpoints: int
    injection_bytes_per_s: int  # of the weakest endpoint, one way
    bisection: Bisection
    distances: Distances
    tiers: tuple[TierRatio, ...]
    parts: Parts


def analyse(graph: Graph) -> TopologyMetrics:
    """All figures of one fabric. Raises OutOfRange as `bisection` and `distances` do."""
    injection = graph.injection_bytes_per_s()
    return TopologyMetrics(
        endpoints=graph.endpoints,
        injection_bytes_per_s=int(injection.min()),
        bisection=bisection(graph),
        distances=distances(graph),
        tiers=oversubscription(graph),
        parts=parts(graph),
    )


def worst_ratio(tiers: Iterable[TierRatio]) -> float:
    """The highest convergence ratio of any tier; 1.0 where there is no tier above the first."""
    return max((tier.ratio for tier in tiers), default=1.0)


def oversubscription(graph: Graph) -> tuple[TierRatio, ...]:
    """The convergence ratio of every switch level that has something above it, lowest level first."""
    upward = graph.level[graph.tail] < graph.level[graph.head]
    lower = np.where(upward, graph.tail, graph.head)
    upper = np.where(upward, graph.head, graph.tail)
    between = graph.level[lower] != graph.level[upper]
    down = np.zeros(graph.vertices, dtype=np.int64)
    up = np.zeros(graph.vertices, dtype=np.int64)
    np.add.at(down, upper[between], graph.capacity_bytes_per_s[between])
    np.add.at(up, lower[between], graph.capacity_bytes_per_s[between])
    ratios = []
    for level in range(1, int(graph.level.max())):
        here = (graph.level == level) & (down > 0)
        if not (up[here] > 0).any():
            continue
        worst = float(np.divide(down, up, out=np.full(len(up), np.inf), where=up > 0)[here].max())
        ratios.append(
            TierRatio(
                level=level,
                switches=int(here.sum()),
                down_bytes_per_s=int(down[here].sum()),
                up_bytes_per_s=int(up[here].sum()),
                ratio=worst,
            )
        )
    return tuple(ratios)


def parts(graph: Graph) -> Parts:
    """Count switches, ports, links, cables and optical modules."""
    links = graph.links
    at_endpoint = (graph.tail < graph.endpoints).astype(np.int64) + (graph.head < graph.endpoints)
    by_medium = {
        medium: sum(one.links * len(one.tail) for one in graph.layers if one.medium is medium)
        for medium in Medium
    }
    return Parts(
        switches=graph.vertices - graph.endpoints,
        endpoint_ports=int((links * at_endpoint).sum()),
        switch_ports=int((links * (2 - at_endpoint)).sum()),
        links=int(links.sum()),
        cables=by_medium[Medium.COPPER] + by_medium[Medium.OPTICAL],
        optics=2 * by_medium[Medium.OPTICAL],
    )
