"""Clusters: made, edited with the version seen, listed as far as one may see."""

from __future__ import annotations

import pytest

from apps.audit.models import AuditEvent
from apps.core.errors import Conflict, Invalid, Missing, NotAllowed, Stale
from apps.fleet import queries, services
from apps.fleet.models import Hold, HoldKind
from tests import factories

pytestmark = pytest.mark.django_db


def test_a_new_cluster_stands_on_a_scope_of_its_own(ada, actor_for):
    made = services.create_cluster(actor=actor_for(ada), name="Train A")
    assert (made.slug, made.scope.slug) == ("train-a", "train-a")
    assert AuditEvent.objects.filter(action="cluster.created").count() == 1


def test_a_name_that_gives_no_slug_gets_a_numbered_one(ada, actor_for, client_of):
    assert services.create_cluster(actor=actor_for(ada), name="训练").slug == "cluster-1"
    answer = client_of(ada).post("/create-cluster/", {"name": "推理", "slug": ""})
    assert answer.url == "/clusters/cluster-2/build-domain/"


@pytest.mark.parametrize(("name", "slug"), [("训练", "Train A"), (" ", "")])
def test_a_wrong_slug_or_no_name_is_refused_at_the_slug(name, slug, ada, actor_for):
    with pytest.raises(Invalid) as refused:
        services.create_cluster(actor=actor_for(ada), name=name, slug=slug)
    assert [error.pointer for error in refused.value.errors] == ["/slug"]


def test_a_slug_is_taken_once(cluster, ada, actor_for):
    with pytest.raises(Conflict) as refused:
        services.create_cluster(actor=actor_for(ada), name="x", slug=cluster.slug)
    assert refused.value.code == "slug_taken"
    assert [error.pointer for error in refused.value.errors] == ["/slug"]


def test_an_operator_of_one_cluster_makes_no_other(bo, actor_for):
    with pytest.raises(NotAllowed):
        services.create_cluster(actor=actor_for(bo), name="Train B")


def test_a_second_editor_is_told_that_the_cluster_changed(cluster, bo, actor_for):
    values = {"cluster_id": cluster.pk, "description": "", "owner_team": "Infra"}
    services.edit_cluster(actor=actor_for(bo), expected_version=1, name="One", **values)
    with pytest.raises(Stale):
        services.edit_cluster(actor=actor_for(bo), expected_version=1, name="Two", **values)


def test_somebody_of_another_cluster_does_not_learn_that_this_one_exists(cluster, eve, actor_for):
    with pytest.raises(Missing):
        queries.cluster_for(actor_for(eve), cluster.slug)


def test_the_list_counts_what_a_cluster_is_made_of(cluster, other_cluster, vic, actor_for):
    domain = factories.domain(cluster)
    first = factories.node(cluster, domain=domain, accelerators=8)
    factories.node(cluster, domain=domain, accelerators=4)
    factories.node(cluster, domain=domain, accelerators=8, life_cycle="retired")
    factories.node(other_cluster, accelerators=8)
    Hold.objects.create(
        node=first, kind=HoldKind.QUARANTINE, reason="x", by_label="x", since="2026-01-01T00:00Z"
    )
    row = queries.cluster_rows(actor_for(vic)).get()
    assert (row.domain_count, row.node_count, row.accelerator_count, row.quarantined) == (1, 2, 12, 1)


def test_the_list_needs_as_many_queries_for_many_clusters(ada, client_of, assert_constant_queries):
    client = client_of(ada)

    def grow() -> None:
        for _number in range(20):
            factories.node(factories.cluster(), accelerators=1)

    factories.node(factories.cluster(), accelerators=1)
    assert_constant_queries(lambda: client.get("/clusters/"), grow)


def test_the_page_makes_a_cluster_and_goes_on_to_its_first_domain(ada, client_of):
    answer = client_of(ada).post("/create-cluster/", {"name": "Train A"})
    assert answer.url == "/clusters/train-a/build-domain/"


def test_the_page_shows_what_is_wrong_at_the_field(cluster, ada, client_of):
    answer = client_of(ada).post("/create-cluster/", {"name": "x", "slug": cluster.slug})
    assert b"there is a cluster" in answer.content
