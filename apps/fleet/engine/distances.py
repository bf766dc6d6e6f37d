"""Hops between endpoints: the diameter and the mean, counted in links."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from apps.core.errors import OutOfRange
from apps.core.texts import say
from apps.fleet.engine.graph import Graph, Ints

CHUNK_CELLS = 20_000_000
LIMIT_VERTICES = 20_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Distances:
    """diameter_links: the most links on a shortest way between two endpoints. mean_links: over all pairs.

    connected: False where some pair has no way; then the two count the pairs that have one.
    """

    diameter_links: int
    mean_links: float
    connected: bool


def distances(graph: Graph) -> Distances:
    """Shortest ways between all pairs of endpoints.

    Endpoints on the same switches are equally far from everything, so one of each such set is a source.
    Raises OutOfRange above 20,000 vertices.
    """
    if graph.vertices > LIMIT_VERTICES:
        raise OutOfRange(say("too many vertices to measure distances"), vertices=graph.vertices)
    sources, weights = _representatives(graph)
    longest, total, joined = 0, 0, 0
    for part in _chunks(sources, len(graph.tail)):
        hops = _hops(graph, part)[:, : graph.endpoints]
        weight = weights[np.searchsorted(sources, part)][:, None]
        longest = max(longest, int(hops.max()))
        total += int((np.maximum(hops, 0) * weight).sum())
        joined += int(((hops > 0) * weight).sum())
    pairs = int(weights.sum()) * (graph.endpoints - 1)
    return Distances(
        diameter_links=longest, mean_links=total / joined if joined else 0.0, connected=joined == pairs
    )


def _representatives(graph: Graph) -> tuple[Ints, Ints]:
    """Sources, and how many endpoints each stands for."""
    if graph.regular:
        return np.array([0]), np.array([1])
    beside: list[list[int]] = [[] for _ in range(graph.vertices)]
    for tail, head in zip(graph.tail.tolist(), graph.head.tolist(), strict=True):
        beside[tail].append(head)
        beside[head].append(tail)
    sets: dict[object, list[int]] = {}
    for endpoint in range(graph.endpoints):
        around = frozenset(beside[endpoint])
        sets.setdefault(around or endpoint, []).append(endpoint)
    members = sorted(sets.values())
    return np.array([one[0] for one in members]), np.array([len(one) for one in members])


def _chunks(sources: Ints, edge_count: int) -> list[Ints]:
    size = max(1, CHUNK_CELLS // max(1, 2 * edge_count))
    return [sources[start : start + size] for start in range(0, len(sources), size)]


def _hops(graph: Graph, sources: Ints) -> npt.NDArray[np.int32]:
    """Links from each source to each vertex; −1 where there is no way."""
    tail = np.concatenate([graph.tail, graph.head])
    head = np.concatenate([graph.head, graph.tail])
    order = np.argsort(head, kind="stable")
    tail, head = tail[order], head[order]
    entered, starts = np.unique(head, return_index=True)
    hops = np.full((len(sources), graph.vertices), -1, dtype=np.int32)
    hops[np.arange(len(sources)), sources] = 0
    frontier = hops == 0
    step = 0
    while frontier.any():
        step += 1
        arriving = np.zeros_like(frontier)
        if len(starts):
            arriving[:, entered] = np.logical_or.reduceat(frontier[:, tail], starts, axis=1)
        frontier = arriving & (hops < 0)
        hops[frontier] = step
    return hops
