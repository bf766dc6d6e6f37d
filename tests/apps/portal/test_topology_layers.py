"""Drift and bandwidth as colours of the topology page."""

from __future__ import annotations

from typing import Any

import pytest

from apps.benchmarks.models import BenchmarkRun
from apps.core import clock
from apps.environments.models import DriftCheck, DriftFinding
from apps.fleet.models import Domain, Node
from apps.fleet.queries.layers import Colours, layer_of
from apps.fleet.queries.topology import nodes_to_draw
from tests import factories
from tests.apps.environments.support import check_drift

pytestmark = pytest.mark.django_db


@pytest.fixture
def domain(cluster) -> Domain:
    made = factories.domain(cluster, unidirectional_bytes_per_s=900e9)
    for name in ("n1", "n2"):
        factories.node(cluster, name, domain=made, accelerators=2)
    return made


def painted(domain: Domain, key: str) -> Colours:
    return layer_of(key).paint(nodes_to_draw(domain.cluster, domain))


def words(domain: Domain, key: str) -> dict[str, str]:
    nodes = {node.pk: node.name for node in domain.nodes.all()}
    return {nodes[pk]: shade.value for pk, shade in painted(domain, key).nodes.items()}


def checked(domain: Domain, *names: str) -> DriftCheck:
    return DriftCheck.objects.create(
        domain=domain,
        first_checked_at=clock.now(),
        checked_at=clock.now(),
        verdict="fail",
        input_digest="0" * 64,
        node_count=len(names),
        finding_count=1,
        components=["nccl"],
        groups=[{"fingerprint": "a", "verdict": "pass", "nodes": list(names), "cells": []}],
        odd_ones=[],
        shortest_boards=[],
    )


def found(node: Node, **told: Any) -> DriftFinding:
    usual = {"component": "nccl", "kind": "drift", "outcome": "drift", "reason": "differs", "verdict": "fail"}
    seen = {"first_seen_at": clock.now(), "last_seen_at": clock.now()}
    return DriftFinding.objects.create(domain=node.domain, node=node, **(usual | seen | told))


def test_before_the_first_check_no_node_matches(domain):
    assert set(words(domain, "drift").values()) == {"not_evaluated"}


def test_a_node_with_a_finding_stands_out_and_says_in_what(domain):
    check = checked(domain, "n1", "n2")
    node = domain.nodes.get(name="n2")
    found(node)
    assert words(domain, "drift") == {"n1": "match", "n2": "drift"}
    colours = painted(domain, "drift")
    assert colours.nodes[node.pk].note == "1 finding: NCCL"
    assert colours.of == check.checked_at


@pytest.mark.parametrize(
    ("told", "value", "tone"),
    [
        ({"outcome": "missing"}, "missing", "tone-fail"),
        ({"verdict": "warn"}, "warn", "tone-warn"),
        ({"verdict": "warn", "kind": "loaded_differs", "outcome": "match"}, "warn", "tone-warn"),
        ({"verdict": "warn", "outcome": "extra"}, "extra", "tone-warn"),
        ({"verdict": "unknown", "outcome": "stale"}, "stale", "tone-unknown"),
    ],
)
def test_a_node_is_coloured_by_the_verdict_of_its_findings(domain, told, value, tone):
    checked(domain, "n1", "n2")
    node = domain.nodes.get(name="n2")
    found(node, **told)
    shade = painted(domain, "drift").nodes[node.pk]
    assert (shade.value, shade.style) == (value, tone)


def test_a_warning_beside_a_failing_difference_changes_nothing(domain):
    checked(domain, "n1", "n2")
    node = domain.nodes.get(name="n2")
    found(node)
    found(node, component="cuda", verdict="warn")
    assert painted(domain, "drift").nodes[node.pk].style == "tone-fail"


def test_the_legend_tells_warnings_from_failures(domain, cluster, vic, client_of):
    checked(domain, "n1", "n2")
    for name, verdict in (("n1", "fail"), ("n2", "warn")):
        found(domain.nodes.get(name=name), verdict=verdict)
    address = f"/clusters/{cluster.slug}/topology/?domain={domain.pk}&colour=drift"
    legend = client_of(vic).get(address).context["picture"].legend
    assert {shade.value: number for shade, number in legend} == {"drift": 1, "warn": 1}


def test_where_no_matrix_asks_for_anything_a_node_is_not_evaluated_instead_of_drifting(domain):
    check_drift(domain)
    assert set(words(domain, "drift").values()) == {"not_evaluated"}
    assert {shade.note for shade in painted(domain, "drift").nodes.values()} == {
        "no matrix asks for anything"
    }


def test_a_node_that_the_check_left_out_does_not_match(domain):
    checked(domain, "n1")
    assert words(domain, "drift") == {"n1": "match", "n2": "not_evaluated"}


def test_bandwidth_is_that_of_the_newest_run_of_each_node(domain):
    for busbw in (400e9, 850e9):
        run = BenchmarkRun.objects.create(
            cluster=domain.cluster,
            domain=domain,
            sha256=f"{int(busbw):064d}",
            tool="nccl-tests",
            collective="all_reduce",
            ranks=2,
            status="complete",
            max_size_bytes=1 << 34,
            busbw_bytes_per_s=busbw,
            wrong_total=0,
            received_at=clock.now(),
        )
        run.nodes.add(domain.nodes.get(name="n1"))
    shades = {domain.nodes.get(pk=pk).name: shade for pk, shade in painted(domain, "bandwidth").nodes.items()}
    assert (shades["n1"].word, shades["n1"].style) == ("850 GB/s", "heat heat-9")
    assert shades["n2"].value == "unknown"


def test_the_page_offers_both(domain, cluster, vic, client_of):
    address = f"/clusters/{cluster.slug}/topology/?domain={domain.pk}&colour="
    for key in ("drift", "bandwidth"):
        answer = client_of(vic).get(address + key)
        assert answer.context["layer"].key == key


def test_the_page_of_a_node_tells_its_open_findings_and_leads_to_its_versions(
    domain, cluster, vic, client_of
):
    drifting, fine = domain.nodes.order_by("name")
    found(drifting)
    found(drifting, resolved_at=clock.now())
    stray = factories.node(cluster, "n3")
    pages = {
        node: client_of(vic).get(f"/clusters/{cluster.slug}/nodes/{node.pk}/").content.decode()
        for node in (drifting, fine, stray)
    }
    assert "Drift: 1 finding fails" in pages[drifting]
    assert "Drift: " not in pages[fine] + pages[stray]
    assert all(f'href="/environment/nodes/{node.pk}/"' in page for node, page in pages.items())
