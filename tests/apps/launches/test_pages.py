"""Pages of launches and the forms in which the gate answers: what they show, and how many queries they need."""

from __future__ import annotations

import uuid
from datetime import timedelta
from xml.etree import ElementTree

import pytest
from django.utils.html import strip_tags

from apps.changes.models import Change
from apps.changes.services import review_rollback
from apps.core import clock
from apps.core.confirming import ConfirmedForm
from apps.launches import services
from apps.launches.forms import LaunchEditForm, LaunchForm
from apps.launches.models import Launch, LaunchNode
from apps.launches.queries import inputs
from apps.planning.models import Plan
from apps.portal.queries.needs_me import waiting_for
from tests import factories
from tests.apps.launches.conftest import MANUAL
from tests.callers import actor_for


def lag(nodes) -> None:
    factories.report(nodes[2], gpu_driver="535.161.08", nccl="2.20.5")


@pytest.fixture
def stopped(answered, evaluated, nodes, domain) -> Launch:
    """NO-GO: a node reports other versions than the known-good matrix wants."""
    factories.locked_matrix(domain, known_good=True)
    launch = answered()
    lag(nodes)
    evaluated(launch)
    return launch


def text_of(client, address: str) -> str:
    return client.get(address).content.decode()


def test_a_launch_is_opened_on_a_page_and_evaluated_at_once(domain, benchmark, bo, client_of, run_jobs):
    body = {"domain": domain.pk, "title": "Llama", "nodes": "sn-[04,01]", "job_environment": "export A=1"}
    answer = client_of(bo).post("/launches/open/", body)
    launch = Launch.objects.get()
    assert answer.headers["Location"] == f"/launches/{launch.pk}/"
    assert [row.node.name for row in launch.nodes.all()] == ["sn-04", "sn-01"]
    page = text_of(client_of(bo), f"/launches/{launch.pk}/")
    assert "being evaluated" in page
    assert "hx-trigger" in page
    run_jobs("launches.evaluate")
    assert "hx-trigger" not in text_of(client_of(bo), f"/launches/{launch.pk}/")


def test_what_opening_and_editing_have_in_common_is_called_the_same():
    assert set(LaunchEditForm.base_fields) < set(LaunchForm.base_fields)


def test_the_only_domain_and_the_only_launch_plan_are_chosen_already(domain, plan, bo, cluster, client_of):
    Plan.objects.update(launch_version=plan)
    address, client = f"/launches/open/?cluster={cluster.slug}", client_of(bo)
    form = client.get(address).context["form"]
    assert (form["domain"].value(), form["plan_version"].value()) == (domain.pk, plan.pk)
    factories.domain(cluster)
    form = client.get(address).context["form"]
    assert (form["domain"].value(), form["plan_version"].value()) == (None, plan.pk)


def test_with_two_clusters_no_plan_is_chosen_and_a_wrong_one_is_refused_at_its_field(
    plan, ada, cluster, client_of
):
    Plan.objects.update(launch_version=plan)
    other = factories.domain(factories.cluster(slug="other"))
    factories.node(other.cluster, domain=other)
    form = client_of(ada).get("/launches/open/").context["form"]
    assert form["plan_version"].value() is None
    assert f"{cluster.name} · {plan}" in str(form["plan_version"])
    body = {"domain": other.pk, "title": "x", "plan_version": plan.pk}
    form = client_of(ada).post("/launches/open/", body).context["form"]
    assert list(form.errors) == ["plan_version"]


def test_the_first_launch_is_opened_within_the_chosen_cluster_by_who_may(bo, vic, cluster, client_of):
    address = f"/launches/?cluster={cluster.slug}"
    page = text_of(client_of(bo), address)
    assert f'href="/launches/open/?cluster={cluster.slug}">Open the first launch' in page
    assert "Open the first launch" not in text_of(client_of(vic), address)


def test_the_name_to_type_stands_apart_and_is_no_markup():
    form = ConfirmedForm(cluster_name="Hall <b>1</b>")
    assert form["cluster_name"].help_text == "Type <code>Hall &lt;b&gt;1&lt;/b&gt;</code> to confirm."


def test_nodes_that_are_not_there_are_named_in_the_form(domain, benchmark, bo, client_of):
    answer = client_of(bo).post("/launches/open/", {"domain": domain.pk, "title": "x", "nodes": "stranger"})
    assert "stranger" in answer.content.decode()
    assert not Launch.objects.exists()


def test_the_page_names_what_stops_the_launch_first(answered, evaluated, nodes, bo, client_of):
    launch = answered()
    lag(nodes)
    evaluated(launch)
    context = client_of(bo).get(f"/launches/{launch.pk}/").context
    first = context["groups"][0].items[0]
    assert (first["key"], first["folded"]) == ("no_drift", "sn-03")
    assert [item["key"] for item in context["blocking"]] == ["no_drift"]
    page = text_of(client_of(bo), f"/launches/{launch.pk}/")
    assert "1 check stops this launch" in page
    assert "sn-03: GPU driver is 535.161.08, asked for is 570.86.15" in page


def test_manual_items_are_answered_on_the_page_of_the_launch_all_at_once(
    opened, bo, vic, client_of, run_jobs
):
    launch, client = opened(), client_of(bo)
    address = f"/launches/{launch.pk}/"
    page = text_of(client, address)
    assert "4 items wait for a person" in page
    assert "Keep the answers" not in text_of(client_of(vic), address)
    sent = {
        f"{part}-{item}": text for item in MANUAL for part, text in (("verdict", "pass"), ("note", "seen"))
    }
    assert client.post(f"{address}answers/", sent).headers["Location"] == address
    assert sorted(launch.answers.values_list("item", "verdict", "person")) == sorted(
        (item, "pass", bo.pk) for item in MANUAL
    )
    assert launch.evaluations.count() == 1, "asked for once, not for each answer"
    assert "Answered by people" in text_of(client, address)


def test_an_item_left_empty_stays_as_it_is_and_half_an_answer_keeps_nothing(answered, bo, client_of):
    launch, client = answered(), client_of(bo)
    address = f"/launches/{launch.pk}/answers/"
    again = {"verdict-timeouts_sane": "fail", "note-timeouts_sane": "too short"}
    half = again | {"verdict-topology_labels": "warn", "note-storage_and_loading": "slow"}
    page = client.post(address, half)
    assert page.context["answers"].errors.keys() == {"note-topology_labels", "verdict-storage_and_loading"}
    assert "too short</textarea>" in page.content.decode(), "what was typed is kept"
    assert client.post(address, {}).context["answers"].non_field_errors() == ["Answer at least one item."]
    assert launch.answers.count() == len(MANUAL)
    client.post(address, again)
    assert launch.answers.count() == len(MANUAL) + 1
    assert (launch.answers.first().item, launch.answers.first().verdict) == ("timeouts_sane", "fail")


def test_the_page_computes_its_inputs_once(answered, evaluated, bo, client_of, monkeypatch):
    launch = answered()
    evaluated(launch)
    evaluated(launch, anew=True)
    computed = []
    kept = inputs.inputs_of
    monkeypatch.setattr(inputs, "inputs_of", lambda rows: computed.append(len(rows)) or kept(rows))
    assert "needs sign-off" in text_of(client_of(bo), f"/launches/{launch.pk}/")
    assert computed == [1]


def test_a_page_that_waits_gets_all_that_the_evaluation_changed(opened, matrix, bo, client_of, run_jobs):
    launch = opened()
    asked = services.request_evaluation(actor=actor_for(bo), launch_id=launch.pk)
    address, client = f"/launches/{launch.pk}/", client_of(bo)
    waiting = text_of(client, address)
    assert "None yet." in waiting
    assert str(matrix) not in waiting
    ask = {"headers": {"HX-Request": "true"}}
    under_way = client.get(address, **ask)
    assert (under_way.status_code, under_way.content) == (204, b"")
    run_jobs("launches.evaluate")
    over = client.get(address, **ask)
    assert over.status_code == 286
    fragment = over.content.decode()
    assert 'id="launch-standing"' in fragment
    assert 'id="launch-actions" hx-swap-oob="true"' in fragment
    assert '<div id="live" hx-swap-oob="innerHTML">unknown</div>' in fragment
    assert str(matrix) in fragment
    assert fragment.count(f"/evaluations/{asked.pk}/") == 2  # the record, and the list of evaluations
    assert "hx-trigger" not in fragment
    assert "<main" not in fragment


def test_the_opener_is_told_why_they_cannot_sign_and_a_signer_what_they_sign(
    answered, evaluated, bo, sun, cluster, client_of
):
    factories.grant(bo, "signer", scope=cluster.scope)
    launch = answered()
    evaluation = evaluated(launch)
    assert "You opened this launch" in text_of(client_of(bo), f"/launches/{launch.pk}/")
    page = text_of(client_of(sun), f"/launches/{launch.pk}/")
    assert "Sign GO" in page
    assert f'value="{evaluation.digest}"' in page
    asked = page.partition('id="sign-go"')[2].partition("</dialog>")[0]
    assert launch.title in asked and evaluation.digest[:12] in asked, "what is signed is asked once more"
    assert [page.count('name="go" value="1"'), asked.count('name="go" value="1"')] == [1, 1]


def test_where_only_the_opener_may_sign_it_says_so_and_leads_an_administrator_to_the_people(
    answered, evaluated, bo, ada, cluster, client_of
):
    launch = answered()
    evaluated(launch)
    address = f"/launches/{launch.pk}/"
    assert "Nobody here has the role signer." in text_of(client_of(bo), address)
    factories.grant(bo, "signer", scope=cluster.scope)
    assert "Only Bo may sign here, but has opened or edited this launch" in text_of(client_of(bo), address)
    assert '<a href="/people/">Give somebody the role</a>' in text_of(client_of(ada), address)


def test_the_list_of_evaluations_says_where_each_of_them_stands(
    answered, evaluated, nodes, bo, sun, client_of
):
    launch, client = answered(), client_of(bo)

    def listed() -> list[str]:
        page = text_of(client, f"/launches/{launch.pk}/")
        rows = page.split('id="launch-standing"')[1].split('<a href="/evaluations/')[1:]
        return [" ".join(strip_tags(row.split("</li>")[0].split("</a>")[1]).split()) for row in rows]

    evaluation = evaluated(launch)
    assert [row.split(" its checks:")[0] for row in listed()] == ["needs sign-off"]
    services.sign_launch(actor=actor_for(sun), evaluation_id=evaluation.pk, digest=evaluation.digest, go=True)
    assert [row.split(" its checks:")[0] for row in listed()] == ["GO"]
    evaluated(launch, anew=True)
    lag(nodes)
    evaluated(launch, anew=True)
    standings = [row.split(" its checks:")[0] for row in listed()]
    assert standings == ["NO-GO", "no longer stands", "no longer stands"]


def test_a_stale_evaluation_says_what_changed_and_offers_no_signature(
    answered, evaluated, nodes, sun, client_of
):
    launch = answered()
    evaluated(launch)
    lag(nodes)
    page = text_of(client_of(sun), f"/launches/{launch.pk}/")
    assert "a node reports other versions" in page
    assert "Sign GO" not in page


def test_one_click_leads_to_the_rollback_and_both_sides_link_to_each_other(stopped, bo, client_of):
    client = client_of(bo)
    assert f"/launches/{stopped.pk}/rollback/" in text_of(client, f"/launches/{stopped.pk}/")
    assert "570.86.15" in text_of(client, f"/launches/{stopped.pk}/rollback/")
    body = {"reason": "first back", "cluster_name": "wrong"}
    assert client.post(f"/launches/{stopped.pk}/rollback/", body).status_code == 200
    client.post(f"/launches/{stopped.pk}/rollback/", body | {"cluster_name": stopped.domain.cluster.name})
    rollback = Change.objects.get()
    assert [target.node.name for target in rollback.targets.all()] == ["sn-03"]
    assert f"/changes/{rollback.pk}/" in text_of(client, f"/launches/{stopped.pk}/")
    assert f"/launches/{stopped.pk}/" in text_of(client, f"/changes/{rollback.pk}/")


def test_a_rollback_that_nobody_has_reviewed_is_told_and_stops_nothing(stopped, bo, chen, client_of):
    client = client_of(bo)
    rollback = services.roll_back_for(actor=actor_for(bo), launch_id=stopped.pk, reason="drift")
    page = text_of(client, f"/launches/{stopped.pk}/")
    assert "A rollback of these nodes waits for its review by a second person" in page
    assert "its review by a second person is still open" in page
    assert [one.title for one in waiting_for(actor_for(chen))] == [str(rollback)]
    client.cookies["language"] = "zh-hans"
    named = f"#{rollback.pk} 回到 {rollback.restores_version}</a>"
    assert text_of(client, f"/launches/{stopped.pk}/").count(named) == 2
    client.cookies["language"] = "en"
    review_rollback(
        actor=actor_for(chen), change_id=rollback.pk, expected_version=rollback.version, review="good"
    )
    assert "review by a second person" not in text_of(client, f"/launches/{stopped.pk}/")
    assert waiting_for(actor_for(chen)) == []


def test_once_the_rollback_is_done_the_page_leads_with_the_next_evaluation(stopped, evaluated, bo, client_of):
    client = client_of(bo)
    rollback = services.roll_back_for(actor=actor_for(bo), launch_id=stopped.pk, reason="drift")
    done = f">Rollback #{rollback.pk}</a> is done since this evaluation"
    way_back, again = f"/launches/{stopped.pk}/rollback/", 'class="btn btn-primary" form="evaluate"'
    page = text_of(client, f"/launches/{stopped.pk}/")
    assert (done in page, way_back in page, again in page) == (False, True, False)
    Change.objects.filter(pk=rollback.pk).update(state="done", ended_at=clock.now())
    page = text_of(client, f"/launches/{stopped.pk}/")
    assert (done in page, way_back in page, again in page) == (True, False, True)
    evaluated(stopped)
    page = text_of(client, f"/launches/{stopped.pk}/")
    assert (done in page, way_back in page, again in page) == (False, True, False)


@pytest.mark.parametrize(
    ("query", "status"),
    [
        *(("", 200), ("fail_status=false", 200), ("fail_status=1", 409), ("fail_status=True", 409)),
        *(("fail_status=yes,please", 400), ("failstatus=true", 400), ("fail_status=true&format=xml", 400)),
        *(
            ("fail_status", 400),
            ("fail_status=", 400),
            ("fail_status=true&fail_status=", 400),
            ("wait=9", 400),
        ),
    ],
)
def test_the_gate_answers_as_it_was_asked_or_not_at_all(stopped, query, status, bo, api):
    caller = api(factories.bearer(bo, "read", "gate:evaluate"))
    assert caller.get(f"/api/v1/launches/{stopped.pk}/gate/?{query}").status_code == status


@pytest.mark.parametrize(
    ("state", "offered"), [("open", True), ("running", True), ("finished", False), ("cancelled", False)]
)
def test_an_evaluation_is_asked_for_as_long_as_a_job_may_start_or_runs(
    answered, state, offered, bo, client_of
):
    launch = answered()
    Launch.objects.filter(pk=launch.pk).update(state=state, ended_at=clock.now(), ended_reason="enough")
    assert ('form="evaluate"' in text_of(client_of(bo), f"/launches/{launch.pk}/")) is offered


@pytest.fixture
def running(answered, evaluated, sun, bo) -> Launch:
    """GO, and its job runs."""
    launch = answered()
    evaluation = evaluated(launch)
    services.sign_launch(
        actor=actor_for(sun), evaluation_id=evaluation.pk, digest=evaluation.digest, go=True, comment=""
    )
    return services.start_launch(actor=actor_for(bo), launch_id=launch.pk, expected_version=launch.version)


def test_who_would_shut_the_gate_of_a_running_job_is_asked_before(running, evaluated, bo, sun, client_of):
    address = f"/launches/{running.pk}/"
    asked = text_of(client_of(bo), address)
    assert 'commandfor="evaluate-again"' in asked
    assert "the gate is shut until then" in asked.partition('id="evaluate-again"')[2]
    assert "evaluate-again" not in text_of(client_of(sun), address)  # who only signs gets what stands

    evaluated(running, anew=True)
    assert "evaluate-again" not in text_of(client_of(bo), address)  # the gate is shut already


def test_who_would_take_back_a_signed_go_is_asked_before_and_nobody_else(
    answered, evaluated, bo, sun, client_of
):
    launch = answered()
    evaluation = evaluated(launch)
    page = text_of(client_of(bo), f"/launches/{launch.pk}/")
    assert ("evaluate-again" in page, 'form="evaluate"' in page) == (False, True)
    services.sign_launch(
        actor=actor_for(sun), evaluation_id=evaluation.pk, digest=evaluation.digest, go=True, comment=""
    )
    page = text_of(client_of(bo), f"/launches/{launch.pk}/")
    asked = page.partition('id="evaluate-again"')[2].partition("</dialog>")[0]
    assert ("signed anew" in asked, "job runs on" in asked) == (True, False)


def test_a_waiver_waits_for_who_can_approve_it_and_says_who_that_is(answered, bo, sun, client_of):
    launch = answered()
    services.ask_waiver(
        actor=actor_for(bo),
        launch_id=launch.pk,
        item="no_drift",
        reason="known, harmless",
        expires_at=clock.now() + timedelta(hours=1),
    )
    assert f"Who can approve it: {sun.name}" in text_of(client_of(bo), f"/launches/{launch.pk}/")
    assert "Approve the waiver: All nodes match the matrix" in text_of(client_of(sun), "/")
    assert "Approve the waiver" not in text_of(client_of(bo), "/")
    waiver = launch.waivers.get()
    services.approve_waiver(actor=actor_for(sun), waiver_id=waiver.pk)
    assert "Approve the waiver" not in text_of(client_of(sun), "/")


@pytest.mark.parametrize(("state", "said"), [("finished", "The job is over"), ("cancelled", "was cancelled")])
def test_a_launch_that_is_over_lets_no_job_start_any_more(
    answered, evaluated, sun, state, said, bo, api, client_of
):
    go = answered()
    evaluation = evaluated(go)
    services.sign_launch(
        actor=actor_for(sun), evaluation_id=evaluation.pk, digest=evaluation.digest, go=True, comment=""
    )
    caller, address = api(factories.bearer(bo, "read", "gate:evaluate")), f"/api/v1/launches/{go.pk}/gate/"
    before = caller.get(address).json()
    Launch.objects.filter(pk=go.pk).update(state=state, ended_at=clock.now(), ended_reason="enough")
    after = caller.get(address, {"fail_status": "true"})
    assert (before["standing"], before["exit_code"]) == ("go", 0)
    assert (after.status_code, after.json()["exit_code"], after.json()["is_stale"]) == (503, 3, False)
    assert after.json()["message"] == f"the launch is {state}"
    page = text_of(client_of(bo), f"/launches/{go.pk}/")
    assert (said in page, "The job may start" in page) == (True, False)
    assert "The job may start" not in text_of(client_of(bo), f"/evaluations/{evaluation.pk}/")


def test_an_old_password_is_asked_for_before_the_rollback_is_filled_in(answered, bo, client_of):
    launch = answered()
    client = client_of(bo, authenticated_at=clock.now() - timedelta(hours=1))
    answer = client.get(f"/launches/{launch.pk}/rollback/")
    assert (answer.status_code, "next=" in answer.headers["Location"]) == (302, True)


def test_an_edit_of_an_old_page_keeps_what_was_typed(answered, bo, client_of, plan):
    launch = answered()
    services.edit_launch(
        actor=actor_for(bo),
        launch_id=launch.pk,
        expected_version=launch.version,
        title="Theirs",
        plan_version_id=plan.pk,
        job_environment="",
    )
    body = {"version": launch.version, "title": "Mine", "job_environment": ""}
    answer = client_of(bo).post(f"/launches/{launch.pk}/edit/", body)
    assert answer.status_code == 412
    page = answer.content.decode()
    assert "Theirs" in page
    assert 'value="Mine"' in page


def test_the_record_shows_the_digests_that_it_rests_on_and_which_have_changed(
    answered, evaluated, nodes, vic, client_of
):
    evaluation = evaluated(answered())
    lag(nodes)
    page = client_of(vic).get(f"/evaluations/{evaluation.pk}/")
    assert page.context["decision"].changed == ("versions",)
    assert evaluation.inputs["versions"] in page.content.decode()
    assert "Answer again" not in page.content.decode()


@pytest.mark.parametrize(("fail_status", "status"), [("", 200), ("?fail_status=true", 423)])
def test_the_gate_says_exit_code_and_where_asked_a_failing_status(
    fail_status, status, answered, evaluated, bo, api
):
    launch = answered()
    evaluated(launch)
    answer = api(bo).get(f"/api/v1/launches/{launch.pk}/gate/{fail_status}")
    assert answer.status_code == status
    assert (answer.json()["standing"], answer.headers["X-Gate-Exit-Code"]) == ("needs_signoff", "10")


def test_the_gate_says_why_and_what_helps(answered, bo, api, run_jobs):
    launch = answered()
    address = f"/api/v1/launches/{launch.pk}/gate/"
    services.request_evaluation(actor=actor_for(bo), launch_id=launch.pk)
    pending = api(bo).get(address)
    assert pending.json()["message"] == "the checklist is being evaluated"
    assert "--wait" in pending.json()["hint"]
    assert pending.headers["Retry-After"] == "2"
    run_jobs("launches.evaluate")
    over = api(bo).get(address)
    assert "a signature is missing" in over.json()["message"]
    assert "Retry-After" not in over.headers


def test_the_gate_answers_as_junit_and_problems_stay_problems(answered, evaluated, nodes, bo, api):
    launch = answered()
    lag(nodes)
    evaluated(launch)
    answer = api(bo).get(f"/api/v1/launches/{launch.pk}/gate/?format=junit")
    suite = ElementTree.fromstring(answer.content)
    assert suite.find("testcase[@name='no_drift']/failure").get("type") == "drift"
    assert suite.find("testcase").get("classname") == "hall-1.sn environment v1"
    missing = api(bo).get(f"/api/v1/launches/{uuid.uuid4()}/gate/?format=junit")
    assert (missing.status_code, missing.json()["code"]) == (404, "missing")


def test_an_evaluation_is_asked_for_and_followed(answered, bo, api, run_jobs):
    launch, caller = answered(), api(bo)
    asked = caller.post(f"/api/v1/launches/{launch.pk}/evaluations/")
    assert (asked.status_code, asked.json()["standing"]) == (202, "pending")
    assert asked.headers["X-Gate-Exit-Code"] == "3"
    run_jobs("launches.evaluate")
    assert caller.get(asked.headers["Location"]).json()["standing"] == "needs_signoff"


def test_the_newest_launch_comes_first_and_pages_lose_none(opened, bo, api):
    rows = [str(opened(title=f"run {place}").pk) for place in range(5)]
    Launch.objects.filter(pk__in=rows[:2]).update(opened_at=clock.now() - timedelta(days=1))
    caller, address, found = api(bo), "/api/v1/launches/?limit=2", []
    while address:
        body = caller.get(address).json()
        found += [row["id"] for row in body["results"]]
        address = body["next"]
    assert sorted(found) == sorted(rows)
    assert set(found[-2:]) == set(rows[:2])
    assert found[:3] == rows[:1:-1]


def test_launches_are_found_by_exactly_their_nodes(opened, nodes, bo, api):
    some = opened(node_ids=[nodes[0].pk, nodes[1].pk])
    opened()

    def found(query: str) -> list[str]:
        return [row["id"] for row in api(bo).get(f"/api/v1/launches/?{query}").json()["results"]]

    assert found("nodes=sn-[02,01]") == [str(some.pk)]
    assert found("nodes=sn-01") == []
    assert api(bo).get("/api/v1/launches/?nodes=sn-[").status_code == 400
    assert api(bo).get("/api/v1/launches/?node=sn-01").json()["code"] == "unknown_filter"


def test_lists_need_as_many_queries_for_many_launches(
    answered, evaluated, bo, client_of, api, assert_constant_queries
):
    client, rest = client_of(bo), api(bo)

    def grow(count: int = 5) -> None:
        for _ in range(count):
            evaluated(answered())

    grow(2)
    assert_constant_queries(lambda: client.get("/launches/"), grow)
    assert_constant_queries(lambda: rest.get("/api/v1/launches/"), grow)
    assert "needs sign-off" in text_of(client, "/launches/")


def test_an_empty_list_of_nodes_means_the_whole_domain(domain, nodes, bo, api):
    sent = {"cluster": domain.cluster.slug, "domain_id": domain.pk, "title": "All of it", "nodes": ""}
    answer = api(bo).post("/api/v1/launches/", sent, format="json")
    assert answer.status_code == 201
    assert LaunchNode.objects.filter(launch=answer.json()["id"]).count() == len(nodes)


def test_a_rollback_under_way_is_named_in_the_readers_language_and_kept_in_english(
    stopped, evaluated, bo, client_of
):
    rollback = services.roll_back_for(actor=actor_for(bo), launch_id=stopped.pk, reason="drift")
    record = evaluated(stopped, anew=True)
    client = client_of(bo)
    client.cookies["language"] = "zh-hans"
    page = client.get(f"/evaluations/{record.pk}/").content.decode()
    named = f"#{rollback.pk} 回到 {rollback.restores_version}"
    assert page.count(named) == 3  # what blocks, the item, its proof
    assert str(rollback) not in page
    record.refresh_from_db()
    row = next(row for row in record.items if row["key"] == "no_open_change")
    assert row["proofs"][0]["label"] == row["values"]["changes"] == str(rollback)
