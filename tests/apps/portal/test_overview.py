"""The overview, the page of a cluster and search show what their reader may see, in a constant number of queries."""

from __future__ import annotations

from typing import Any

import pytest
from django.urls import reverse

from apps.changes import services as changes
from apps.changes.services.drafting import Content
from apps.portal.queries import fleet_figures, needs_me, search
from tests import factories


@pytest.fixture
def domain(cluster: Any) -> Any:
    domain = factories.domain(cluster)
    for place in range(3):
        factories.node(cluster, f"sn-n{place}", domain=domain, accelerators=2)
    return domain


def test_the_overview_of_an_operator_shows_the_cluster(bo: Any, domain: Any, client_of: Any) -> None:
    page = client_of(bo).get(reverse("portal:overview"))

    assert page.status_code == 200
    assert domain.cluster.name in page.content.decode()
    assert domain.name in page.content.decode()


def test_who_sees_another_cluster_only_sees_nothing_of_this_one(
    eve: Any, domain: Any, client_of: Any
) -> None:
    overview = client_of(eve).get(reverse("portal:overview")).content.decode()
    cluster = client_of(eve).get(reverse("portal:cluster", args=[domain.cluster.slug]))

    assert domain.cluster.name not in overview
    assert cluster.status_code == 404


def test_somebody_who_is_not_signed_in_is_asked_to(domain: Any, client_of: Any) -> None:
    page = client_of(None).get(reverse("portal:overview"))

    assert page.status_code == 302
    assert page["Location"].startswith(reverse("accounts:sign_in"))


def test_the_page_of_a_cluster_says_unknown_where_nothing_was_checked(
    vic: Any, domain: Any, client_of: Any
) -> None:
    page = client_of(vic).get(reverse("portal:cluster", args=[domain.cluster.slug])).content.decode()

    assert "not checked yet" in page
    assert "not measured" in page


def test_figures_count_what_is_there(bo: Any, domain: Any, actor_for: Any) -> None:
    figures = fleet_figures.fleet_figures(actor_for(bo))

    assert (figures.nodes, figures.nodes_ready, figures.nodes_unwell) == (3, 3, 0)
    assert figures.findings == figures.launches_open == figures.changes_waiting == 0


def test_more_nodes_cost_the_overview_no_more_queries(
    bo: Any, domain: Any, client_of: Any, assert_constant_queries: Any
) -> None:
    client = client_of(bo)

    def grow() -> None:
        for place in range(30):
            factories.node(domain.cluster, f"more-{place}", domain=domain)

    assert_constant_queries(lambda: client.get(reverse("portal:overview")), grow)


def test_more_domains_cost_the_overview_no_more_queries(
    bo: Any, domain: Any, client_of: Any, assert_constant_queries: Any
) -> None:
    client = client_of(bo)

    def grow() -> None:
        for place in range(12):
            more = factories.domain(domain.cluster)
            factories.node(domain.cluster, f"d{place}-n0", domain=more, accelerators=1)

    assert_constant_queries(lambda: client.get(reverse("portal:overview")), grow)


def test_nothing_waits_for_the_one_who_asked(bo: Any, chen: Any, domain: Any, actor_for: Any) -> None:
    actor = actor_for(bo)
    change = changes.draft_change(
        actor=actor,
        domain_id=domain.pk,
        kind="nccl",
        content=Content(
            title="NCCL 2.22.3",
            reason="a fix",
            wishes=(changes.Wish(component="nccl", values=("2.22.3",)),),
        ),
    )
    changes.submit_change(actor=actor, change_id=change.pk, expected_version=change.version)

    assert needs_me.waiting_for(actor_for(bo)) == []
    assert [item.place for item in needs_me.waiting_for(actor_for(chen))] == [domain.name]


def test_search_finds_by_name_and_only_what_may_be_seen(
    bo: Any, eve: Any, domain: Any, actor_for: Any
) -> None:
    assert {hit.label for hit in search.search(actor_for(bo), "sn-n")} == {"sn-n0", "sn-n1", "sn-n2"}
    assert search.search(actor_for(eve), "sn-n") == []
    assert search.search(actor_for(bo), "s") == []


def test_search_takes_any_text(bo: Any, domain: Any, client_of: Any) -> None:
    for text in ("%", "_%_", "#99999999999999999999", "'; drop", "节点"):
        assert client_of(bo).get(reverse("portal:search"), {"q": text}).status_code == 200, text


def test_only_the_entry_of_the_page_is_marked_as_current(bo: Any, domain: Any, client_of: Any) -> None:
    for view in ("portal:overview", "launches:launches"):
        page = client_of(bo).get(reverse(view)).content.decode()
        assert page.count('aria-current="page"') == 1, view
