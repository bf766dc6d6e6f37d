"""Maximum flow between two sets of vertices, by Dinic's algorithm on whole numbers, and the least cut."""

from __future__ import annotations

from collections.abc import Iterable

from apps.fleet.engine.graph import Graph


class FlowNetwork:
    """The residual network of a graph; used once for one pair of sides.

    Edge 2i goes from tail to head, edge 2i+1 back; both start with the full capacity, because a link carries
    it in both directions at once.
    """

    def __init__(self, graph: Graph, *, sources: Iterable[int], sinks: Iterable[int]) -> None:
        self.source, self.sink = graph.vertices, graph.vertices + 1
        self.to: list[int] = []
        self.room: list[int] = []
        self.out: list[list[int]] = [[] for _ in range(graph.vertices + 2)]
        capacities = graph.capacity_bytes_per_s.tolist()
        for tail, head, capacity in zip(graph.tail.tolist(), graph.head.tolist(), capacities, strict=True):
            self._join(tail, head, capacity, capacity)
        everything = sum(capacities) + 1
        for vertex in sources:
            self._join(self.source, vertex, everything, 0)
        for vertex in sinks:
            self._join(vertex, self.sink, everything, 0)

    def source_side(self) -> list[int]:
        """The vertices that stay with the sources where the least capacity parts the sides."""
        while (depth := self._depths())[self.sink] >= 0:
            self._fill_shortest_ways(depth)
        return [v for v, d in enumerate(depth) if d >= 0 and v != self.source]

    def _join(self, tail: int, head: int, forth: int, back: int) -> None:
        self.out[tail].append(len(self.to))
        self.out[head].append(len(self.to) + 1)
        self.to += (head, tail)
        self.room += (forth, back)

    def _depths(self) -> list[int]:
        depth = [-1] * len(self.out)
        depth[self.source] = 0
        queue = [self.source]
        for vertex in queue:
            for edge in self.out[vertex]:
                head = self.to[edge]
                if self.room[edge] and depth[head] < 0:
                    depth[head] = depth[vertex] + 1
                    queue.append(head)
        return depth

    def _fill_shortest_ways(self, depth: list[int]) -> None:
        """Until none is left; a vertex keeps its place in its list of edges."""
        place = [0] * len(self.out)
        way: list[int] = []
        vertex = self.source
        while True:
            if vertex == self.sink:
                self._push(way)
                way.clear()
                vertex = self.source
                continue
            edge = self._next_edge(vertex, depth, place)
            if edge >= 0:
                way.append(edge)
                vertex = self.to[edge]
            elif not way:
                return
            else:
                vertex = self.to[way.pop() ^ 1]
                place[vertex] += 1

    def _next_edge(self, vertex: int, depth: list[int], place: list[int]) -> int:
        out = self.out[vertex]
        while place[vertex] < len(out):
            edge = out[place[vertex]]
            if self.room[edge] and depth[self.to[edge]] == depth[vertex] + 1:
                return edge
            place[vertex] += 1
        return -1

    def _push(self, way: list[int]) -> None:
        amount = min(self.room[edge] for edge in way)
        for edge in way:
            self.room[edge] -= amount
            self.room[edge ^ 1] += amount
