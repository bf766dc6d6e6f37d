"""Bisection bandwidth: the least capacity between two equal halves of the endpoints, found as a cut.

A half is judged by max-flow/min-cut, so switches stand wherever they help the cut. Which half is the worst:
- structured: the shape of the fabric says so (the argument stands at the shape), exact;
- exhaustive: up to 10 endpoints all balanced halves are tried, exact;
- certified: the best half found meets the lower bound below, so it is exact;
- search: the best of the candidates after local exchange, an upper bound, given with the lower bound.

Lower bound: let every endpoint send one unit to every other over all shortest ways evenly. If the fullest
edge could carry that t times, each of the ⌊n/2⌋·⌈n/2⌉ ordered pairs across any balanced cut gets t, so no
such cut is below ⌊n/2⌋·⌈n/2⌉·t.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from apps.core.errors import OutOfRange
from apps.core.texts import say
from apps.fleet.engine.graph import Graph, Ints
from apps.fleet.engine.maxflow import FlowNetwork
from apps.fleet.engine.traffic import uniform_traffic_rate

EXHAUSTIVE_ENDPOINTS = 10
BOUND_VERTICES = 1600
EXCHANGE_ROUNDS = 64
POWER_ROUNDS = 300
ROUNDING = 1e-9  # of the bound, which is computed in floating point


class BisectionMethod(StrEnum):
    STRUCTURED = "structured"
    EXHAUSTIVE = "exhaustive"
    CERTIFIED = "certified"
    SEARCH = "search"


@dataclass(frozen=True, slots=True, kw_only=True)
class Bisection:
    """bandwidth_bytes_per_s: one way between the halves; an upper bound where not exact.

    lower_bound_bytes_per_s: proven; None where the graph is too large to prove one. links_cut: physical links
    in the cut. full_bytes_per_s: what the smaller half could send. half: the endpoints of one side.
    """

    bandwidth_bytes_per_s: int
    lower_bound_bytes_per_s: int | None
    links_cut: int
    full_bytes_per_s: int
    method: BisectionMethod
    half: tuple[int, ...]

    @property
    def share(self) -> float:
        """0 to 1; 1 where any half can talk to the other at full rate."""
        return min(1.0, self.bandwidth_bytes_per_s / self.full_bytes_per_s) if self.full_bytes_per_s else 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class HalfCut:
    """bandwidth_bytes_per_s: one way between `half` and the other endpoints. links_cut: physical links in the cut."""

    half: Ints
    bandwidth_bytes_per_s: int
    links_cut: int


def bisection(graph: Graph) -> Bisection:
    """The bisection of a fabric. Raises OutOfRange below two endpoints."""
    if graph.endpoints < 2:
        raise OutOfRange(say("a bisection needs two endpoints or more"), endpoints=graph.endpoints)
    if graph.halves and graph.halves_are_optimal:
        best = _best_of(graph, graph.halves)
        return _result(graph, best, BisectionMethod.STRUCTURED, best.bandwidth_bytes_per_s)
    if graph.endpoints <= EXHAUSTIVE_ENDPOINTS:
        best = _best_of(graph, _every_half(graph.endpoints))
        return _result(graph, best, BisectionMethod.EXHAUSTIVE, best.bandwidth_bytes_per_s)
    best = _best_of(graph, [*graph.halves, *_guessed_halves(graph)])
    bound = _lower_bound(graph)
    certified = bound is not None and bound >= best.bandwidth_bytes_per_s * (1 - ROUNDING)
    method = BisectionMethod.CERTIFIED if certified else BisectionMethod.SEARCH
    return _result(graph, best, method, best.bandwidth_bytes_per_s if certified else bound)


def cut_of(graph: Graph, half: Ints) -> HalfCut:
    """The least cut between `half` and the other endpoints."""
    side = np.zeros(graph.vertices, dtype=bool)
    side[half] = True
    if graph.vertices > graph.endpoints:
        others = np.flatnonzero(~side[: graph.endpoints])
        network = FlowNetwork(graph, sources=half.tolist(), sinks=others.tolist())
        side[network.source_side()] = True
    crossing = side[graph.tail] != side[graph.head]
    return HalfCut(
        half=half,
        bandwidth_bytes_per_s=int(graph.capacity_bytes_per_s[crossing].sum()),
        links_cut=int(graph.links[crossing].sum()),
    )


def _best_of(graph: Graph, halves: list[Ints] | tuple[Ints, ...]) -> HalfCut:
    return min((cut_of(graph, half) for half in halves), key=lambda one: one.bandwidth_bytes_per_s)


def _every_half(endpoints: int) -> list[Ints]:
    """All balanced halves; with an even number each pair of halves once (the one that holds endpoint 0)."""
    size = endpoints // 2
    if endpoints % 2:
        return [np.array(one) for one in itertools.combinations(range(endpoints), size)]
    return [np.array((0, *rest)) for rest in itertools.combinations(range(1, endpoints), size - 1)]


def _guessed_halves(graph: Graph) -> list[Ints]:
    """Halves in order of number and of the second eigenvector of the Laplacian, and those after exchange."""
    size = graph.endpoints // 2
    guesses = [np.arange(size), _spectral_half(graph)]
    if graph.vertices == graph.endpoints:
        guesses += [_exchanged(graph, half) for half in list(guesses)]
    return guesses


def _weights(graph: Graph) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    weights = np.zeros((graph.vertices, graph.vertices))
    np.add.at(weights, (graph.tail, graph.head), graph.capacity_bytes_per_s.astype(float))
    return weights + weights.T


def _spectral_half(graph: Graph) -> Ints:
    """The half that the second eigenvector of the Laplacian points at, nearly: a guess by power iteration."""
    tail, head = graph.tail, graph.head
    weight = graph.capacity_bytes_per_s / float(graph.capacity_bytes_per_s.max())
    degree = np.bincount(tail, weight, graph.vertices) + np.bincount(head, weight, graph.vertices)
    shift = 2 * degree.max()
    vector = np.cos(np.arange(graph.vertices) * np.pi / graph.vertices)
    for _ in range(POWER_ROUNDS):
        pulled = np.bincount(tail, weight * vector[head], graph.vertices)
        pulled += np.bincount(head, weight * vector[tail], graph.vertices)
        vector = (shift - degree) * vector + pulled
        vector -= vector.mean()
        length = float(np.linalg.norm(vector))
        if length == 0:
            break
        vector /= length
    order = np.argsort(np.round(vector[: graph.endpoints], 9), kind="stable")
    return order[: graph.endpoints // 2].astype(np.int64)


def _exchanged(graph: Graph, half: Ints) -> Ints:
    """Exchange the best pair across the cut while that makes it smaller (Kernighan and Lin 1970, greedy)."""
    if graph.vertices > BOUND_VERTICES:
        return half
    weights = _weights(graph)
    side = np.full(graph.endpoints, -1.0)
    side[half] = 1.0
    for _ in range(EXCHANGE_ROUNDS):
        pull = -side * (weights @ side)  # to the other side minus to the own
        ours, others = np.flatnonzero(side > 0), np.flatnonzero(side < 0)
        gain = pull[ours][:, None] + pull[others][None, :] - 2 * weights[np.ix_(ours, others)]
        at = int(gain.argmax())
        if gain.flat[at] <= 0:
            break
        side[ours[at // len(others)]], side[others[at % len(others)]] = -1.0, 1.0
    return np.flatnonzero(side > 0)


def _lower_bound(graph: Graph) -> int | None:
    if graph.vertices > BOUND_VERTICES:
        return None
    rate = uniform_traffic_rate(graph)
    pairs = (graph.endpoints // 2) * (graph.endpoints - graph.endpoints // 2)
    return int(pairs * rate)


def _result(graph: Graph, best: HalfCut, method: BisectionMethod, bound: int | None) -> Bisection:
    injection = graph.injection_bytes_per_s()
    inside = int(injection[best.half].sum())
    return Bisection(
        bandwidth_bytes_per_s=best.bandwidth_bytes_per_s,
        lower_bound_bytes_per_s=bound,
        links_cut=best.links_cut,
        full_bytes_per_s=min(inside, int(injection.sum()) - inside),
        method=method,
        half=tuple(int(one) for one in best.half),
    )
