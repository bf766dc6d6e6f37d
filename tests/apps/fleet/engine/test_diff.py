"""Differences between a fleet and a file: none against itself, and each kind of change named once."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from apps.fleet.engine.description import (
    Domain,
    FleetDescription,
    Link,
    Node,
    Part,
    Problem,
    Span,
    Switch,
    described,
    only,
)
from apps.fleet.engine.diff import differences
from apps.fleet.engine.layouts import describe
from apps.fleet.engine.templates import template
from tests.apps.fleet.engine.fleets import nested_fleets, small_fleet


def changed(fleet: FleetDescription, **parts: object) -> FleetDescription:
    kept = {
        name: getattr(fleet, name) for name in ("says", "domains", "nodes", "switches", "links", "problems")
    }
    return described(**{**kept, **parts})


def codes(fleet: FleetDescription, seen: FleetDescription, **options: object) -> list[tuple[str, str]]:
    return [(one.code, one.subject) for one in differences(fleet, seen, **options)]


@settings(max_examples=40, deadline=None)
@given(fleet=nested_fleets(), parts=st.sets(st.sampled_from(list(Part))))
def test_a_fleet_differs_in_nothing_from_any_part_of_itself(
    fleet: FleetDescription, parts: set[Part]
) -> None:
    assert differences(fleet, only(fleet, parts)) == ()
    assert differences(only(fleet, parts), fleet) == ()


def test_a_fleet_with_split_nodes_differs_in_nothing_from_itself() -> None:
    layout = template("144-as-4x36")
    assert layout is not None
    fleet = describe(layout, domain="d1")
    assert differences(fleet, fleet) == ()


def test_nodes_missing_and_unknown_are_named() -> None:
    fleet = small_fleet()
    nodes = [*(node for node in fleet.nodes if node.name != "d2-n2"), Node(name="new", domain="d2", cards=8)]
    seen = only(changed(fleet, nodes=nodes), [Part.NODES])
    assert codes(fleet, seen) == [("node_missing", "d2-n2"), ("unknown_node", "new")]


def test_a_node_in_another_domain_is_named_with_both() -> None:
    fleet = small_fleet()
    nodes = [replace(node, domain="d2") if node.name == "d1-n2" else node for node in fleet.nodes]
    seen = only(changed(fleet, nodes=nodes), [Part.NODES, Part.DOMAINS])
    (found,) = differences(fleet, seen)
    assert (found.code, found.subject, found.ours, found.theirs) == ("node_domain", "d1-n2", "d1", "d2")


def test_a_node_that_the_file_puts_in_no_domain_is_named() -> None:
    fleet = small_fleet()
    nodes = [replace(node, domain="") if node.name == "d1-n2" else node for node in fleet.nodes]
    seen = only(changed(fleet, nodes=nodes), [Part.NODES, Part.DOMAINS])
    assert codes(fleet, seen) == [("node_domain", "d1-n2")]


def test_domains_by_another_name_are_one_difference_each() -> None:
    fleet = small_fleet()
    seen = described(
        says=[Part.NODES, Part.DOMAINS],
        domains=[Domain(name="uuid-a.1"), Domain(name="uuid-b.1")],
        nodes=[
            Node(name=node.name, domain={"d1": "uuid-a.1", "d2": "uuid-b.1"}[node.domain])
            for node in fleet.nodes
        ],
    )
    assert codes(fleet, seen) == [("domain_named_otherwise", "d1"), ("domain_named_otherwise", "d2")]


def test_a_domain_known_by_its_real_name_is_no_difference() -> None:
    fleet = changed(small_fleet(), domains=[Domain(name="d1", real_name="nvl-1"), Domain(name="d2")])
    nodes = [replace(node, domain={"d1": "nvl-1"}.get(node.domain, node.domain)) for node in fleet.nodes]
    seen = described(
        says=[Part.NODES, Part.DOMAINS], domains=[Domain(name="nvl-1"), Domain(name="d2")], nodes=nodes
    )
    assert differences(fleet, seen) == ()


def test_sub_domains_are_compared_node_by_node() -> None:
    fleet = described(
        says=[Part.NODES, Part.DOMAINS, Part.SUBDOMAINS],
        domains=[Domain(name="d", sub_domains=("s1", "s2"))],
        nodes=[
            Node(name=f"n{n}", domain="d", spans=(Span(sub_domain="s1" if n < 4 else "s2"),))
            for n in range(6)
        ],
    )
    moved = [
        replace(node, spans=(Span(sub_domain="s2"),)) if node.name == "n0" else node for node in fleet.nodes
    ]
    assert codes(fleet, changed(fleet, nodes=moved)) == [("node_sub_domain", "n0")]


def test_other_counts_and_models_of_accelerators_are_named() -> None:
    fleet = small_fleet()
    nodes = [
        replace(node, cards=7, model="NVIDIA-H20") if node.name == "d1-n1" else node for node in fleet.nodes
    ]
    assert codes(fleet, changed(fleet, nodes=nodes)) == [("node_cards", "d1-n1"), ("node_model", "d1-n1")]


def test_switches_are_compared_by_tier_and_by_what_is_beneath() -> None:
    fleet = small_fleet()
    switches = [
        Switch(name="leaf-1", tier=1, nodes=("d1-n1",)),
        Switch(name="leaf-3", tier=1, nodes=("d1-n2",)),
        Switch(name="spine.1", tier=3, switches=("leaf-1", "leaf-3")),
    ]
    assert codes(fleet, changed(fleet, switches=switches)) == [
        ("switch_missing", "leaf-2"),
        ("unknown_switch", "leaf-3"),
        ("switch_nodes", "leaf-1"),
        ("switch_tier", "spine.1"),
        ("switch_switches", "spine.1"),
    ]


def test_silence_of_a_file_about_a_switch_above_no_node_is_no_difference() -> None:
    fleet = small_fleet()
    with_idle = [Switch(name="idle", tier=1), Switch(name="top", tier=3, switches=("idle", "spine.1"))]
    recorded = changed(fleet, switches=[*fleet.switches, *with_idle])
    seen = changed(fleet, switches=[*fleet.switches, Switch(name="top", tier=3, switches=("spine.1",))])
    assert codes(recorded, seen) == []
    assert codes(recorded, changed(recorded, switches=[*seen.switches, Switch(name="idle", tier=2)])) == [
        ("switch_tier", "idle"),
        ("switch_switches", "top"),
    ]


def test_switches_under_the_name_of_the_scheduler_are_known_by_their_real_name() -> None:
    fleet = small_fleet()
    numbers = {"leaf-1": "switch.1.1", "leaf-2": "switch.1.2", "spine.1": "switch.2.1"}
    renamed = [
        replace(
            one,
            name=numbers[one.name],
            real_name=one.name,
            switches=tuple(numbers[child] for child in one.switches),
        )
        for one in fleet.switches
    ]
    assert differences(fleet, changed(fleet, switches=renamed)) == ()


def test_aliases_stand_for_the_names_of_the_fleet() -> None:
    fleet = small_fleet()
    long_names = {f"{node.name}.cluster.local": node.name for node in fleet.nodes}
    other = {name: alias for alias, name in long_names.items()}
    seen = changed(
        fleet,
        nodes=[replace(node, name=other[node.name]) for node in fleet.nodes],
        switches=[replace(one, nodes=tuple(other[node] for node in one.nodes)) for one in fleet.switches],
    )
    assert differences(fleet, seen, aliases=long_names) == ()
    both = changed(seen, nodes=[*seen.nodes, fleet.nodes[0]])
    assert codes(fleet, both, aliases=long_names) == [("node_twice", "d1-n1")]


def test_problems_inside_the_file_come_first() -> None:
    fleet = small_fleet()
    problem = Problem(code="unknown_switch", subject="leaf9", message="switch leaf9 is nowhere defined")
    assert codes(fleet, changed(fleet, problems=[problem])) == [("unknown_switch", "leaf9")]


def test_links_are_the_same_whichever_end_comes_first() -> None:
    ours = described(
        says=[Part.LINKS],
        links=[
            Link(a="n/0", b="n/1", count=18, bandwidth_bytes_per_s=25),
            Link(a="n/0", b="n/2", count=18),
        ],
    )
    theirs = described(says=[Part.LINKS], links=[Link(a="n/1", b="n/0", count=17)])
    assert codes(ours, theirs) == [("link_missing", "n/0 to n/2"), ("link_count", "n/0 to n/1")]
