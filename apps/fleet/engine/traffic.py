"""Uniform traffic: how fast all endpoints can talk to all others at once over the shortest ways."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from apps.fleet.engine.graph import Graph, Ints

Floats: TypeAlias = npt.NDArray[np.float64]

EDGE_CELLS = 250_000  # numbers at once when going along the edges: what stays in a core's cache
MATRIX_CELLS = 8_000_000
DENSE_DEGREE = 64  # above it a matrix product is faster than going along the edges


def uniform_traffic_rate(graph: Graph) -> float:
    """Bytes per second that every ordered pair of endpoints gets at once; 0 where some pair is not joined.

    Traffic divides evenly over the shortest ways (by number of ways); the fullest edge sets the rate.
    """
    neighbours = Neighbours(graph)
    load: Floats = np.zeros(len(neighbours.tail))
    size = neighbours.rows_at_once
    for first in range(0, graph.endpoints, size):
        sources = np.arange(first, min(first + size, graph.endpoints))
        part = _edge_load(graph, neighbours, sources)
        if part is None:
            return 0.0
        load += part
    used = load > 0
    return float((neighbours.capacity[used] / load[used]).min()) if used.any() else 0.0


class Neighbours:
    """The pairs of vertices that an edge joins, once in each direction, in order of head; parallel edges add up."""

    def __init__(self, graph: Graph) -> None:
        one_way = np.concatenate([graph.tail, graph.head]), np.concatenate([graph.head, graph.tail])
        pairs, at = np.unique(one_way[1] * graph.vertices + one_way[0], return_inverse=True)
        self.vertices = graph.vertices
        self.head: Ints = pairs // graph.vertices
        self.tail: Ints = pairs % graph.vertices
        both = np.tile(graph.capacity_bytes_per_s, 2).astype(float)
        self.capacity: Floats = np.bincount(at, weights=both).astype(np.float64)
        self._heads, self._starts = np.unique(self.head, return_index=True)
        self._matrix: Floats | None = None
        if len(pairs) > DENSE_DEGREE * graph.vertices:
            self._matrix = np.zeros((graph.vertices, graph.vertices))
            self._matrix[self.tail, self.head] = 1.0

    @property
    def rows_at_once(self) -> int:
        """How many rows are best spread together."""
        if self._matrix is not None:
            return max(1, MATRIX_CELLS // self.vertices)
        return max(1, EDGE_CELLS // max(1, len(self.tail)))

    def spread(self, values: Floats) -> Floats:
        """Each vertex gets the sum of its neighbours' values, row by row."""
        if self._matrix is not None:
            return values @ self._matrix
        sums = np.zeros_like(values)
        sums[:, self._heads] = np.add.reduceat(values[:, self.tail], self._starts, axis=1)
        return sums

    def carried(self, near: Floats, far: Floats) -> Floats:
        """For each pair the sum over the rows of near (at its tail) times far (at its head)."""
        if self._matrix is not None:
            return np.asarray((near.T @ far)[self.tail, self.head])
        return np.asarray(np.einsum("se,se->e", near[:, self.tail], far[:, self.head]))


def _edge_load(graph: Graph, neighbours: Neighbours, sources: Ints) -> Floats | None:
    """Units over each pair when every source sends one unit to every endpoint (Brandes 2001).

    None where a source does not reach all endpoints.
    """
    rows = np.arange(len(sources))
    ways = np.zeros((len(sources), graph.vertices))
    ways[rows, sources] = 1.0
    reached = ways > 0
    shells = [ways]
    while shells[-1].any():
        shell = neighbours.spread(shells[-1])
        shell[reached] = 0.0
        reached |= shell > 0
        shells.append(shell)
    if not reached[:, : graph.endpoints].all():
        return None
    arriving = np.zeros_like(ways)
    load = np.zeros(len(neighbours.tail))
    is_endpoint = (np.arange(graph.vertices) < graph.endpoints).astype(float)
    for near, far in zip(shells[-2::-1], shells[:0:-1], strict=True):
        per_way = np.divide(arriving + is_endpoint, far, out=np.zeros_like(far), where=far > 0)
        load += neighbours.carried(near, per_way)
        arriving += near * neighbours.spread(per_way)
    return load
