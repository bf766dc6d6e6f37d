"""Bisection: against closed forms, against every balanced half, and against networkx."""

from __future__ import annotations

import itertools

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apps.core.errors import OutOfRange
from apps.fleet.engine import bisection as bisections
from apps.fleet.engine import shapes
from apps.fleet.engine.bisection import BisectionMethod, bisection, cut_of
from apps.fleet.engine.graph import Graph, edges, free_graph

LINK = 50_000_000_000


def as_networkx(graph: Graph) -> nx.Graph:
    made = nx.Graph()
    made.add_nodes_from(range(graph.vertices))
    for tail, head, capacity in zip(graph.tail, graph.head, graph.capacity_bytes_per_s, strict=True):
        before = made.get_edge_data(int(tail), int(head), {"capacity": 0})["capacity"]
        made.add_edge(int(tail), int(head), capacity=before + int(capacity))
    return made


def networkx_cut(graph: Graph, half: list[int]) -> int:
    """The least cut between a half and the other endpoints, as networkx finds it."""
    made = as_networkx(graph)
    for endpoint in range(graph.endpoints):
        side = "source" if endpoint in half else "sink"
        made.add_edge(side, endpoint)  # no capacity: infinite
    return int(nx.minimum_cut_value(made, "source", "sink"))


def worst_half_by_trial(graph: Graph) -> int:
    halves = itertools.combinations(range(graph.endpoints), graph.endpoints // 2)
    return min(cut_of(graph, np.array(half)).bandwidth_bytes_per_s for half in halves)


def small_structured() -> list[Graph]:
    one = {"link_bytes_per_s": LINK}
    return [
        shapes.full_mesh(endpoints=7, **one),
        shapes.full_mesh(endpoints=8, links_per_pair=2, **one),
        shapes.single_layer(endpoints=9, switches=3, **one),
        shapes.ring(endpoints=9, **one),
        shapes.ring(endpoints=10, links=2, **one),
        shapes.torus(sides=(4, 2), **one),
        shapes.torus(sides=(2, 2, 2), **one),
        shapes.torus(sides=(3, 4), **one),
        shapes.fat_tree(radix=2, **one),
        shapes.leaf_spine(group_sizes=(4, 4, 4), spines=2, down_bytes_per_s=LINK, up_bytes_per_s=LINK),
        shapes.leaf_spine(group_sizes=(3, 3, 3), spines=1, down_bytes_per_s=LINK, up_bytes_per_s=LINK),
        shapes.leaf_spine(group_sizes=(5, 5), spines=3, down_bytes_per_s=LINK, up_bytes_per_s=LINK // 4),
        shapes.leaf_spine(
            group_sizes=(4, 4),
            leaves_per_group=2,
            spines=4,
            planes=True,
            down_bytes_per_s=LINK,
            up_bytes_per_s=LINK,
        ),
    ]


@pytest.mark.parametrize("graph", small_structured(), ids=lambda graph: f"{graph.kind}-{graph.endpoints}")
def test_no_balanced_half_is_below_the_one_that_the_structure_names(graph: Graph) -> None:
    found = bisection(graph)
    assert found.method is BisectionMethod.STRUCTURED
    assert found.bandwidth_bytes_per_s == worst_half_by_trial(graph)


def test_the_half_of_a_fat_tree_of_radix_four_is_the_best_of_many_tried() -> None:
    graph = shapes.fat_tree(radix=4, link_bytes_per_s=LINK)
    found = bisection(graph).bandwidth_bytes_per_s
    dice = np.random.default_rng(4)
    tried = [cut_of(graph, dice.permutation(16)[:8]).bandwidth_bytes_per_s for _ in range(150)]
    assert found == 8 * LINK
    assert min(tried) >= found


@given(endpoints=st.integers(2, 40), links=st.integers(1, 3))
def test_a_full_mesh_cuts_a_quarter_of_n_squared_pairs(endpoints: int, links: int) -> None:
    graph = shapes.full_mesh(endpoints=endpoints, links_per_pair=links, link_bytes_per_s=LINK)
    found = bisection(graph)
    pairs = (endpoints // 2) * (endpoints - endpoints // 2)
    assert found.links_cut == pairs * links
    assert found.bandwidth_bytes_per_s == pairs * links * LINK


@given(side=st.sampled_from([4, 6, 8]), dimensions=st.sampled_from([2, 3]))
def test_a_k_ary_torus_of_even_side_cuts_twice_k_to_the_power_of_one_dimension_less(
    side: int, dimensions: int
) -> None:
    graph = shapes.torus(sides=(side,) * dimensions, link_bytes_per_s=LINK)
    assert bisection(graph).links_cut == 2 * side ** (dimensions - 1)


@pytest.mark.parametrize("radix", [4, 6, 8, 16])
def test_a_fat_tree_has_full_bisection(radix: int) -> None:
    found = bisection(shapes.fat_tree(radix=radix, link_bytes_per_s=LINK))
    assert found.bandwidth_bytes_per_s == radix**3 // 8 * LINK
    assert found.share == 1.0


@pytest.mark.parametrize(("ratio", "share"), [(1, 1.0), (2, 0.5), (4, 0.25)])
def test_oversubscribed_leaves_leave_that_share_of_the_bisection(ratio: int, share: float) -> None:
    graph = shapes.leaf_spine(
        group_sizes=(16,) * 8, spines=16 // ratio, down_bytes_per_s=LINK, up_bytes_per_s=LINK
    )
    assert bisection(graph).share == pytest.approx(share)


def test_an_eight_card_mesh_of_64_gb_per_s_has_four_sevenths() -> None:
    found = bisection(shapes.full_mesh(endpoints=8, link_bytes_per_s=64e9))
    assert found.links_cut == 16
    assert found.share == pytest.approx(4 / 7)


@st.composite
def small_free_graphs(draw: st.DrawFn) -> Graph:
    endpoints = draw(st.integers(2, 7))
    switches = draw(st.integers(0, 3))
    vertices = endpoints + switches
    pairs = draw(
        st.lists(
            st.tuples(st.integers(0, vertices - 1), st.integers(0, vertices - 1)).filter(
                lambda pair: pair[0] != pair[1]
            ),
            min_size=1,
            max_size=16,
        )
    )
    layers = [
        edges([pair], links=draw(st.integers(1, 3)), link_bytes_per_s=draw(st.integers(1, 9)))
        for pair in pairs
    ]
    return free_graph(endpoints=endpoints, level=[0] * endpoints + [1] * switches, layers=layers)


@settings(max_examples=60, deadline=None)
@given(graph=small_free_graphs(), data=st.data())
def test_the_cut_of_any_half_is_what_networkx_finds(graph: Graph, data: st.DataObject) -> None:
    half = data.draw(st.permutations(range(graph.endpoints)))[: graph.endpoints // 2]
    assert cut_of(graph, np.array(half)).bandwidth_bytes_per_s == networkx_cut(graph, half)


@settings(max_examples=20, deadline=None)
@given(graph=small_free_graphs())
def test_the_exhaustive_bisection_is_the_least_networkx_cut(graph: Graph) -> None:
    halves = itertools.combinations(range(graph.endpoints), graph.endpoints // 2)
    found = bisection(graph)
    assert found.method is BisectionMethod.EXHAUSTIVE
    assert found.bandwidth_bytes_per_s == min(networkx_cut(graph, list(half)) for half in halves)


@settings(max_examples=30, deadline=None)
@given(graph=small_free_graphs())
def test_the_proven_bound_is_never_above_the_true_bisection(graph: Graph) -> None:
    bound = bisections._lower_bound(graph)
    assert bound is not None
    assert bound <= bisection(graph).bandwidth_bytes_per_s * (1 + 1e-9)


def test_a_hypercube_given_as_loose_links_is_certified() -> None:
    pairs = [(a, a ^ (1 << bit)) for a in range(16) for bit in range(4) if a < a ^ (1 << bit)]
    order = np.random.default_rng(3).permutation(16)
    shuffled = [(int(order[a]), int(order[b])) for a, b in pairs]
    graph = free_graph(endpoints=16, level=[0] * 16, layers=[edges(shuffled, links=1, link_bytes_per_s=LINK)])
    found = bisection(graph)
    assert found.links_cut == 8
    assert found.method is BisectionMethod.CERTIFIED
    assert found.lower_bound_bytes_per_s == found.bandwidth_bytes_per_s


def test_an_odd_torus_is_found_by_search_between_its_bounds() -> None:
    found = bisection(shapes.torus(sides=(5, 5), link_bytes_per_s=LINK))
    assert found.method is BisectionMethod.SEARCH
    assert found.lower_bound_bytes_per_s is not None
    assert 0 < found.lower_bound_bytes_per_s <= found.bandwidth_bytes_per_s
    assert found.links_cut <= 12  # two rows' worth of columns and one step


def test_two_islands_have_no_bisection() -> None:
    graph = free_graph(
        endpoints=4, level=[0] * 4, layers=[edges([(0, 1), (2, 3)], links=1, link_bytes_per_s=LINK)]
    )
    assert bisection(graph).bandwidth_bytes_per_s == 0


def test_one_endpoint_has_no_halves() -> None:
    graph = free_graph(endpoints=1, level=[0, 1], layers=[edges([(0, 1)], links=1, link_bytes_per_s=LINK)])
    with pytest.raises(OutOfRange):
        bisection(graph)


@pytest.mark.parametrize(
    "make",
    [
        lambda: shapes.fat_tree(radix=5, link_bytes_per_s=LINK),
        lambda: shapes.torus(sides=(4,), link_bytes_per_s=LINK),
        lambda: shapes.full_mesh(endpoints=4, link_bytes_per_s=-1),
        lambda: shapes.single_layer(endpoints=4, switches=0, link_bytes_per_s=LINK),
        lambda: free_graph(
            endpoints=2, level=[0, 0], layers=[edges([(0, 5)], links=1, link_bytes_per_s=LINK)]
        ),
        lambda: free_graph(
            endpoints=2, level=[0, 0], layers=[edges([(1, 1)], links=1, link_bytes_per_s=LINK)]
        ),
    ],
)
def test_impossible_fabrics_are_refused(make) -> None:
    with pytest.raises(OutOfRange):
        make()
