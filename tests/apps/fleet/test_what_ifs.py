"""Allocation what-ifs as jobs, and work over mixed generations."""

from __future__ import annotations

import pytest

from apps.catalogue import services as catalogue
from apps.catalogue.engine.overlays import Confidence, Kind
from apps.core import clock
from apps.fleet.models import Accelerator, Hold, HoldKind
from apps.fleet.queries.pools import busy_cards
from tests import factories

pytestmark = pytest.mark.django_db
MIX = {"jobs": [{"name": "small", "cards": 8, "count": 8, "duration_s": 3600}], "block_cards": 64, "seed": 3}


@pytest.fixture
def domains(cluster) -> None:
    """Two domains of 64 accelerators."""
    for name in ("a", "b"):
        home = factories.domain(cluster, name)
        for place in range(8):
            factories.node(cluster, f"{name}{place}", domain=home, accelerators=8)


def test_what_is_held_takes_no_jobs(cluster, domains):
    node = cluster.nodes.first()
    Hold.objects.create(node=node, kind=HoldKind.TRAINING, reason="x", by_label="x", since=clock.now())
    cluster.nodes.filter(name="b1").update(life_cycle="spare")
    assert busy_cards(cluster) == {node.name: 8, "b1": 8}


def test_a_worker_plays_the_mix_and_names_what_is_stranded(cluster, domains, vic, api, run_jobs):
    asked = api(vic).post(f"/api/v1/clusters/{cluster.slug}/allocation-what-ifs/", MIX, format="json")
    assert asked.status_code == 202
    run_jobs()
    result = api(vic).get(asked["Location"]).json()["result"]
    by_policy = {one["policy"]: one for one in result["results"]}
    assert (result["cards"], result["busy_cards"]) == (128, 0)
    assert set(by_policy) == {"per_card", "gang", "topology_aware", "whole_domain"}
    assert by_policy["topology_aware"]["stranded_cards"] == 0
    cut_up = by_policy["whole_domain"]["stranded"]
    assert [(one["domain"], one["cards"]) for one in cut_up] == [("a", 56), ("b", 56)]


def test_the_same_seed_plays_the_same(cluster, domains, vic, api, run_jobs):
    address = f"/api/v1/clusters/{cluster.slug}/allocation-what-ifs/"
    results = []
    for _round in range(2):
        asked = api(vic).post(address, MIX, format="json")
        run_jobs()
        results.append(api(vic).get(asked["Location"]).json()["result"])
    assert results[0] == results[1]


def test_a_mix_that_cannot_be_played_makes_no_job(cluster, domains, vic, api):
    body = {"jobs": [{"name": "x", "cards": 0, "count": 1, "duration_s": 1}]}
    answer = api(vic).post(f"/api/v1/clusters/{cluster.slug}/allocation-what-ifs/", body, format="json")
    assert answer.status_code == 400


def test_the_page_asks_plays_and_plots(cluster, domains, vic, client_of, run_jobs):
    client, page = client_of(vic), f"/clusters/{cluster.slug}/what-ifs/"
    body = {"seed": "1", "policies": ["gang", "topology_aware"], "block_cards": "64"}
    body |= {"mix-TOTAL_FORMS": "1", "mix-INITIAL_FORMS": "0", "mix-0-name": "x", "mix-0-cards": "8"}
    body |= {"mix-0-count": "4", "mix-0-duration_h": "2", "mix-0-mean_gap_h": ""}
    sent = client.post(page, body)
    assert b"queued" in client.get(sent.url).content
    run_jobs()
    content = client.get(sent.url).content
    assert content.count(b"data-chart=") == 3
    assert client.get(sent.url, headers={"HX-Request": "true"}).status_code == 286


def test_an_incomplete_row_of_the_mix_is_told_at_its_field(cluster, domains, vic, client_of):
    body = {"seed": "1", "policies": ["gang"], "mix-TOTAL_FORMS": "1", "mix-INITIAL_FORMS": "0"}
    answer = client_of(vic).post(f"/clusters/{cluster.slug}/what-ifs/", body | {"mix-0-cards": "8"})
    assert answer.status_code == 200
    assert b"This is needed." in answer.content


def test_a_what_if_of_another_cluster_is_missing(cluster, other_cluster, domains, ada, vic, api, client_of):
    asked = api(vic).post(f"/api/v1/clusters/{cluster.slug}/allocation-what-ifs/", MIX, format="json").json()
    answer = client_of(ada).get(f"/clusters/{other_cluster.slug}/what-ifs/{asked['id']}/")
    assert answer.status_code == 404


def test_work_is_divided_by_what_the_catalogue_or_a_measurement_says(
    cluster, domains, ada, vic, api, actor_for
):
    Accelerator.objects.filter(node__domain__name="a").update(model="new")
    Accelerator.objects.filter(node__domain__name="b").update(model="old")
    address = f"/api/v1/clusters/{cluster.slug}/mixed-split/"
    unknown = api(vic).post(address, {"units": 300}, format="json")
    assert (unknown.status_code, unknown.json()["code"]) == (400, "no_compute")
    catalogue.set_figure(
        actor=actor_for(ada),
        scope_id=cluster.scope_id,
        kind=Kind.ACCELERATOR,
        entry="old",
        path="dense_tflops.bf16",
        value=500,
        source="our own run",
        confidence=Confidence.MEASURED,
    )
    answer = api(vic).post(address, {"units": 300, "measured_flops": {"new": 1e15}}, format="json").json()
    units = {one["model"]: one["units"] for one in answer["proportional"]["shares"]}
    assert (units, answer["mixed_sources"]) == ({"new": 200, "old": 100}, True)
    assert answer["equal"]["loss_share"] == pytest.approx(1 / 3)
    assert {(one["domain"], one["model"]) for one in answer["groups"]} == {("a", "new"), ("b", "old")}
    misspelt = api(vic).post(address, {"units": 300, "measured_flops": {"nwe": 1e15}}, format="json").json()
    assert (misspelt["code"], misspelt["errors"][0]["pointer"]) == ("unknown_model", "/measured_flops/nwe")


def test_the_page_of_mixed_generations_divides(cluster, domains, vic, client_of):
    Accelerator.objects.update(model="nvidia-gb200")
    answer = client_of(vic).get(f"/clusters/{cluster.slug}/mixed/?units=16")
    assert answer.context["plan"].proportional.loss_share == 0
