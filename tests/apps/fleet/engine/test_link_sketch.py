"""The drawing of links: few boxes, every link counted, nothing overlaps, and each box can be looked into."""

from __future__ import annotations

import itertools
from collections import Counter
from dataclasses import replace

import pytest

from apps.fleet.engine.description import FleetDescription, Link, Node, Part, Switch, described
from apps.fleet.engine.layouts import describe
from apps.fleet.engine.link_places import places
from apps.fleet.engine.link_sketch import MAX_UNITS, Item, Kind, Sketch, sketch
from apps.fleet.engine.templates import TEMPLATES, template
from apps.fleet.engine.wiring import joined_as


def wired(key: str) -> FleetDescription:
    layout = template(key)
    assert layout is not None
    return joined_as(layout, describe(layout, domain="d"), domain="d")


def kinds(drawn: Sketch) -> Counter[tuple[Kind, int]]:
    return Counter((item.kind, item.tier) for item in drawn.items)


def links(fleet: FleetDescription) -> int:
    return sum(link.count for link in fleet.links)


@pytest.mark.parametrize("layout", TEMPLATES, ids=lambda one: one.key)
def test_every_link_of_a_ready_layout_is_in_a_bundle_and_no_box_touches_another(layout) -> None:
    fleet = joined_as(layout, describe(layout, domain="d"), domain="d")
    drawn = sketch(fleet)
    assert sum(bundle.count for bundle in drawn.bundles) == links(fleet)
    placed = places(drawn, width=100, height=40)
    assert placed.of.keys() == set(drawn.items)
    for (x, y), (x_2, y_2) in itertools.combinations(placed.of.values(), 2):
        assert abs(x - x_2) >= 100 or abs(y - y_2) >= 40
    for x, y in placed.of.values():
        assert 50 <= x <= placed.width - 50
        assert 20 <= y <= placed.height - 20


def test_a_domain_is_drawn_as_its_sub_domains_with_switches_that_join_the_same_as_one_box() -> None:
    drawn = sketch(wired("144-as-4x36"))
    assert kinds(drawn) == {(Kind.SUBDOMAIN, 0): 4, (Kind.SWITCHES, 1): 4, (Kind.SWITCHES, 2): 1}
    first = drawn.bundles[0]
    assert (first.lower.name, len(first.upper.holds)) == ("d-s1", 18)
    assert (first.count, first.bytes_per_s) == (36 * 18, 36 * 18 * 50_000_000_000)


def test_a_sub_domain_is_drawn_as_its_nodes_with_the_part_of_their_links_that_is_in_it() -> None:
    drawn = sketch(wired("144-as-4x36"), sub_domain="d-s1")
    assert kinds(drawn) == {(Kind.NODE, 0): 5, (Kind.SWITCHES, 1): 1, (Kind.SWITCHES, 2): 1}
    assert {bundle.lower.name: bundle.count for bundle in drawn.bundles if bundle.lower.name} == {
        **{f"d-n0{number}": 8 * 18 for number in range(1, 5)},
        "d-n05": 4 * 18,
    }


def test_a_node_is_drawn_as_its_accelerators() -> None:
    drawn = sketch(wired("72-as-18x4"), node="d-n03")
    assert kinds(drawn) == {(Kind.ACCELERATOR, 0): 4, (Kind.SWITCHES, 1): 1}
    assert {bundle.count for bundle in drawn.bundles} == {18}


def test_what_no_switch_joins_stands_on_a_circle() -> None:
    drawn = sketch(wired("8-mesh"))
    assert (kinds(drawn), len(drawn.bundles)) == ({(Kind.ACCELERATOR, 0): 8}, 28)
    assert places(drawn, width=48, height=40).is_round


def test_nodes_elsewhere_are_drawn_where_links_lead_there() -> None:
    fleet = described(
        says=[Part.NODES, Part.LINKS],
        nodes=[Node(name=name, cards=2) for name in ("a", "b", "c")],
        links=[Link(a="a/0", b="a/1"), Link(a="a/1", b="b/0", count=2), Link(a="b/1", b="c/0")],
    )
    drawn = sketch(fleet, node="a")
    assert [(one.upper.name, one.lower.name, one.count, one.bytes_per_s) for one in drawn.bundles] == [
        ("a/0", "a/1", 1, None),
        ("a/1", "b", 2, None),
    ]


def test_what_hangs_above_nothing_that_is_drawn_is_left_out() -> None:
    fleet = wired("8-mesh")
    more = described(
        says=fleet.says,
        nodes=fleet.nodes,
        switches=[Switch(name="far", tier=1), Switch(name="top", tier=2)],
        links=[*fleet.links, Link(a="far", b="ghost"), Link(a="top", b="far")],
    )
    assert sketch(more) == sketch(fleet)


def test_very_many_nodes_are_one_box() -> None:
    layout = template("72-as-18x4")
    assert layout is not None
    large = replace(layout, nodes=MAX_UNITS + 1)
    drawn = sketch(joined_as(large, describe(large, domain="d"), domain="d"))
    assert kinds(drawn) == {(Kind.ALL, 0): 1, (Kind.SWITCHES, 1): 1}
    assert drawn.items[0].accelerators == 4 * (MAX_UNITS + 1)


def test_an_empty_fleet_is_an_empty_picture() -> None:
    drawn = sketch(described(says=[Part.NODES]))
    assert drawn == Sketch(items=(), bundles=())
    assert places(drawn, width=100, height=40).of == {}


def test_a_node_without_links_is_drawn_all_the_same() -> None:
    drawn = sketch(described(says=[Part.NODES], nodes=[Node(name=name, cards=1) for name in "ab"]))
    assert drawn.items == tuple(Item(kind=Kind.NODE, name=name, accelerators=1) for name in "ab")
