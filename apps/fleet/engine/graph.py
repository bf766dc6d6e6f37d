"""A fabric as a graph of plain arrays: endpoints first, then switches; edges are bundles of equal links.

Capacities are bytes per second one way; every link carries that much in each direction at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from apps.core.errors import OutOfRange
from apps.core.texts import say

Ints: TypeAlias = npt.NDArray[np.int64]


class TopologyKind(StrEnum):
    FULL_MESH = "full_mesh"
    SINGLE_LAYER = "single_layer"
    TWO_LAYER = "two_layer"
    LEAF_SPINE = "leaf_spine"
    FAT_TREE = "fat_tree"
    RING = "ring"
    TORUS_2D = "torus_2d"
    TORUS_3D = "torus_3d"
    FREE = "free"


class Medium(StrEnum):
    """What a link is made of: a trace on a board needs no cable, an optical link needs two modules."""

    BOARD = "board"
    COPPER = "copper"
    OPTICAL = "optical"


@dataclass(frozen=True, slots=True, kw_only=True)
class Edges:
    """One layer of edges between vertices `tail[i]` and `head[i]`.

    links: physical links in each edge. link_bytes_per_s: of one link, one way.
    """

    tail: Ints
    head: Ints
    links: int
    link_bytes_per_s: int
    medium: Medium


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Graph:
    """A fabric. Vertices 0 … endpoints−1 are the endpoints (accelerators or ports), the rest are switches.

    level: 0 for endpoints, 1 for the switches nearest to them, and so on. halves: balanced halves (lists
    of endpoints) that may be the best cut; halves_are_optimal: the structure guarantees that one of them
    is. regular: distances from one endpoint are those from any other.
    """

    kind: TopologyKind
    endpoints: int
    level: Ints
    layers: tuple[Edges, ...]
    halves: tuple[Ints, ...] = ()
    halves_are_optimal: bool = False
    regular: bool = False

    @property
    def vertices(self) -> int:
        return len(self.level)

    @property
    def tail(self) -> Ints:
        return np.concatenate([layer.tail for layer in self.layers])

    @property
    def head(self) -> Ints:
        return np.concatenate([layer.head for layer in self.layers])

    @property
    def links(self) -> Ints:
        """Physical links of each edge."""
        return np.concatenate([np.full(len(one.tail), one.links, dtype=np.int64) for one in self.layers])

    @property
    def capacity_bytes_per_s(self) -> Ints:
        """Bytes per second one way of each edge."""
        parts = [np.full(len(one.tail), one.links * one.link_bytes_per_s, np.int64) for one in self.layers]
        return np.concatenate(parts)

    def injection_bytes_per_s(self) -> Ints:
        """What each endpoint can send, bytes per second."""
        total = np.zeros(self.vertices, dtype=np.int64)
        np.add.at(total, self.tail, self.capacity_bytes_per_s)
        np.add.at(total, self.head, self.capacity_bytes_per_s)
        return total[: self.endpoints]


def edges(
    pairs: Sequence[tuple[int, int]] | Ints,
    *,
    links: int,
    link_bytes_per_s: float,
    medium: Medium = Medium.COPPER,
) -> Edges:
    """One layer of edges. Raises OutOfRange where links or bandwidth are not above zero."""
    if links < 1 or link_bytes_per_s <= 0:
        raise OutOfRange(
            say("a link needs a count of 1 or more and a bandwidth above zero"),
            links=links,
            link_bytes_per_s=link_bytes_per_s,
        )
    table = np.asarray(pairs, dtype=np.int64).reshape(-1, 2)
    return Edges(
        tail=table[:, 0],
        head=table[:, 1],
        links=links,
        link_bytes_per_s=round(link_bytes_per_s),
        medium=medium,
    )


def free_graph(*, endpoints: int, level: Sequence[int], layers: Sequence[Edges]) -> Graph:
    """A graph of any shape, such as the links of a real fleet.

    Raises OutOfRange for an edge to a vertex that is not there, from a vertex to itself, or for endpoints
    that nothing connects.
    """
    graph = Graph(
        kind=TopologyKind.FREE,
        endpoints=endpoints,
        level=np.asarray(level, dtype=np.int64),
        layers=tuple(layers),
    )
    if endpoints < 1 or len(level) < endpoints or any(value != 0 for value in level[:endpoints]):
        raise OutOfRange(say("the first vertices are the endpoints, at level 0"), endpoints=endpoints)
    ends = np.concatenate([graph.tail, graph.head]) if layers else np.zeros(0, dtype=np.int64)
    if len(ends) and (ends.min() < 0 or ends.max() >= graph.vertices):
        raise OutOfRange(say("an edge names a vertex that is not there"), vertices=graph.vertices)
    if layers and bool((graph.tail == graph.head).any()):
        raise OutOfRange(say("an edge joins a vertex with itself"))
    return graph
