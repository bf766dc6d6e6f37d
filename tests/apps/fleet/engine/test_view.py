"""The topology picture: nothing overlaps, everything lies inside its parent, and large fleets are aggregated."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings

from apps.fleet.engine.description import (
    Domain,
    FleetDescription,
    Link,
    Node,
    Part,
    Switch,
    described,
)
from apps.fleet.engine.layouts import describe
from apps.fleet.engine.templates import TEMPLATES, template
from apps.fleet.engine.view import Detail, Picture, place
from apps.fleet.engine.view_boxes import Box, Kind
from apps.fleet.engine.view_links import drawn_links
from tests.apps.fleet.engine.fleets import nested_fleets, small_fleet


def overlap(a: Box, b: Box) -> bool:
    return a.x < b.x + b.width and b.x < a.x + a.width and a.y < b.y + b.height and b.y < a.y + a.height


def inside(inner: Box, outer: Box) -> bool:
    return (
        outer.x <= inner.x
        and outer.y <= inner.y
        and inner.x + inner.width <= outer.x + outer.width
        and inner.y + inner.height <= outer.y + outer.height
    )


def siblings(picture: Picture) -> list[list[Box]]:
    """Boxes that stand side by side: the direct contents of each box, told by the order of drawing."""
    groups: list[list[Box]] = []
    stack: list[tuple[Box, list[Box]]] = []
    top: list[Box] = []
    groups.append(top)
    for box in picture.boxes:
        while stack and not inside(box, stack[-1][0]):
            stack.pop()
        (stack[-1][1] if stack else top).append(box)
        children: list[Box] = []
        groups.append(children)
        stack.append((box, children))
    return groups


def check(picture: Picture) -> None:
    for group in siblings(picture):
        for a, b in itertools.combinations(group, 2):
            assert not overlap(a, b), (a, b)
    for box in picture.boxes:
        assert box.x >= 0 and box.x + box.width <= picture.width
        assert box.y >= 0 and box.y + box.height <= picture.height


def fleet_of(domains: int, nodes: int) -> FleetDescription:
    names = [f"d{number}" for number in range(1, domains + 1)]
    return described(
        says=[Part.NODES, Part.DOMAINS, Part.CARDS],
        domains=[Domain(name=name) for name in names],
        nodes=[Node(name=f"{name}-n{n}", domain=name, cards=8) for name in names for n in range(nodes)],
    )


@pytest.mark.parametrize("layout", TEMPLATES, ids=lambda one: one.key)
def test_every_ready_layout_is_drawn_down_to_its_accelerators(layout) -> None:
    fleet = describe(layout, domain="d1")
    picture = place(fleet)
    check(picture)
    drawn = [box.key for box in picture.boxes if box.kind is Kind.ACCELERATOR]
    assert picture.detail is Detail.ACCELERATORS
    assert sorted(drawn) == sorted(f"{node.name}/{n}" for node in fleet.nodes for n in range(node.cards or 0))


@settings(max_examples=25, deadline=None)
@given(fleet=nested_fleets())
def test_nothing_overlaps_in_any_fleet(fleet: FleetDescription) -> None:
    for detail in Detail:
        check(place(fleet, detail=detail))


def test_the_same_fleet_gives_the_same_picture() -> None:
    assert place(small_fleet()) == place(small_fleet())


def test_a_split_node_has_a_part_in_each_sub_domain() -> None:
    layout = template("144-as-4x36")
    assert layout is not None
    picture = place(describe(layout, domain="d1"))
    parts = [(box.parent, box.part, box.accelerators) for box in picture.boxes if box.key == "d1-n05"]
    assert parts == [("d1-s1", 1, 4), ("d1-s2", 2, 4)]
    assert len([box for box in picture.boxes if box.key == "d1-n05/4"]) == 1
    whole = next(box for box in picture.boxes if box.kind is Kind.DOMAIN)
    assert (whole.nodes, whole.accelerators) == (18, 144)


def test_ten_thousand_nodes_are_drawn_as_domains() -> None:
    fleet = fleet_of(1112, 9)
    picture = place(fleet)
    check(picture)
    assert picture.detail is Detail.DOMAINS
    assert len(picture.boxes) == 1112
    assert (picture.boxes[0].nodes, picture.boxes[0].accelerators) == (9, 72)


def test_a_domain_between_the_limits_is_drawn_down_to_its_nodes() -> None:
    picture = place(fleet_of(1, 200))
    assert picture.detail is Detail.NODES
    assert {box.kind for box in picture.boxes} == {Kind.DOMAIN, Kind.NODE}


def test_nodes_in_no_domain_stand_last_under_an_empty_key() -> None:
    fleet = small_fleet()
    loose = described(says=fleet.says, domains=fleet.domains, nodes=[*fleet.nodes, Node(name="a", cards=2)])
    domains = [box.key for box in place(loose).boxes if box.kind is Kind.DOMAIN]
    assert domains == ["d1", "d2", ""]


def test_switches_stand_in_lanes_above_the_highest_tier_first() -> None:
    picture = place(small_fleet())
    lanes = {box.key: box.y for box in picture.boxes if box.kind is Kind.SWITCH}
    assert lanes["spine.1"] < lanes["leaf-1"] == lanes["leaf-2"]
    assert max(lanes.values()) < min(box.y for box in picture.boxes if box.kind is Kind.DOMAIN)


def test_very_many_switches_of_a_tier_are_one_box() -> None:
    fleet = small_fleet()
    many = [Switch(name=f"leaf-{n}", tier=1, nodes=("d1-n1",)) for n in range(99)]
    picture = place(described(says=fleet.says, domains=fleet.domains, nodes=fleet.nodes, switches=many))
    assert [(box.key, box.label) for box in picture.boxes if box.kind is Kind.SWITCHES] == [
        ("tier-1", "99 × tier 1")
    ]


def test_links_end_at_the_nearest_thing_that_is_drawn() -> None:
    fleet = small_fleet()
    linked = described(
        says=fleet.says,
        domains=fleet.domains,
        nodes=fleet.nodes,
        switches=fleet.switches,
        links=[
            Link(a="leaf-1", b="d1-n1/0", count=2, bandwidth_bytes_per_s=50),
            Link(a="leaf-1", b="d1-n1/1", count=2, bandwidth_bytes_per_s=50),
            Link(a="d1-n1/0", b="d1-n1/1"),
            Link(a="leaf-1", b="ghost"),
        ],
    )
    fine = drawn_links(linked, place(linked))
    assert [(one.a, one.b, one.count) for one in fine] == [
        ("d1-n1/0", "d1-n1/1", 1),
        ("leaf-1", "d1-n1/0", 2),
        ("leaf-1", "d1-n1/1", 2),
    ]
    (coarse,) = drawn_links(linked, place(linked, detail=Detail.NODES))
    assert (coarse.a, coarse.b, coarse.count, coarse.bandwidth_bytes_per_s) == ("leaf-1", "d1-n1", 4, 200)


def test_a_fleet_without_links_shows_what_stands_beneath_its_switches() -> None:
    fleet = small_fleet()
    pairs = {(one.a, one.b) for one in drawn_links(fleet, place(fleet))}
    assert ("spine.1", "leaf-1") in pairs
    assert ("leaf-2", "d2-n2") in pairs


def test_an_empty_fleet_is_an_empty_picture() -> None:
    assert place(described(says=[Part.NODES])).boxes == ()
