"""Layouts: the ready ones hold their counts, split nodes are known, and bad ones name every field."""

from __future__ import annotations

from dataclasses import replace

import pytest

from apps.core.errors import Invalid
from apps.fleet.engine.description import Span, split_nodes
from apps.fleet.engine.graph import Medium
from apps.fleet.engine.layouts import Layout, Shape, Tier, build, describe, even_sub_domains, graph_of
from apps.fleet.engine.metrics import analyse, worst_ratio
from apps.fleet.engine.templates import TEMPLATES, template


def layout(key: str) -> Layout:
    found = template(key)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("key", "accelerators", "sub_domains", "gb_per_s"),
    [
        ("8-mesh", 8, 0, 448),
        ("8-switched", 8, 0, 450),
        ("72-as-9x8", 72, 0, 900),
        ("72-as-18x4", 72, 0, 900),
        ("144-as-4x36", 144, 4, 900),
        ("144-as-6x24", 144, 6, 900),
        ("384-as-48x8", 384, 0, 392),
    ],
)
def test_every_ready_layout_has_its_figures(
    key: str, accelerators: int, sub_domains: int, gb_per_s: float
) -> None:
    one = layout(key)
    assert one.accelerators == accelerators
    assert len(one.sub_domain_sizes) == sub_domains
    assert one.unidirectional_bytes_per_s == gb_per_s * 1e9
    assert graph_of(one).endpoints == accelerators


def test_the_384_layout_has_448_switches_and_full_bisection() -> None:
    metrics = analyse(graph_of(layout("384-as-48x8")))
    assert metrics.parts.switches == 448
    assert metrics.bisection.share == 1.0
    assert worst_ratio(metrics.tiers) == 1.0


@pytest.mark.parametrize("key", ["144-as-4x36", "144-as-6x24"])
def test_the_144_layouts_are_drawn_at_two_to_one(key: str) -> None:
    metrics = analyse(graph_of(layout(key)))
    assert worst_ratio(metrics.tiers) == 2.0
    assert metrics.bisection.share == 0.5


def test_four_by_36_over_nodes_of_eight_splits_the_fifth_and_the_fourteenth_node() -> None:
    fleet = describe(layout("144-as-4x36"), domain="d1")
    assert [node.name for node in split_nodes(fleet)] == ["d1-n05", "d1-n14"]
    assert split_nodes(fleet)[0].spans == (
        Span(sub_domain="d1-s1", cards=4),
        Span(sub_domain="d1-s2", cards=4),
    )
    assert fleet.domains[0].sub_domains == ("d1-s1", "d1-s2", "d1-s3", "d1-s4")


def test_six_by_24_splits_no_node() -> None:
    assert split_nodes(describe(layout("144-as-6x24"), domain="d1")) == ()


@pytest.mark.parametrize("one", TEMPLATES, ids=lambda one: one.key)
def test_sub_domains_hold_the_sizes_that_the_layout_says(one: Layout) -> None:
    fleet = describe(one, domain="d1")
    held: dict[str, int] = {}
    for node in fleet.nodes:
        for span in node.spans:
            assert span.cards is not None
            held[span.sub_domain] = held.get(span.sub_domain, 0) + span.cards
    assert tuple(held.values()) == one.sub_domain_sizes
    assert sum(node.cards or 0 for node in fleet.nodes) == one.accelerators


def test_a_free_layout_names_everything_that_is_wrong_at_once() -> None:
    tier = Tier(name="x", switches=0, links_to_each=0, link_bytes_per_s=-1.0, medium=Medium.COPPER)
    bad = Layout(
        key="free",
        title="Free",
        nodes=0,
        accelerators_per_node=8,
        shape=Shape.SINGLE_LAYER,
        tiers=(tier,),
        node_pattern="n",
        sub_domain_pattern="{oops}",
    )
    with pytest.raises(Invalid) as caught:
        build(bad)
    assert {error.pointer for error in caught.value.errors} == {
        "/nodes",
        "/tiers/0/link_bytes_per_s",
        "/tiers/0/links_to_each",
        "/tiers/0/switches",
        "/node_pattern",
        "/sub_domain_pattern",
    }


@pytest.mark.parametrize(
    ("change", "pointer"),
    [
        ({"sub_domain_sizes": (36, 36, 36)}, "/sub_domain_sizes"),
        ({"sub_domain_sizes": (), "lower_group": 7}, "/lower_group"),
        ({"planes": True}, "/tiers/1/switches"),
        ({"nodes": 9999}, "/nodes"),
        ({"shape": Shape.SINGLE_LAYER}, "/tiers"),
    ],
)
def test_parts_that_do_not_go_together_are_refused(change: dict[str, object], pointer: str) -> None:
    one = layout("144-as-4x36")
    tiers = (one.tiers[0], replace(one.tiers[1], switches=17))
    with pytest.raises(Invalid) as caught:
        build(replace(one, tiers=tiers, **change))
    assert pointer in {error.pointer for error in caught.value.errors}


@pytest.mark.parametrize(("field", "value"), [("links_to_each", 100_001), ("link_bytes_per_s", 1.1e15)])
def test_a_tier_that_nobody_builds_is_refused(field: str, value: float) -> None:
    one = layout("72-as-9x8")
    with pytest.raises(Invalid) as caught:
        build(replace(one, tiers=(replace(one.tiers[0], **{field: value}),)))
    assert [error.pointer for error in caught.value.errors] == [f"/tiers/0/{field}"]


def test_sub_domains_that_do_not_divide_are_refused() -> None:
    assert even_sub_domains(144, 6) == (24,) * 6
    with pytest.raises(Invalid):
        even_sub_domains(144, 5)


@pytest.mark.parametrize(
    "pattern", ["n", "{node:099999999d}", "{domain.__class__}{node}", "{node!r}", "a b{node}", "{oops}"]
)
def test_a_name_pattern_holds_the_number_and_nothing_that_runs(pattern: str) -> None:
    with pytest.raises(Invalid) as caught:
        build(replace(layout("72-as-9x8"), node_pattern=pattern))
    assert [error.pointer for error in caught.value.errors] == ["/node_pattern"]


def free(shape: Shape, nodes: int, per_node: int, **more: object) -> Layout:
    tier = Tier(name="link", switches=0, links_to_each=2, link_bytes_per_s=50e9, medium=Medium.COPPER)
    values = {"tiers": (tier,), **more}
    return Layout(
        key="free", title="Free", nodes=nodes, accelerators_per_node=per_node, shape=shape, **values
    )


@pytest.mark.parametrize(
    ("layout_", "kind", "links_per_card"),
    [
        (free(Shape.RING, 4, 4), "ring", 4),
        (free(Shape.TORUS, 8, 8, sides=(8, 8)), "torus_2d", 8),
        (free(Shape.TORUS, 8, 8, sides=(4, 8, 2)), "torus_3d", 10),
        (free(Shape.FAT_TREE, 16, 8), "fat_tree", 2),
        (free(Shape.FULL_MESH, 2, 4), "full_mesh", 14),
    ],
)
def test_a_free_layout_of_every_shape_makes_its_graph(
    layout_: Layout, kind: str, links_per_card: int
) -> None:
    graph = graph_of(build(layout_))
    assert (graph.kind, graph.endpoints) == (kind, layout_.accelerators)
    assert set(graph.injection_bytes_per_s().tolist()) == {links_per_card * 50_000_000_000}
    assert layout_.unidirectional_bytes_per_s == links_per_card * 50e9


@pytest.mark.parametrize(
    ("layout_", "pointer"),
    [
        (free(Shape.RING, 1, 2), "/nodes"),
        (free(Shape.FULL_MESH, 1, 1), "/nodes"),
        (free(Shape.TORUS, 8, 8), "/sides"),
        (free(Shape.TORUS, 8, 8, sides=(8, 1, 8)), "/sides"),
        (free(Shape.TORUS, 8, 8, sides=(8, 9)), "/sides"),
        (free(Shape.FAT_TREE, 10, 8), "/nodes"),
        (free(Shape.FULL_MESH, 2500, 8), "/tiers"),
    ],
)
def test_counts_that_a_shape_cannot_have_are_refused(layout_: Layout, pointer: str) -> None:
    with pytest.raises(Invalid) as caught:
        build(layout_)
    assert [error.pointer for error in caught.value.errors] == [pointer]
