"""Uniform traffic: how fast all endpoints can talk to all others at once over the shortest ways."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from apps.fleet.engine.graph import Graph


def uniform_traffic_rate(graph: Graph) -> float:
    """Bytes per second that every ordered pair of endpoints gets at once; 0 where some pair is not joined.

    Traffic divides evenly over the shortest ways (by number of ways); the fullest edge sets the rate.
    """
    adjacency = np.zeros((graph.vertices, graph.vertices))
    adjacency[graph.tail, graph.head] = adjacency[graph.head, graph.tail] = 1.0
    capacity = np.zeros_like(adjacency)
    np.add.at(capacity, (graph.tail, graph.head), graph.capacity_bytes_per_s.astype(float))
    capacity += capacity.T
    load = _edge_load(graph, adjacency)
    if load is None:
        return 0.0
    used = load > 0
    return float((capacity[used] / load[used]).min())


def _edge_load(graph: Graph, adjacency: npt.NDArray[np.float64]) -> npt.NDArray[np.float64] | None:
    """Units on each directed edge when every endpoint sends one unit to every other (Brandes 2001)."""
    sources = graph.endpoints
    ways = np.zeros((sources, graph.vertices))
    ways[np.arange(sources), np.arange(sources)] = 1.0
    reached = ways > 0
    shells = [ways.copy()]
    while shells[-1].any():
        shell = shells[-1] @ adjacency
        shell[reached] = 0.0
        reached |= shell > 0
        shells.append(shell)
    if not reached[:, :sources].all():
        return None
    arriving = np.zeros((sources, graph.vertices))
    load = np.zeros_like(adjacency)
    is_endpoint = (np.arange(graph.vertices) < sources).astype(float)
    for near, far in zip(shells[-2::-1], shells[:0:-1], strict=True):
        here = far > 0
        per_way = np.divide(arriving + is_endpoint, far, out=np.zeros_like(far), where=here)
        load += (near.T @ per_way) * adjacency
        arriving += near * (per_way @ adjacency)
    return load
