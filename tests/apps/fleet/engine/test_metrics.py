"""Hops against networkx, tiers and parts against counts by hand, and what a fabric fits for."""

from __future__ import annotations

import networkx as nx
import pytest

from apps.core.verdicts import Verdict
from apps.fleet.engine import shapes
from apps.fleet.engine.distances import distances
from apps.fleet.engine.fit import Pattern, Purpose, all_to_all_share, fit_of
from apps.fleet.engine.graph import Graph, Medium, edges, free_graph
from apps.fleet.engine.metrics import analyse

LINK = 50_000_000_000
LEAVES = {"down_bytes_per_s": LINK, "up_bytes_per_s": LINK}

GRAPHS = [
    shapes.full_mesh(endpoints=6, link_bytes_per_s=LINK),
    shapes.single_layer(endpoints=6, switches=2, link_bytes_per_s=LINK),
    shapes.leaf_spine(group_sizes=(3, 5, 2), spines=2, **LEAVES),
    shapes.leaf_spine(group_sizes=(4, 4), leaves_per_group=2, spines=2, planes=True, **LEAVES),
    shapes.fat_tree(radix=4, link_bytes_per_s=LINK),
    shapes.ring(endpoints=7, link_bytes_per_s=LINK),
    shapes.torus(sides=(3, 4), link_bytes_per_s=LINK),
    shapes.torus(sides=(2, 3, 4), link_bytes_per_s=LINK),
    free_graph(
        endpoints=4,
        level=[0, 0, 0, 0, 1],
        layers=[edges([(0, 1), (1, 4), (2, 4), (3, 2)], links=1, link_bytes_per_s=LINK)],
    ),
]


@pytest.mark.parametrize("graph", GRAPHS, ids=lambda graph: f"{graph.kind}-{graph.endpoints}")
def test_hops_are_those_of_networkx(graph: Graph) -> None:
    made = nx.Graph(zip(graph.tail.tolist(), graph.head.tolist(), strict=True))
    hops = dict(nx.all_pairs_shortest_path_length(made))
    pairs = [hops[a][b] for a in range(graph.endpoints) for b in range(graph.endpoints) if a != b]
    found = distances(graph)
    assert found.connected
    assert found.diameter_links == max(pairs)
    assert found.mean_links == pytest.approx(sum(pairs) / len(pairs))


def test_islands_are_said_to_be_apart() -> None:
    graph = free_graph(endpoints=3, level=[0] * 3, layers=[edges([(0, 1)], links=1, link_bytes_per_s=LINK)])
    found = distances(graph)
    assert not found.connected
    assert found.mean_links == 1.0


def test_each_tier_has_its_own_ratio() -> None:
    graph = shapes.leaf_spine(group_sizes=(12,) * 4, spines=4, **LEAVES)
    (tier,) = analyse(graph).tiers
    assert (tier.level, tier.switches, tier.ratio) == (1, 4, 3.0)
    assert tier.down_bytes_per_s == 48 * LINK


def test_the_worst_switch_sets_the_ratio_of_its_tier() -> None:
    graph = shapes.leaf_spine(group_sizes=(4, 12), spines=4, **LEAVES)
    assert analyse(graph).tiers[0].ratio == 3.0


def test_a_fat_tree_of_radix_four_needs_these_parts() -> None:
    parts = analyse(shapes.fat_tree(radix=4, link_bytes_per_s=LINK)).parts
    assert (parts.switches, parts.endpoint_ports, parts.switch_ports) == (20, 16, 80)
    assert (parts.links, parts.cables, parts.optics) == (48, 48, 64)


def test_traces_on_a_board_are_no_cables() -> None:
    parts = analyse(shapes.full_mesh(endpoints=8, link_bytes_per_s=LINK, medium=Medium.BOARD)).parts
    assert (parts.links, parts.cables, parts.optics, parts.endpoint_ports) == (28, 0, 0, 56)


def verdict(graph: Graph, pattern: Pattern, purpose: Purpose) -> tuple[Verdict, set[str]]:
    fit = fit_of(graph, analyse(graph), pattern=pattern, purpose=purpose)
    return fit.verdict, {reason.code for reason in fit.reasons}


@pytest.mark.parametrize(
    ("spines", "purpose", "expected"),
    [
        (8, Purpose.TRAINING, Verdict.PASS),
        (7, Purpose.TRAINING, Verdict.FAIL),
        (4, Purpose.INFERENCE, Verdict.PASS),
        (3, Purpose.INFERENCE, Verdict.FAIL),
    ],
)
def test_two_to_one_is_the_limit_for_training_and_four_to_one_for_inference(
    spines: int, purpose: Purpose, expected: Verdict
) -> None:
    graph = shapes.leaf_spine(group_sizes=(16,) * 4, spines=spines, **LEAVES)
    found, codes = verdict(graph, Pattern.ALL_REDUCE, purpose)
    assert found is expected
    assert ("oversubscribed" in codes) is (expected is Verdict.FAIL)


def test_a_large_torus_suits_all_reduce_and_not_all_to_all() -> None:
    graph = shapes.torus(sides=(8, 8), link_bytes_per_s=LINK)
    assert verdict(graph, Pattern.ALL_REDUCE, Purpose.TRAINING)[0] is not Verdict.FAIL
    found, codes = verdict(graph, Pattern.ALL_TO_ALL, Purpose.TRAINING)
    assert found is Verdict.FAIL
    assert "narrow_all_to_all" in codes


def test_a_full_mesh_keeps_up_all_to_all_at_full_rate_though_its_bisection_is_four_sevenths() -> None:
    metrics = analyse(shapes.full_mesh(endpoints=8, link_bytes_per_s=LINK))
    assert all_to_all_share(metrics) == pytest.approx(1.0)


def test_what_is_not_joined_fits_nothing() -> None:
    graph = free_graph(
        endpoints=4, level=[0] * 4, layers=[edges([(0, 1), (2, 3)], links=1, link_bytes_per_s=LINK)]
    )
    assert verdict(graph, Pattern.ALL_REDUCE, Purpose.INFERENCE) == (Verdict.FAIL, {"not_connected"})
