"""Pages of changes: what they show, what they say, and how many queries they need."""

from __future__ import annotations

import json
from datetime import timedelta
from uuid import uuid4

import pytest
from django.urls import reverse

from apps.accounts.models import Person
from apps.changes import services
from apps.changes.models import Change
from apps.core import clock
from apps.environments.models import DriftFinding
from apps.fleet import services as fleet
from apps.fleet.models import Hold, HoldKind, Node
from apps.portal.queries import needs_me
from tests import factories
from tests.apps.changes.conftest import NEW, OLD
from tests.callers import actor_for


def filled(**said) -> dict[str, str]:
    """A form that was filled in."""
    values = {
        "kind": "nccl",
        "title": "New NCCL",
        "reason": "hangs are fixed",
        "nodes": "sn-[01-02]",
        "back_out": "",
        "soak_first": "15",
        "soak_second": "60",
        "approvals_needed": "1",
        "items-TOTAL_FORMS": "2",
        "items-INITIAL_FORMS": "0",
        "items-0-component": "nccl",
        "items-0-version": f"{NEW} | 2.27.5",
        "items-1-component": "",
        "items-1-version": "",
    }
    return values | said


def test_a_new_change_is_of_no_kind_until_somebody_says_which(bo, domain, client_of):
    page = client_of(bo).get(f"/changes/new/?domain={domain.pk}").content.decode()
    assert '<option value="" selected>choose one</option>' in page


def test_a_change_is_asked_for_on_a_page(domain, bo, client_of):
    answer = client_of(bo).post(f"/changes/new/?domain={domain.pk}", filled())
    change = Change.objects.get()
    assert answer.headers["Location"] == f"/changes/{change.pk}/"
    targets = [(one.node.name, one.values) for one in change.targets.order_by("node__name")]
    assert targets == [("sn-01", [NEW, "2.27.5"]), ("sn-02", [NEW, "2.27.5"])]


@pytest.mark.parametrize(
    ("said", "text"),
    [
        ({"items-0-component": "", "items-0-version": ""}, "at least one component"),
        ({"items-1-component": "nccl", "items-1-version": "1"}, "is named twice"),
        ({"items-1-version": "1"}, "name a component and a version"),
        ({"nodes": "sn-[01"}, "sn-[01"),
        ({"nodes": "stranger"}, "stranger"),
        ({"title": ""}, "This field is required"),
    ],
)
def test_what_is_wrong_stands_in_the_form(said, text, domain, bo, client_of):
    answer = client_of(bo).post(f"/changes/new/?domain={domain.pk}", filled(**said))
    assert answer.status_code == 200
    assert text in answer.content.decode()
    assert not Change.objects.exists()


def test_findings_of_drift_fill_the_form_in(domain, nodes, bo, client_of):
    factories.locked_matrix(domain, nccl=OLD)
    now = clock.now()
    DriftFinding.objects.create(
        domain=domain,
        node=nodes[3],
        component="nccl",
        kind="drift",
        outcome="drift",
        reason="other_version",
        verdict="fail",
        intended=OLD,
        reported="2.18.1",
        first_seen_at=now,
        last_seen_at=now,
    )
    page = client_of(bo).get(f"/changes/new/?domain={domain.pk}&node=sn-04&component=nccl")
    assert page.context["form"]["nodes"].value() == "sn-04"
    assert page.context["form"]["kind"].value() == "nccl"
    assert page.context["items"].forms[0]["version"].value() == OLD
    assert "sn environment v1" in page.context["form"]["title"].value()
    every = f"/changes/new/?domain={domain.pk}&component=nccl"
    assert client_of(bo).get(every).context["form"]["nodes"].value() == "sn-04"
    DriftFinding.objects.update(verdict="unknown", outcome="stale")
    assert client_of(bo).get(every).context["form"]["nodes"].value() == ""


def test_suggestions_are_what_nodes_report(domain, nodes, bo, client_of):
    factories.report(nodes[0], nccl="2.18.1")
    page = client_of(bo).get(f"/changes/new/?domain={domain.pk}").content.decode()
    assert f'<option value="{OLD}">NCCL · 5 nodes run it</option>' in page
    assert '<option value="2.18.1">NCCL · 1 node runs it</option>' in page


def test_two_domains_are_asked_for_first(domain, cluster, bo, client_of):
    factories.domain(cluster, "second")
    page = client_of(bo).get("/changes/new/").content.decode()
    assert "second" in page
    assert "items-0-component" not in page


def test_a_requester_is_told_why_they_cannot_approve_and_who_can(submitted, bo, chen, cluster, client_of):
    factories.grant(bo, "approver", scope=cluster.scope)
    page = client_of(bo).get(f"/changes/{submitted().pk}/").content.decode()
    assert "You asked for this change" in page
    assert 'value="approve"' not in page
    assert "Who can approve it: Chen" in page


def test_where_only_the_requester_may_approve_it_says_so_and_leads_an_administrator_to_the_people(
    submitted, bo, ada, cluster, client_of
):
    factories.grant(bo, "approver", scope=cluster.scope)
    address = f"/changes/{submitted().pk}/"
    pages = [client_of(person).get(address).content.decode() for person in (bo, ada)]
    assert all("Only Bo may approve here, but has asked for this change" in page for page in pages)
    assert not any("Nobody here has the role" in page for page in pages)
    assert "An administrator can give somebody the role" in pages[0]
    assert '<a href="/people/">Give somebody the role</a>' in pages[1]


def test_where_nobody_may_approve_or_review_it_says_so(submitted, ada, client_of):
    change = submitted()
    client = client_of(ada)
    assert "Nobody here has the role approver." in client.get(f"/changes/{change.pk}/").content.decode()
    Change.objects.filter(pk=change.pk).update(kind="rollback", state="running")
    page = client.get(f"/changes/{change.pk}/").content.decode()
    assert '<p class="soft">Nobody here has the role approver. <a href="/people/">' in page


def test_who_has_spoken_is_not_named_as_who_can_still_approve(submitted, bo, chen, cluster, client_of):
    change = submitted(approvals_needed=2)
    services.approve_change(actor=actor_for(chen), change_id=change.pk, expected_version=change.version)
    page = client_of(bo).get(f"/changes/{change.pk}/").content.decode()
    assert "Who can approve it" not in page
    assert "Only Chen may approve here, but has asked for this change, edited it or spoken on it." in page


def test_an_editor_before_the_last_one_is_told_why_they_cannot_approve(drafted, bo, chen, cluster, client_of):
    factories.grant(chen, "operator", scope=cluster.scope)
    change = drafted()
    for person, title in ((chen, "Newer NCCL"), (bo, "Newer NCCL.")):
        content = services.Content(
            title=title, reason="fixes", wishes=(services.Wish(component="nccl", values=("2.27.3",)),)
        )
        change = services.edit_change(
            actor=actor_for(person), change_id=change.pk, expected_version=change.version, content=content
        )
    services.submit_change(actor=actor_for(bo), change_id=change.pk, expected_version=change.version)
    page = client_of(chen).get(f"/changes/{change.pk}/").content.decode()
    assert "You edited this change" in page
    assert 'value="approve"' not in page
    assert needs_me.waiting_for(actor_for(chen)) == []


def test_an_approver_sees_exactly_what_is_approved(submitted, chen, client_of):
    change = submitted()
    page = client_of(chen).get(f"/changes/{change.pk}/").content.decode()
    assert change.content_digest in page
    asked = page.partition('id="approve"')[2].partition("</dialog>")[0]
    assert f'<ins class="mono">{NEW}</ins>' in asked and change.content_digest in asked, (
        "it is asked once more"
    )
    assert [page.count('value="approve"'), asked.count('value="approve"')] == [1, 1]


def test_a_refusal_without_a_note_says_so_and_decides_nothing(submitted, chen, client_of):
    change, client = submitted(), client_of(chen)
    body = {"version": change.version, "voice": "refuse", "note": ""}
    page = client.post(f"/changes/{change.pk}/approve/", body, follow=True).content.decode()
    assert "Say in the note why you refuse" in page
    change.refresh_from_db()
    assert change.state == "submitted"


def test_a_shut_gate_says_what_it_waits_for(started, bo, client_of):
    change = started()
    page = client_of(bo).get(f"/changes/{change.pk}/").content.decode()
    assert "1 node does not report its target: sn-01" in page
    assert "Pass the gate" not in page


def test_an_edit_of_an_old_page_shows_three_sides_and_loses_nothing(drafted, bo, chen, cluster, client_of):
    factories.grant(chen, "operator", scope=cluster.scope)
    change = drafted()
    client = client_of(bo)
    opened = client.get(f"/changes/{change.pk}/edit/").context
    services.edit_change(
        actor=actor_for(chen),
        change_id=change.pk,
        expected_version=change.version,
        content=services.Content(
            title="Chen's title",
            reason=change.reason,
            wishes=(services.Wish(component="nccl", values=(NEW,)),),
            soak_s=(0, 0),
        ),
    )
    mine = filled(title="Bo's title", version=opened["version"], seen=opened["seen"], nodes="")
    answer = client.post(f"/changes/{change.pk}/edit/", mine)
    assert answer.status_code == 412
    rows = {row["key"]: row for row in answer.context["conflict"]}
    assert rows["Title"] == {
        "key": "Title",
        "seen": "New NCCL",
        "now": "Chen's title",
        "yours": "Bo's title",
        "both": True,
    }
    assert "Its content was last edited by Chen" in answer.content.decode()
    again = client.post(f"/changes/{change.pk}/edit/", mine | {"version": answer.context["version"]})
    assert again.status_code == 302
    change.refresh_from_db()
    assert (change.title, change.state) == ("Bo's title", "draft")


def test_what_was_seen_may_be_anything_and_breaks_nothing(drafted, bo, client_of):
    change = drafted()
    for seen in ("not json", json.dumps([1]), "{}"):
        body = filled(version=change.version - 1, seen=seen)
        assert client_of(bo).post(f"/changes/{change.pk}/edit/", body).status_code == 412


def test_a_rollback_that_restores_nothing_offers_no_form(started, nodes, bo, client_of):
    change = started()
    client, path = client_of(bo), f"/changes/{change.pk}/rollback/"
    assert "cluster_name" in client.get(path).content.decode()  # it would let the held nodes go
    Hold.objects.update(released_at=clock.now())
    page = client.get(path).content.decode()
    assert "There is nothing to restore" in page
    assert "ran before this change" in page
    assert "cluster_name" not in page
    factories.report(nodes[0], gpu_driver="570.86.15", nccl=NEW)
    assert "cluster_name" in client.get(path).content.decode()
    Change.objects.filter(pk=change.pk).update(state="rolled_back")
    assert client.get(path).headers["Location"] == f"/changes/{change.pk}/"


def test_a_rollback_wants_the_name_of_the_cluster(started, nodes, bo, client_of):
    change, client = started(), client_of(bo)
    factories.report(nodes[0], nccl=NEW)
    body = {"version": change.version, "reason": "first back", "cluster_name": "hall-2"}
    page = client.post(f"/changes/{change.pk}/rollback/", body).content.decode()
    assert "This is not the name of the cluster" in page
    answer = client.post(f"/changes/{change.pk}/rollback/", body | {"cluster_name": change.cluster.name})
    rollback = Change.objects.get(reverses=change)
    assert answer.headers["Location"] == f"/changes/{rollback.pk}/"
    both = client.get(f"/changes/{change.pk}/").content.decode(), client.get(answer.headers["Location"])
    assert f"/changes/{rollback.pk}/" in both[0]
    assert f"/changes/{change.pk}/" in both[1].content.decode()
    client.cookies["language"] = "zh-hans"
    named = f"#{rollback.pk} 撤销 #{change.pk} {change.title}"
    assert all(named in client.get(f"/changes/{one.pk}/").content.decode() for one in (change, rollback))


def test_an_old_password_is_asked_for_before_the_form_is_filled_in(started, bo, client_of):
    change = started()
    client = client_of(bo, authenticated_at=clock.now() - timedelta(hours=1))
    answer = client.get(f"/changes/{change.pk}/rollback/")
    assert answer.status_code == 302
    assert f"next=%2Fchanges%2F{change.pk}%2Frollback%2F" in answer.headers["Location"]


def test_a_snapshot_is_shown_against_what_nodes_report_now(started, nodes, bo, client_of):
    change = started()
    factories.report(nodes[0], gpu_driver="570.86.15", nccl=NEW)
    rows = client_of(bo).get(f"/changes/{change.pk}/snapshot/").context["rows"]
    changed = [row for row in rows if row["kind"] != "same"]
    assert changed == [{"key": "NCCL · sn-01", "old": OLD, "new": NEW, "kind": "changed"}]
    assert len(rows) == 3


def test_unknown_filters_are_refused(database, bo, client_of, api):
    assert client_of(bo).get("/changes/?stat=done").status_code == 400
    assert api(bo).get("/api/v1/changes/?stat=done").json()["code"] == "unknown_filter"


def test_the_list_is_filtered_by_what_is_asked(drafted, started, nodes, bo, api):
    running, waiting = started([nodes[0].pk]), drafted([nodes[1].pk])

    def found(query: str) -> list[int]:
        return [row["id"] for row in api(bo).get(f"/api/v1/changes/?{query}").json()["results"]]

    assert found("") == [waiting.pk, running.pk]
    assert found("set=under_way") == [running.pk]
    assert found("node=SN-02") == [waiting.pk]
    assert found("state=draft") == [waiting.pk]
    assert found("cluster=hall-2") == []


def test_the_list_needs_as_many_queries_for_many_changes(
    drafted, approved, bo, client_of, api, assert_constant_queries
):
    client, rest = client_of(bo), api(bo)
    approved()

    def grow() -> None:
        for _ in range(6):
            approved()
            drafted()

    assert_constant_queries(lambda: client.get("/changes/"), grow)
    assert_constant_queries(lambda: rest.get("/api/v1/changes/"), grow)


def test_the_page_of_a_change_needs_as_many_queries_for_many_nodes(
    started, domain, bo, client_of, count_queries
):
    nodes = list(Node.objects.filter(domain=domain))
    small = started([node.pk for node in nodes[:3]])
    client = client_of(bo)
    address = f"/changes/{small.pk}/"
    client.get(address)
    few = count_queries(lambda: client.get(address))
    small.refresh_from_db()
    large = started([node.pk for node in nodes[3:]])
    for index in range(7, 20):
        factories.report(factories.node(domain.cluster, f"sn-{index}", domain=domain, index=index), nccl=OLD)
    assert count_queries(lambda: client.get(f"/changes/{large.pk}/")) <= few


def test_people_outside_of_the_cluster_see_nothing(started, eve, client_of, api):
    started()
    assert "New NCCL" not in client_of(eve).get("/changes/").content.decode()
    assert api(eve).get("/api/v1/changes/").json()["results"] == []


def test_the_answer_carries_everything_that_was_decided(started, bo, api, chen):
    change = started()
    answer = api(bo).get(f"/api/v1/changes/{change.pk}/")
    body = answer.json()
    assert answer.headers["ETag"] == f'"v{change.version}"'
    assert body["approvals"][0]["person_id"] == Person.objects.get(email="chen@example.com").pk
    assert body["stages"][0]["waits"][0]["nodes"] == ["sn-01"]
    assert body["wanted"] == [{"component": "nccl", "values": [NEW], "nodes": "sn-[01-06]", "count": 6}]
    assert (body["node_count"], body["approvals_counting"]) == (6, 1)


def test_the_same_key_drafts_once_and_another_body_is_refused(domain, bo, api):
    bearer = factories.bearer(bo, "read", "change:write")
    body = {
        "domain_id": domain.pk,
        "kind": "nccl",
        "title": "New NCCL",
        "reason": "hangs",
        "items": [{"component": "nccl", "versions": [NEW]}],
    }

    def post(sent):
        headers = {"Idempotency-Key": "deploy-7"}
        return api(bearer).post("/api/v1/changes/", sent, format="json", headers=headers)

    first, again = post(body), post(body)
    assert (first.status_code, again.json()["id"]) == (201, first.json()["id"])
    assert Change.objects.count() == 1
    assert post(body | {"title": "Other"}).status_code == 422


def test_a_component_is_typed_and_shown_by_its_label_or_its_id(domain, bo, client_of):
    browser = client_of(bo)
    for typed in ("GPU driver", "gpu driver", "gpu_driver"):
        said = {"items-0-component": typed, "items-0-version": "580.1"}
        assert browser.post(f"/changes/new/?domain={domain.pk}", filled(**said)).status_code == 302
    drafted = {target.component for change in Change.objects.all() for target in change.targets.all()}
    assert drafted == {"gpu_driver"}
    page = browser.get(f"/changes/{Change.objects.first().pk}/edit/").content.decode()
    assert 'value="GPU driver"' in page.split('id="id_items-0-component"')[0].rsplit("<input", 1)[1]
    assert '<option value="GPU driver">gpu_driver</option>' in page


def test_a_change_that_changes_nothing_is_kept_only_on_purpose_and_says_so(domain, bo, client_of):
    browser = client_of(bo)
    address = f"/changes/new/?domain={domain.pk}"
    said = {"items-0-version": OLD}
    assert "reports these versions already" in browser.post(address, filled(**said)).content.decode()
    assert not Change.objects.exists()
    page = browser.post(address, filled(**said, all_the_same="1"), follow=True).content.decode()
    assert "This change changes nothing as things stand" in page


@pytest.mark.parametrize(("version", "nothing"), [(OLD, True), (NEW, False)])
def test_automation_is_told_that_a_change_changes_nothing(domain, bo, api, version, nothing):
    items = [{"component": "nccl", "versions": [version]}]
    body = {"domain_id": domain.pk, "kind": "nccl", "title": "t", "reason": "r", "items": items}
    answer = api(bo).post("/api/v1/changes/", body, format="json", headers={"Idempotency-Key": "k"})
    assert answer.status_code == 201, answer.content
    assert answer.json()["changes_nothing"] is nothing


@pytest.mark.parametrize(("asked", "against"), [(OLD, True), (NEW, False)])
def test_who_approves_is_told_that_success_would_be_drift_from_the_matrix(
    domain, submitted, chen, client_of, api, asked, against
):
    version = factories.locked_matrix(domain, nccl=asked, gpu_driver="570.86.15")
    change = submitted()
    page = client_of(chen).get(f"/changes/{change.pk}/").content.decode()
    assert ("the nodes drift from the matrix in force" in page) is against
    told = api(chen).get(f"/api/v1/changes/{change.pk}/").json()["against_matrix"]
    one = {"component": "nccl", "values": [NEW], "rule": "exact", "asked": [OLD]}
    one |= {"matrix_version_id": version.pk, "matrix_version": str(version)}
    assert told == ([one] if against else [])


def test_a_matrix_of_the_whole_cluster_is_what_a_change_goes_against_and_does_not_forbid_it(
    domain, started, bo, client_of
):
    version = factories.locked_matrix(domain, nccl=OLD)
    version.matrix.domain = None
    version.matrix.save()
    change = started()
    assert f"{version}</a> asks for" in client_of(bo).get(f"/changes/{change.pk}/").content.decode()
    ended = services.fail_change(
        actor=actor_for(bo), change_id=change.pk, expected_version=change.version, reason="broke"
    )
    assert "drift from the matrix" not in client_of(bo).get(f"/changes/{ended.pk}/").content.decode()


def test_a_change_of_some_nodes_that_run_it_already_is_no_warning(domain, nodes, drafted, bo, client_of):
    factories.report(nodes[0], gpu_driver="570.86.15", nccl=NEW)
    page = client_of(bo).get(f"/changes/{drafted().pk}/").content.decode()
    assert "changes nothing" not in page


def test_a_draft_counts_nodes_that_run_the_version_already_as_their_table_does(nodes, drafted, bo, client_of):
    factories.report(nodes[0], gpu_driver="570.86.15", nccl=NEW)
    page = client_of(bo).get(f"/changes/{drafted([nodes[0].pk]).pk}/").content.decode()
    assert "1 / 1 reported so far" in page
    assert page.count(">there<") == 1


def test_a_change_that_is_over_keeps_what_was_reported_while_it_ran(nodes, started, bo, client_of):
    change = started([nodes[0].pk])
    factories.report(nodes[0], gpu_driver="570.86.15", nccl=NEW)
    services.consider_reports(node_ids=[nodes[0].pk])
    services.fail_change(
        actor=actor_for(bo),
        change_id=change.pk,
        expected_version=Change.objects.get(pk=change.pk).version,
        reason="x",
    )
    factories.report(nodes[0], gpu_driver="570.86.15", nccl=OLD)
    page = client_of(bo).get(f"/changes/{change.pk}/").content.decode()
    assert "1 / 1 reported so far" in page
    assert page.count(">there<") == 1


def test_the_form_says_what_an_all_reduce_must_reach(domain, bo, client_of):
    page = client_of(bo).get(f"/changes/new/?domain={domain.pk}").content.decode()
    assert "of at least 1 GiB and with at least 80 % of the theoretical bandwidth" in page


def test_an_approved_change_waits_on_its_page_for_the_launch_whose_job_runs_on_its_domain(
    approved, nodes, bo, client_of
):
    change, launch_id = approved([nodes[0].pk]), uuid4()
    owner = f"launches.launch:{launch_id}"
    may_start = client_of(bo).get(f"/changes/{change.pk}/").content.decode()
    fleet.take_holds(
        actor=actor_for(bo), node_ids=[nodes[5].pk], kind=HoldKind.TRAINING, owner=owner, reason="Llama"
    )
    waits = client_of(bo).get(f"/changes/{change.pk}/").content.decode()
    start = reverse("changes:start", args=[change.pk])
    assert "Approved; it may start" in may_start and start in may_start
    assert "waits until the training on its domain is over" in waits and start not in waits
    assert f'<a href="/launches/{launch_id}/">Llama</a>' in waits and nodes[5].name in waits


def test_output_of_a_node_that_a_change_waits_for_is_handed_in_with_the_node_filled_in(
    started, nodes, cluster, bo, client_of
):
    browser = client_of(bo)
    page = browser.get(f"/changes/{started([nodes[0].pk]).pk}/").content.decode()
    address = f"/clusters/{cluster.slug}/hand-in/?node={nodes[0].name}"
    assert page.count(f'href="{address}"') == 2  # the name and the button
    assert f'name="node" value="{nodes[0].name}"' in browser.get(address).content.decode()


def test_a_rollback_beside_a_job_on_its_domain_names_the_launch(started, nodes, bo, client_of):
    change = started([nodes[0].pk])
    client, path, launch_id = client_of(bo), f"/changes/{change.pk}/rollback/", uuid4()
    warning = "A training job runs on the domain"
    assert warning not in client.get(path).content.decode()
    fleet.take_holds(
        actor=actor_for(bo),
        node_ids=[nodes[5].pk],
        kind=HoldKind.TRAINING,
        owner=f"launches.launch:{launch_id}",
        reason="Llama",
    )
    page = client.get(path).content.decode()
    assert warning in page and f'<a href="/launches/{launch_id}/">Llama</a>' in page
