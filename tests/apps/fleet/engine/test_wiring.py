"""Layouts wired by name give the graph that they came from, and evidence of one node gives its links."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from apps.core.errors import Invalid
from apps.evidence.engine.registry import read as read_evidence
from apps.evidence.engine.source import Source
from apps.fleet.engine.description import (
    FleetDescription,
    Link,
    Node,
    Part,
    Switch,
    about,
    described,
)
from apps.fleet.engine.diff import differences
from apps.fleet.engine.layouts import Layout, graph_of
from apps.fleet.engine.metrics import analyse
from apps.fleet.engine.schedulers.reading import KINDS, read_fleet
from apps.fleet.engine.schedulers.writing import FORMATS, write_fleet
from apps.fleet.engine.templates import TEMPLATES, template
from apps.fleet.engine.wiring import graph_of_fleet, wired
from tests.apps.fleet.engine.fleets import small_fleet

CORPUS = Path(__file__).parents[3] / "corpus"


def read_corpus(name: str, **options: Any) -> FleetDescription:
    reading = read_evidence(Source.of_bytes((CORPUS / name).read_bytes()))
    return read_fleet(reading.kind, reading.facts, **options)


@pytest.mark.parametrize(
    "layout", [one for one in TEMPLATES if one.accelerators < 144], ids=lambda one: one.key
)
def test_a_wired_layout_has_the_figures_of_its_graph(layout: Layout) -> None:
    ours, wanted = analyse(graph_of_fleet(wired(layout, domain="d1"))), analyse(graph_of(layout))
    assert ours.parts == wanted.parts
    assert ours.tiers == wanted.tiers
    assert ours.distances == wanted.distances
    assert ours.bisection.bandwidth_bytes_per_s == wanted.bisection.bandwidth_bytes_per_s


def test_links_of_nodes_are_another_network_than_those_of_accelerators() -> None:
    fleet = described(
        says=[Part.LINKS],
        nodes=[Node(name="a", cards=1), Node(name="b", cards=1)],
        switches=[Switch(name="leaf", tier=1)],
        links=[
            Link(a="leaf", b="a", bandwidth_bytes_per_s=50),
            Link(a="leaf", b="b", bandwidth_bytes_per_s=50),
            Link(a="a/0", b="b/0", bandwidth_bytes_per_s=900),
        ],
    )
    assert analyse(graph_of_fleet(fleet)).bisection.bandwidth_bytes_per_s == 900


def test_links_without_bandwidth_make_no_fabric() -> None:
    fleet = described(says=[Part.LINKS], links=[Link(a="a/0", b="b/0")])
    with pytest.raises(Invalid) as caught:
        graph_of_fleet(fleet)
    assert [error.code for error in caught.value.errors] == ["no_bandwidth"]
    with pytest.raises(Invalid) as caught:
        graph_of_fleet(small_fleet())
    assert [error.code for error in caught.value.errors] == ["empty"]


def test_nv18_beside_every_peer_is_links_into_switches() -> None:
    fleet = read_corpus("topo-m/h100x8-10nic.txt", node="n1")
    assert [(link.a, link.b, link.count) for link in fleet.links][:1] == [("n1-nvswitch", "n1/0", 18)]
    assert len(fleet.links) == 8
    assert Part.LINKS not in fleet.says


def test_a_hybrid_mesh_has_direct_links() -> None:
    fleet = read_corpus("topo-m/v100x8-no-nic.txt", node="n1")
    assert sum(link.count for link in fleet.links) == 24
    assert all(link.a.startswith("n1/") for link in fleet.links)
    assert Part.LINKS in fleet.says


def test_a_pcie_only_node_has_cards_and_no_links() -> None:
    fleet = read_corpus("topo-m/l20x8-pcie-only.txt", node="n1")
    assert (fleet.nodes[0].cards, fleet.links) == (8, ())


def test_nccl_xml_gives_a_full_mesh_of_xgmi() -> None:
    fleet = read_corpus("nccl-topo-xml/mi300x8-dump-xgmi-8nic.xml", node="n1")
    assert len(fleet.links) == 28
    assert {link.kind for link in fleet.links} == {"xgmi"}
    assert fleet.problems == ()


def test_nccl_xml_without_gpu_elements_counts_cards_only() -> None:
    fleet = read_corpus("nccl-topo-xml/aws-p4d-a100x8-efa.xml", node="n1")
    assert (fleet.nodes[0].cards, fleet.links) == (8, ())


def test_evidence_of_one_node_is_held_against_that_node_alone() -> None:
    layout = template("8-switched")
    assert layout is not None
    fleet = wired(layout, domain="d1")
    seen = read_corpus("topo-m/gb200x4-4nic.txt", node="d1-n01")
    assert [one.code for one in differences(about(fleet, ["d1-n01"]), seen)] == ["node_cards"]


def test_a_part_of_the_fleet_keeps_only_what_is_about_its_nodes() -> None:
    part = about(small_fleet(), ["d1-n1"])
    assert [one.name for one in part.nodes] == ["d1-n1"]
    assert [(one.name, one.nodes) for one in part.switches] == [("leaf-1", ("d1-n1",))]
    assert [one.name for one in part.domains] == ["d1"]


def test_kinds_and_formats_that_are_not_known_are_refused_with_those_that_are() -> None:
    assert len(KINDS) == 9
    with pytest.raises(Invalid, match="hypernode"):
        read_fleet("nccl_tests", {})
    with pytest.raises(Invalid) as caught:
        read_fleet("nvidia_smi_topo", {})
    assert caught.value.code == "node_needed"
    with pytest.raises(Invalid, match="slurm_tree"):
        write_fleet(small_fleet(), form="excel")


@pytest.mark.parametrize("form", FORMATS)
def test_every_format_writes_every_node(form: str) -> None:
    export = write_fleet(small_fleet(), form=form)
    assert export.file_name
    assert export.text.endswith("\n")
