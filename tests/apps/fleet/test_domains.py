"""Scale-up domains: built whole, or not at all."""

from __future__ import annotations

import pytest

from apps.catalogue.queries import accelerators_for
from apps.core.errors import Conflict, Invalid, NotAllowed
from apps.fleet import queries, services
from apps.fleet.engine.layout_values import as_values
from apps.fleet.engine.templates import TEMPLATES, template
from apps.fleet.models import Accelerator, Domain, Link, Node, Switch
from apps.fleet.queries.description import description_of
from apps.fleet.queries.fabric import fabric_of, layout_of
from tests import factories

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("layout", TEMPLATES, ids=lambda layout: layout.key)
def test_every_template_is_built_with_all_its_parts(layout, build):
    domain = build(layout.key)
    fabric = fabric_of(domain)
    assert domain.nodes.count() == layout.nodes
    assert Accelerator.objects.filter(node__domain=domain).count() == layout.accelerators
    assert Switch.objects.filter(domain=domain).count() == fabric.metrics.parts.switches
    assert layout_of(domain) == layout


def test_links_lead_from_each_switch_to_what_hangs_below(build):
    domain = build("144-as-4x36")
    links = Link.objects.filter(upper__domain=domain)
    assert (links.filter(accelerator__isnull=False).count(), links.filter(lower__isnull=False).count()) == (
        144 * 18,
        72 * 18,
    )
    assert not links.filter(lower__isnull=False, optical=False).exists()


def test_a_node_between_two_sub_domains_has_accelerators_in_both(build):
    build("144-as-4x36")
    node = Node.objects.get(name="sn-n05")
    homes = [card.sub_domain.name for card in node.accelerators.select_related("sub_domain")]
    assert homes == ["sn-s1"] * 4 + ["sn-s2"] * 4


def test_where_one_name_is_taken_nothing_is_built(cluster, build):
    factories.node(cluster, "sn-n07")
    with pytest.raises(Conflict) as refused:
        build()
    assert "sn-n07" in refused.value.message
    assert (Domain.objects.count(), Node.objects.count(), Switch.objects.count()) == (0, 1, 0)


@pytest.mark.parametrize("name", ["", "two words", "a/b", "a[1-2]", "x" * 61, "--now", "#a", "*"])
def test_a_name_that_no_host_list_can_hold_is_refused(name, build):
    with pytest.raises(Invalid) as refused:
        build(name=name)
    assert refused.value.errors[0].pointer == "/name"


def test_a_viewer_builds_nothing(cluster, vic, actor_for):
    with pytest.raises(NotAllowed):
        services.build_domain(
            actor=actor_for(vic),
            cluster_id=cluster.pk,
            name="sn",
            layout=template("8-mesh"),
            accelerator_model="nvidia-gb200",
        )


def test_the_preview_names_what_stands_in_the_way_and_builds_nothing(cluster, bo, client_of):
    factories.node(cluster, "sn-n01")
    address = (
        f"/clusters/{cluster.slug}/build-domain/?layout=144-as-4x36&name=sn&accelerator_model=nvidia-gb200"
    )
    answer = client_of(bo).get(address + "&first_node=1")
    assert answer.context["preview"].taken == ("sn-n01",)
    assert answer.context["preview"].fabric.metrics.bisection.bandwidth_bytes_per_s == 32_400 * 10**9
    assert Domain.objects.count() == 0


@pytest.mark.parametrize(("page", "accelerators"), [("build-domain", 144), ("build-free-domain", 128)])
def test_what_the_form_begins_with_is_shown_from_the_start(page, accelerators, cluster, bo, client_of):
    factories.domain(cluster, name="sn1")
    answer = client_of(bo).get(f"/clusters/{cluster.slug}/{page}/")
    preview = answer.context["preview"]
    assert (preview.name, preview.layout.accelerators, preview.taken) == ("sn2", accelerators, ())
    assert "Nothing to see yet" not in answer.content.decode()


def test_the_page_builds_a_domain_and_shows_it(cluster, bo, client_of):
    values = {"layout": "72-as-9x8", "name": "sn1", "accelerator_model": "nvidia-gb200", "first_node": "1"}
    answer = client_of(bo).post(f"/clusters/{cluster.slug}/build-domain/", values)
    domain = Domain.objects.get()
    assert answer.url == f"/clusters/{cluster.slug}/topology/?domain={domain.pk}"


@pytest.mark.parametrize(
    ("page", "field"),
    [
        ("build-domain", "first_node"),
        ("build-domain", "scale_out_gb_per_s"),
        ("build-free-domain", "first_node"),
        ("build-free-domain", "link_gb_per_s"),
    ],
)
def test_the_pages_refuse_sizes_that_nobody_builds(page, field, cluster, bo, client_of):
    address = f"/clusters/{cluster.slug}/{page}/"
    begun = client_of(bo).get(address).context["form"].data
    values = {name: value for name, value in begun.items() if value is not None}
    answer = client_of(bo).post(address, values | {field: "99999999999"})
    assert (list(answer.context["form"].errors), Domain.objects.count()) == ([field], 0)


def test_over_rest_a_free_layout_is_tried_then_built(cluster, bo, api):
    body = {"cluster": cluster.slug, "name": "f", "accelerator_model": "huawei-ascend-910c"}
    body["layout"] = as_values(template("72-as-9x8")) | {"key": "free", "nodes": 4}
    caller = api(factories.bearer(bo, "read", "fleet:write"))
    tried = caller.post("/api/v1/domains/?dry_run=true", body, format="json")
    assert (tried.status_code, tried.json()["accelerators"], Domain.objects.count()) == (200, 32, 0)
    made = caller.post("/api/v1/domains/", body, format="json")
    assert (made.status_code, made.json()["layout"]) == (201, "free")
    figures = caller.get(f"/api/v1/domains/{made.json()['id']}/fabric/").json()
    assert figures["bisection_share"] == 1.0
    assert {fit["pattern"] for fit in figures["fits"]} == {"dense_all_reduce", "moe_all_to_all"}


def test_over_rest_a_wrong_layout_names_each_wrong_field(cluster, bo, api):
    body = {"cluster": cluster.slug, "name": "f", "accelerator_model": "nvidia-gb200"}
    body["layout"] = as_values(template("72-as-9x8")) | {"nodes": -1, "colour": "red"}
    body["layout"]["tiers"][0]["link_bytes_per_s"] = -5
    answer = api(bo).post("/api/v1/domains/", body, format="json")
    assert answer.status_code == 400
    assert {error["pointer"] for error in answer.json()["errors"]} >= {"/nodes", "/colour"}


def test_negative_bandwidth_is_refused(cluster, bo, api):
    body = {"cluster": cluster.slug, "name": "f", "accelerator_model": "nvidia-gb200"}
    body["layout"] = as_values(template("72-as-9x8"))
    body["layout"]["tiers"][0]["link_bytes_per_s"] = -5
    answer = api(bo).post("/api/v1/domains/", body, format="json")
    assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (400, "/tiers/0/link_bytes_per_s")


@pytest.mark.parametrize(("said", "status"), [("dry_run=1", 200), ("dry_run=yes", 400), ("dryrun=true", 400)])
def test_nothing_is_built_where_a_dry_run_was_meant(said, status, cluster, bo, api):
    body = {
        "cluster": cluster.slug,
        "name": "sn9",
        "template": "72-as-9x8",
        "accelerator_model": "nvidia-gb200",
    }
    answer = api(bo).post(f"/api/v1/domains/?{said}", body, format="json")
    assert (answer.status_code, Domain.objects.count()) == (status, 0)


@pytest.mark.parametrize("dry_run", ["true", "false"])
def test_an_accelerator_that_the_catalogue_does_not_have_is_refused_with_those_that_are_like_it(
    dry_run, cluster, bo, api
):
    body = {"cluster": cluster.slug, "name": "f", "accelerator_model": "ascend-910c", "template": "8-mesh"}
    answer = api(bo).post(f"/api/v1/domains/?dry_run={dry_run}", body, format="json")
    (error,) = answer.json()["errors"]
    assert (answer.status_code, error["pointer"]) == (400, "/accelerator_model")
    assert "huawei-ascend-910c" in error["message"]


def test_what_was_built_is_described_as_the_layout_says(cluster, build):
    domain = build("144-as-4x36")
    fleet = description_of(cluster, domain=domain, fabric=True)
    spans = {node.name: tuple(span.cards for span in node.spans) for node in fleet.nodes}
    assert (len(fleet.nodes), len(fleet.switches), len(fleet.links)) == (18, 90, 3888)
    assert (spans["sn-n04"], spans["sn-n05"]) == ((8,), (4, 4))


def test_schedulers_are_told_of_switches_above_nodes_only(cluster, build):
    build()
    spine = Switch.objects.create(cluster=cluster, name="spine", tier=2)
    leaf = Switch.objects.create(cluster=cluster, name="leaf", tier=1)
    Link.objects.create(upper=spine, lower=leaf, unidirectional_bytes_per_s=5e10)
    Link.objects.create(upper=leaf, node=Node.objects.get(name="sn-n01"), unidirectional_bytes_per_s=5e10)
    switches = {one.name: (one.switches, one.nodes) for one in description_of(cluster).switches}
    assert switches == {"spine": (("leaf",), ()), "leaf": ((), ("sn-n01",))}


def test_domains_are_seen_within_ones_clusters(cluster, build, eve, actor_for):
    build("8-mesh")
    assert not queries.domains_visible(actor_for(eve)).exists()


FREE = {"name": "own", "accelerator_model": "nvidia-gb200", "first_node": "1", "shape": "two_layer"}
FREE |= {"nodes": "16", "accelerators_per_node": "8", "sub_domains": "4", "switches": "8", "links": "1"}
FREE |= {"link_gb_per_s": "50", "medium": "copper", "upper_switches": "4", "upper_links": "2"}
FREE |= {"upper_link_gb_per_s": "100", "upper_medium": "optical"}


def test_a_layout_of_ones_own_is_built_on_the_page(cluster, bo, client_of):
    page = f"/clusters/{cluster.slug}/build-free-domain/"
    preview = client_of(bo).get(page, FREE).context["preview"]
    assert [tier.ratio for tier in preview.fabric.metrics.tiers] == [2.0]
    client_of(bo).post(page, FREE)
    domain = Domain.objects.get()
    assert (domain.layout, domain.sub_domains.count(), domain.unidirectional_bytes_per_s) == (
        "free",
        4,
        400e9,
    )


@pytest.mark.parametrize(
    ("wrong", "text"),
    [
        ({"shape": "torus", "sides": "3×5"}, b"sides"),
        ({"sub_domains": "5"}, b"equal sub-domains"),
        ({"link_gb_per_s": "-1"}, b"greater than or equal"),
    ],
)
def test_a_layout_that_cannot_be_says_why(wrong, text, cluster, bo, client_of):
    answer = client_of(bo).post(f"/clusters/{cluster.slug}/build-free-domain/", FREE | wrong)
    assert text in answer.content
    assert Domain.objects.count() == 0


H100 = {"layout": "72-as-9x8", "name": "h", "accelerator_model": "nvidia-h100-sxm5-80gb", "first_node": "1"}


def test_a_ready_layout_is_drawn_at_the_bandwidth_of_the_card(cluster, bo, client_of):
    page = f"/clusters/{cluster.slug}/build-domain/"
    looked = client_of(bo).post(page, H100 | {"look": "1"})
    preview = looked.context["preview"]
    assert (preview.layout.unidirectional_bytes_per_s, Domain.objects.count()) == (450e9, 0)
    assert [str(doubt) for doubt in preview.doubts] == [
        "H100 SXM5 80GB ships in scale-up domains of up to 8 cards; one of 72 is hypothetical"
    ]
    assert b"one of 72 is hypothetical" in looked.content
    client_of(bo).post(page, H100)
    assert Domain.objects.get().unidirectional_bytes_per_s == 450e9


def test_over_rest_a_template_is_drawn_at_the_bandwidth_of_the_card(cluster, bo, api):
    body = {"cluster": cluster.slug, "name": "h", "accelerator_model": "nvidia-h100-sxm5-80gb"}
    body["template"] = "72-as-18x4"
    tried = api(factories.bearer(bo, "read", "fleet:write")).post(
        "/api/v1/domains/?dry_run=true", body, format="json"
    )
    assert (tried.json()["unidirectional_bytes_per_s"], len(tried.json()["doubts"])) == (450e9, 1)


@pytest.mark.parametrize(
    ("typed", "one_way", "doubts"), [("", 900e9, 1), ("112.5", 900e9, 1), ("225", 1800e9, 2)]
)
def test_a_link_without_a_speed_has_the_cards_and_one_too_fast_is_doubted(
    typed, one_way, doubts, cluster, bo, client_of
):
    page = f"/clusters/{cluster.slug}/build-free-domain/"
    preview = client_of(bo).get(page, FREE | {"link_gb_per_s": typed}).context["preview"]
    assert (preview.layout.unidirectional_bytes_per_s, len(preview.doubts)) == (one_way, doubts)


def test_a_card_without_a_known_bandwidth_asks_for_the_speed(cluster, bo, client_of):
    model = next(
        one.id for one in accelerators_for(None).values() if not one.scale_up.unidirectional_bytes_per_s
    )
    page = f"/clusters/{cluster.slug}/build-free-domain/"
    answer = client_of(bo).post(page, FREE | {"link_gb_per_s": "", "accelerator_model": model})
    assert b"has no scale-up bandwidth" in answer.content
