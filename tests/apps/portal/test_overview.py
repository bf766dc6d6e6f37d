"""The overview, the page of a cluster and search show what their reader may see, in a constant number of queries."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest
from django.urls import reverse

from apps.changes import services as changes
from apps.changes.models import Change
from apps.changes.services.drafting import Content
from apps.core import clock
from apps.core.actor import Actor
from apps.core.verdicts import Verdict
from apps.environments.models import DriftFinding
from apps.fleet import services as fleet
from apps.fleet.models import Domain, HoldKind, Node
from apps.health.models import FaultRecord
from apps.launches import services as launches
from apps.launches.models import Evaluation, SignOff
from apps.portal.queries import decided, fleet_figures, needs_me, search
from apps.portal.queries.cluster_summary import domain_summaries
from tests import factories
from tests.apps.environments.support import check_drift


@pytest.fixture
def domain(cluster: Any) -> Any:
    domain = factories.domain(cluster)
    for place in range(3):
        factories.node(cluster, f"sn-n{place}", domain=domain, accelerators=2)
    return domain


@pytest.fixture
def drifting(cluster: Any) -> Any:
    """Four nodes in service under a locked matrix, one of which reports two other versions."""
    domain = factories.reported_domain(cluster, 4, sub_domains=1)
    factories.locked_matrix(domain)
    node = Node.objects.get(domain=domain, name="sn-03")
    factories.report(node, gpu_driver="535.161.08", nccl="2.18.1")
    check_drift(domain)
    return domain


def _submitted(actor: Actor, domain: Domain) -> Change:
    content = Content(
        title="NCCL 2.22.3",
        reason="a fix",
        wishes=(changes.Wish(component="nccl", values=("2.22.3",)),),
    )
    change = changes.draft_change(actor=actor, domain_id=domain.pk, kind="nccl", content=content)
    return changes.submit_change(actor=actor, change_id=change.pk, expected_version=change.version)


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

    assert (figures.nodes, figures.nodes_in_service, figures.nodes_unwell) == (3, 3, 0)
    assert figures.findings == figures.launches_open == figures.changes_waiting == 0


def test_a_node_whose_drift_fails_is_in_service_and_not_fit(
    bo: Any, drifting: Any, actor_for: Any, client_of: Any
) -> None:
    figures = fleet_figures.fleet_figures(actor_for(bo))
    assert (figures.nodes_in_service, figures.nodes_drifting, figures.findings_failing) == (4, 1, 2)

    overview = client_of(bo).get(reverse("portal:overview")).content.decode()
    assert "1 node is not fit: its drift fails" in overview
    cluster = client_of(bo).get(reverse("portal:cluster", args=[drifting.cluster.slug])).content.decode()
    for page in (overview, cluster):
        assert "not fit" in page
        assert "drift fails, the all-reduce is not known" in page
    clusters = client_of(bo).get(reverse("fleet:clusters")).content.decode()
    assert "1 domain not fit" in clusters
    assert "no node faulty or in quarantine" not in clusters


@pytest.mark.parametrize(
    ("held", "verdict", "cause"),
    [
        ({"health": "faulty"}, Verdict.FAIL, "nodes are faulty or in quarantine"),
        ({"health": "sub_healthy"}, Verdict.UNKNOWN, "nodes are sub-healthy or in maintenance"),
        ({"life_cycle": "repair"}, Verdict.UNKNOWN, "nodes are sub-healthy or in maintenance"),
        ({}, Verdict.UNKNOWN, ""),
    ],
)
def test_a_domain_with_an_unwell_node_is_not_fit(
    held: dict[str, str], verdict: Verdict, cause: str, domain: Any, client_of: Any, vic: Any
) -> None:
    Node.objects.filter(pk=Node.objects.filter(domain=domain).first().pk).update(**held)
    (summary,) = domain_summaries([domain.cluster])[domain.cluster_id]
    assert summary.verdict is verdict  # what is not known hides a warning, and not a failure
    assert cause in ", ".join(map(str, summary.causes))
    assert (verdict is Verdict.FAIL) == (
        summary.causes[0] == "nodes are faulty or in quarantine"
    )  # worst first
    page = client_of(vic).get(reverse("portal:cluster", args=[domain.cluster.slug])).content.decode()
    assert cause in page


def test_a_domain_of_which_nothing_is_known_is_not_said_to_be_without_trouble(
    bo: Any, domain: Any, client_of: Any
) -> None:
    page = client_of(bo).get(reverse("fleet:clusters")).content.decode()

    assert "1 domain not known" in page
    assert "no node faulty or in quarantine" not in page


def test_failing_drift_waits_for_who_operates_there_until_somebody_else_owns_it(
    bo: Any, vic: Any, eve: Any, ada: Any, drifting: Any, actor_for: Any
) -> None:
    (item,) = needs_me.waiting_for(actor_for(bo))
    assert (item.title, item.place, item.state) == ("2 failing findings on 1 node", "sn", "fail")
    assert item.url == reverse("environments:drift", args=[drifting.pk])
    assert needs_me.waiting_for(actor_for(vic)) == needs_me.waiting_for(actor_for(eve)) == []

    DriftFinding.objects.update(owner=ada)
    assert needs_me.waiting_for(actor_for(bo)) == []


def lost_gpu(node: Node, *, since: datetime) -> None:
    """A node whose log says that it lost a GPU, which makes it faulty."""
    FaultRecord.objects.create(
        node=node,
        kind="xid",
        code=79,
        severity="critical",
        action="RESTART_BM",
        action_class="reboot",
        cordon=True,
        text="GPU has fallen off the bus",
        line=1,
        first_seen_at=since,
        last_seen_at=clock.now(),
        sha256="c" * 64,
    )
    Node.objects.filter(pk=node.pk).update(health="faulty")


def test_a_node_for_quarantine_waits_for_an_operator_until_it_is_held(
    bo: Any, vic: Any, domain: Any, actor_for: Any
) -> None:
    node = Node.objects.get(name="sn-n1")
    began = clock.now() - timedelta(hours=2)
    lost_gpu(node, since=began)

    (item,) = needs_me.waiting_for(actor_for(bo))
    assert (item.title, item.since, item.state) == ("sn-n1", began, "faulty")
    assert item.url == f"{reverse('health:overview')}?cluster={domain.cluster.slug}"
    assert needs_me.waiting_for(actor_for(vic)) == []

    fleet.hold_node(actor=actor_for(bo), node_id=node.pk, kind=HoldKind.QUARANTINE, reason="Xid 79")
    assert needs_me.waiting_for(actor_for(bo)) == []


def test_many_nodes_for_quarantine_are_counted_instead_of_listed(
    bo: Any, domain: Any, actor_for: Any
) -> None:
    for place in range(0, 90, 3):
        node = factories.node(domain.cluster, f"spread-{place:03}", domain=domain)
        lost_gpu(node, since=clock.now())

    (item,) = needs_me.waiting_for(actor_for(bo))
    assert item.title == "30 nodes"


def test_only_what_was_decided_stands_among_the_decisions(
    bo: Any, chen: Any, domain: Any, actor_for: Any
) -> None:
    change = _submitted(actor_for(bo), domain)
    assert decided.latest_decisions(actor_for(bo)) == []

    changes.approve_change(actor=actor_for(chen), change_id=change.pk, expected_version=change.version)
    (one,) = decided.latest_decisions(actor_for(bo))
    assert (one.title, one.state, one.who, one.is_past) == (str(change), "approved", chen.name, False)

    type(change).objects.filter(pk=change.pk).update(content_digest="0" * 64)
    assert [one.is_past for one in decided.latest_decisions(actor_for(bo))] == [True]


def test_a_signature_says_that_it_is_one_and_when_a_newer_evaluation_has_replaced_its_own(
    bo: Any, sun: Any, eve: Any, domain: Any, actor_for: Any, client_of: Any
) -> None:
    launch = launches.open_launch(actor=actor_for(bo), domain_id=domain.pk, title="fresh 70B run")
    earlier, later = (
        Evaluation.objects.create(launch=launch, requested_at=at, done_at=at, digest="0" * 64)
        for at in (clock.now() - timedelta(minutes=10), clock.now() - timedelta(minutes=5))
    )
    for evaluation in (earlier, later):
        SignOff.objects.create(
            evaluation=evaluation, person=sun, evaluation_digest="0" * 64, go=True, at=clock.now()
        )

    found = decided.latest_decisions(actor_for(bo))
    assert [(one.url, one.is_past) for one in found] == [
        (reverse("launches:evaluation", args=[later.pk]), False),
        (reverse("launches:evaluation", args=[earlier.pk]), True),
    ]
    page = client_of(bo).get(reverse("portal:overview")).content.decode()
    assert page.count("signed GO") == 2
    assert page.count("has been replaced since") == 1
    assert decided.latest_decisions(actor_for(eve)) == []


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
    _submitted(actor_for(bo), domain)

    assert needs_me.waiting_for(actor_for(bo)) == []
    assert [item.place for item in needs_me.waiting_for(actor_for(chen))] == [domain.name]


def test_search_finds_by_name_and_only_what_may_be_seen(
    bo: Any, eve: Any, domain: Any, actor_for: Any
) -> None:
    assert {hit.label for hit in search.search(actor_for(bo), "sn-n")} == {"sn-n0", "sn-n1", "sn-n2"}
    assert search.search(actor_for(eve), "sn-n") == []
    assert search.search(actor_for(bo), "s") == []


def test_a_hit_says_what_it_is_where_it_belongs_and_how_it_stands(
    bo: Any, domain: Any, actor_for: Any, client_of: Any
) -> None:
    places = {hit.label: hit.told for hit in search.search(actor_for(bo), "sn-n")}
    assert places["sn-n0"] == f"node · {domain.cluster.name} · {domain.name} · in service"
    page = client_of(bo).get(reverse("portal:search"), {"q": "sn-n0"}).content.decode()
    assert f'<td data-label="Where">{domain.cluster.name} · {domain.name}</td>' in page
    found = client_of(bo).get(reverse("portal:palette"), {"q": "sn-n0"}).json()["results"]
    assert [one["kind"] for one in found] == [places["sn-n0"]]


def test_search_finds_who_runs_who_asks_for_and_who_changes_a_version(
    drifting: Any, bo: Any, eve: Any, actor_for: Any
) -> None:
    change = _submitted(actor_for(bo), drifting)
    found = {
        (str(hit.kind), hit.label): (str(hit.note), hit.url) for hit in search.search(actor_for(bo), "2.20.5")
    }

    number, holders = found["version", "NCCL 2.20.5"]
    assert number == "3 nodes"
    assert holders == reverse("environments:holders", args=["nccl"]) + "?value=2.20.5&cluster=hall-1"
    assert found["matrix", "sn environment v1"][0] == "NCCL 2.20.5"
    assert ("change", str(change)) in found
    assert search.search(actor_for(eve), "2.20.5") == []


@pytest.mark.parametrize(
    "text, found", [("nccl 2.20", True), ("NCCL 2.20.5", True), ("GPU driver 2.20.5", False)]
)
def test_a_version_is_found_with_the_name_of_its_component_before_it(
    drifting: Any, bo: Any, actor_for: Any, text: str, found: bool
) -> None:
    change = _submitted(actor_for(bo), drifting)
    kinds = {(str(hit.kind), hit.label) for hit in search.search(actor_for(bo), text)}
    wanted = {("version", "NCCL 2.20.5"), ("matrix", "sn environment v1"), ("change", str(change))}
    assert kinds & wanted == (wanted if found else set())


def test_a_model_is_found_by_a_word_within_its_name(domain: Any, bo: Any, actor_for: Any) -> None:
    factories.report(domain.nodes.first(), gpu_model="NVIDIA H100 80GB HBM3")
    assert "GPU model NVIDIA H100 80GB HBM3" in {hit.label for hit in search.search(actor_for(bo), "H100")}


def test_a_search_for_a_version_needs_as_many_queries_for_many_nodes(
    drifting: Any, bo: Any, actor_for: Any, assert_constant_queries: Any
) -> None:
    def grow() -> None:
        for place in range(8):
            node = factories.node(drifting.cluster, f"more-{place}", domain=drifting)
            factories.report(node, gpu_driver="570.86.15", nccl=f"2.20.5{place}")

    assert_constant_queries(lambda: search.search(actor_for(bo), "2.20"), grow)


def test_search_takes_any_text(bo: Any, domain: Any, client_of: Any) -> None:
    for text in ("%", "_%_", "#99999999999999999999", "'; drop", "节点"):
        assert client_of(bo).get(reverse("portal:search"), {"q": text}).status_code == 200, text


def test_only_the_entry_of_the_page_is_marked_as_current(bo: Any, domain: Any, client_of: Any) -> None:
    for view in ("portal:overview", "launches:launches"):
        page = client_of(bo).get(reverse(view)).content.decode()
        assert page.count('aria-current="page"') == 1, view


def test_many_domains_begin_with_what_they_come_to_and_are_paged(
    cluster: Any, vic: Any, client_of: Any
) -> None:
    for place in range(30):
        factories.node(cluster, f"n-{place}", domain=factories.domain(cluster, f"d-{place:02}"))
    address = reverse("portal:cluster", args=[cluster.slug])
    answer = client_of(vic).get(address, {"per_page": 25, "page": 2})
    totals = answer.context["totals"]
    assert (totals.domains, totals.fit, totals.not_fit, totals.nodes) == (30, 0, 0, 30)
    page = answer.content.decode()
    assert "Domains fit to train" in page
    assert ("d-29" in page, "d-00" in page) == (True, False)


@pytest.mark.parametrize("text", ["xid 79", "fallen off", "掉卡"])
def test_search_finds_a_symptom_by_its_code_and_its_words(vic: Any, actor_for: Any, text: str) -> None:
    found = {hit.url: hit.kind for hit in search.search(actor_for(vic), text)}

    assert found[reverse("health:item", args=["gpu-lost"])] == "symptom"


def test_nodes_in_no_domain_are_told_with_the_way_to_their_list(
    cluster: Any, vic: Any, client_of: Any, assert_constant_queries: Any
) -> None:
    client, address = client_of(vic), reverse("portal:cluster", args=[cluster.slug])
    factories.node(cluster, "housed", domain=factories.domain(cluster))
    factories.node(cluster, "gone", life_cycle="retired")
    assert "in no domain" not in client.get(address).content.decode()
    factories.node(cluster, "loose")

    def grow() -> None:
        factories.node(cluster, "loose-too")

    assert_constant_queries(lambda: client.get(address), grow)
    assert "2 nodes are in no domain" in client.get(address).content.decode()
    nodes = reverse("fleet:nodes", args=[cluster.slug])
    assert f"{nodes}?domain=-" in client.get(address).content.decode()
    table = client.get(f"{nodes}?domain=-").context["table"]
    assert [row.record.name for row in table.page.object_list] == ["loose", "loose-too"]
