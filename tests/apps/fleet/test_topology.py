"""The topology page: aggregate first, one domain down to its accelerators, colours and selection."""

from __future__ import annotations

import re

import pytest

from apps.core import clock
from apps.fleet import services
from apps.fleet.models import Domain, Hold, HoldKind, Node
from apps.fleet.queries import topology
from apps.fleet.queries.layers import Layer, layer_of, layers, register_layer
from tests import factories

pytestmark = pytest.mark.django_db


@pytest.fixture
def domain(build) -> Domain:
    return build("144-as-4x36")


def picture(domain: Domain, key: str = "state") -> topology.DomainPicture:
    nodes = topology.nodes_to_draw(domain.cluster, domain)
    return topology.picture_of(domain.cluster, domain, nodes, layer_of(key).paint(nodes))


def test_a_split_node_is_drawn_in_both_of_its_sub_domains(domain):
    halls = {hall.name: hall for hall in picture(domain).halls}
    parts = [
        (hall.name, part.part, part.cards) for hall in halls.values() for part in hall.parts if part.part
    ]
    assert [hall.accelerators for hall in halls.values()] == [36, 36, 36, 36]
    assert parts == [("sn-s1", 1, 4), ("sn-s2", 2, 4), ("sn-s3", 1, 4), ("sn-s4", 2, 4)]


def test_the_legend_counts_each_node_once(domain, bo, actor_for):
    for node, reason in zip(domain.nodes.all(), ("optics", "noise"), strict=False):
        services.hold_node(actor=actor_for(bo), node_id=node.pk, kind=HoldKind.QUARANTINE, reason=reason)
    legend = [(shade.value, number) for shade, number in picture(domain).legend]
    assert sum(number for _, number in legend) == 18
    assert ("quarantined", 2) in legend
    quarantine = [(shade.value, number) for shade, number in picture(domain, "quarantine").legend]
    assert quarantine == [("free", 16), ("quarantined", 2)]


def test_nodes_of_one_placement_group_share_a_colour(domain):
    nodes = list(Node.objects.filter(domain=domain)[:5])
    for place, node in enumerate(nodes):
        launch = 7 if place < 3 else 8
        Hold.objects.create(
            node=node,
            kind=HoldKind.TRAINING,
            owner=f"launches.launch:{launch}",
            reason=f"run {launch}",
            by_label="x",
            since=clock.now(),
        )
    legend = {shade.word: number for shade, number in picture(domain, "placement_group").legend}
    assert legend == {"training #7": 3, "training #8": 2, "held for nothing": 13}


def test_failure_domains_are_racks_where_they_are_written_down_and_sub_domains_else(domain):
    assert [shade.word for shade, _ in picture(domain, "failure_domain").legend] == [
        "sn-s1",
        "sn-s2",
        "sn-s3",
        "sn-s4",
    ]
    Node.objects.filter(name__lte="sn-n09").update(rack="R1")
    assert {shade.word for shade, _ in picture(domain, "failure_domain").legend} == {
        "R1",
        "no rack written down",
    }


def test_one_domain_is_drawn_at_once_and_several_in_aggregate(domain, cluster, vic, client_of):
    address = f"/clusters/{cluster.slug}/topology/"
    assert b"sn-n18" in client_of(vic).get(address).content
    factories.node(cluster, "stray")
    answer = client_of(vic).get(address)
    whole = answer.context["whole"]
    assert [(tile.nodes, tile.accelerators) for tile in whole.tiles] == [(18, 144), (1, 0)]
    assert (whole.nodes, whole.accelerators, whole.states) == (19, 144, [("in_service", 19)])
    assert b"stray" in client_of(vic).get(address + "?domain=none").content


def test_the_cluster_in_aggregate_tells_its_troubles_as_legend_and_as_table(
    cluster, vic, bo, actor_for, client_of
):
    sick = [
        factories.node(cluster, f"{name}-1", domain=factories.domain(cluster, name)) for name in ("a", "b")
    ]
    services.hold_node(actor=actor_for(bo), node_id=sick[1].pk, kind=HoldKind.QUARANTINE, reason="Xid 79")
    answer = client_of(vic).get(f"/clusters/{cluster.slug}/topology/")
    assert answer.context["whole"].states == [("quarantined", 1), ("in_service", 1)]
    assert [numbers for _tile, numbers in answer.context["whole"].rows] == [[0, 1], [1, 0]]
    assert answer.content.decode().count('data-value="quarantined"') == 3  # legend, tile, row


def test_the_page_has_a_link_for_each_of_144_accelerators_and_no_script_of_its_own(
    domain, cluster, vic, client_of
):
    content = client_of(vic).get(f"/clusters/{cluster.slug}/topology/?domain={domain.pk}").content.decode()
    assert content.count('class="cell tone-') == 144
    assert "<script>" not in content


def test_what_the_address_selects_is_told_beside(domain, cluster, vic, client_of):
    card = domain.nodes.first().accelerators.last()
    address = f"/clusters/{cluster.slug}/topology/?domain={domain.pk}&card={card.pk}&colour=health"
    answer = client_of(vic).get(address)
    assert answer.context["selected_cell"].card == card
    assert 'id="side-panel"' in answer.content.decode()


def test_a_domain_of_another_cluster_is_missing(domain, other_cluster, eve, client_of):
    answer = client_of(eve).get(f"/clusters/{other_cluster.slug}/topology/?domain={domain.pk}")
    assert answer.status_code == 404


def test_a_misspelt_parameter_is_an_error(cluster, vic, client_of):
    assert client_of(vic).get(f"/clusters/{cluster.slug}/topology/?domian=1").status_code == 400


def test_an_unknown_colour_gives_the_ordinary_one():
    assert layer_of("no-such").key == layers()[0].key == "state"


def test_a_layer_of_an_app_above_is_offered_once():
    with pytest.raises(RuntimeError):
        register_layer(Layer(key="state", title="x", paint=layers()[0].paint))


def test_a_domain_needs_as_many_queries_with_many_nodes(cluster, vic, client_of, assert_constant_queries):
    home = factories.domain(cluster, sub_domains=2)
    address = f"/clusters/{cluster.slug}/topology/?domain={home.pk}"

    def grow() -> None:
        for _number in range(20):
            factories.node(cluster, domain=home, accelerators=4)

    grow()
    client = client_of(vic)
    assert_constant_queries(lambda: client.get(address), grow)
    assert_constant_queries(lambda: client.get(f"/clusters/{cluster.slug}/topology/"), grow)


def graph(client, domain, more=""):
    answer = client.get(f"/clusters/{domain.cluster.slug}/topology/?domain={domain.pk}&mode=graph{more}")
    return answer.context["graph"], answer.content.decode()


def test_the_link_graph_has_its_places_and_a_table_that_says_the_same(domain, vic, client_of):
    found, page = graph(client_of(vic), domain)
    edges = [one for one in found.elements if one["group"] == "edges"]
    ids = {one["data"]["id"] for one in found.elements if one["group"] == "nodes"}
    assert len(edges) == len(found.links) == 8
    assert all({edge["data"]["source"], edge["data"]["target"]} <= ids for edge in edges)
    assert all("position" in one for one in found.elements if one["group"] == "nodes")
    assert sum(link.count for link in found.links) == 3888
    assert edges[0]["data"]["label"] == "648 links · 32.4 TB/s"
    assert 'aria-hidden="true"' in page


def test_the_link_graph_leads_into_sub_domains_and_nodes_also_from_its_table(domain, vic, client_of):
    client = client_of(vic)
    whole, _page = graph(client, domain)
    hall = domain.sub_domains.first()
    assert f"&sub_domain={hall.pk}" in whole.links[0].lower.url
    inside, page = graph(client, domain, f"&sub_domain={hall.pk}")
    node = domain.nodes.get(name=inside.links[0].lower.name)
    assert f'href="{inside.links[0].lower.url.replace("&", "&amp;")}"' in page
    near, _page = graph(client, domain, f"&node={node.pk}")
    assert {link.lower.name for link in near.links[:8]} == {f"{node.name}/{slot}" for slot in range(8)}


def test_boxes_of_the_link_graph_wear_the_worst_of_what_is_inside(domain, bo, actor_for, vic, client_of):
    node = domain.nodes.get(name="sn-n01")
    services.hold_node(actor=actor_for(bo), node_id=node.pk, kind=HoldKind.QUARANTINE, reason="optics")
    found, _page = graph(client_of(vic), domain)
    worn = [one["classes"] for one in found.elements if one["group"] == "nodes"][:4]
    assert worn == ["tone-fail", "tone-pass", "tone-pass", "tone-pass"]


@pytest.mark.parametrize("mode", ["", "&mode=graph"])
def test_the_legend_filters_the_table_and_the_link_graph_too(domain, bo, actor_for, vic, client_of, mode):
    node = domain.nodes.get(name="sn-n01")
    services.hold_node(actor=actor_for(bo), node_id=node.pk, kind=HoldKind.QUARANTINE, reason="optics")
    page = client_of(vic).get(f"/clusters/{domain.cluster.slug}/topology/?domain={domain.pk}{mode}")
    text = page.content.decode()
    assert 'data-filter="rack"' in text
    table = text.partition('<tbody data-filtered-by="rack">')[2].partition("</tbody>")[0]
    assert re.findall(r'<tr data-value="(\S+)">\s*<th scope="row"><a href="[^"]+"[^>]*>sn-n0[12]', table) == [
        "quarantined",
        "in_service",
    ]
    if mode:
        assert 'data-graph="graph-elements" data-filtered-by="rack"' in text
        values = [one["data"].get("values") for one in page.context["graph"].elements]
        assert values[0] == "quarantined in_service"


def test_a_mesh_that_no_switch_joins_is_drawn_from_its_layout(build, vic, client_of):
    made = build("8-mesh")
    assert len(graph(client_of(vic), made)[0].links) == 28
