"""All studies: pages and API from the same form, filled with sensible values, and never a 500."""

from __future__ import annotations

import pytest
from django import forms

from apps.planning.services import create_plan
from apps.planning.studies import STUDIES
from tests import factories
from tests.apps.planning.engine.plans import LLAMA_70B
from tests.callers import actor_for

pytestmark = pytest.mark.django_db
SHORT = sorted(key for key, study in STUDIES.items() if not study.is_long)
LONG = sorted(key for key, study in STUDIES.items() if study.is_long)
ODD = ["", "-1", "0", "1e308", "nan", "inf", "x" * 200, "\0", "[]", "99999999999999999999"]


@pytest.fixture
def plan(bo, cluster, run_jobs):
    """A computed plan of a model that the catalogue does not hold."""
    actor = actor_for(bo)
    version = create_plan(actor=actor, scope_id=cluster.scope_id, name="Seventy", document=LLAMA_70B)
    run_jobs()
    return version


def test_the_hub_lists_every_study(vic, client_of):
    page = client_of(vic).get("/plans/studies/").content.decode()
    for key in STUDIES:
        assert f'href="/plans/studies/{key}/"' in page


def test_only_readers_get_in(client_of, api):
    nobody = factories.person("Nobody")
    assert client_of(nobody).get("/plans/studies/").status_code == 403
    assert client_of(nobody).get("/plans/studies/claims/").status_code == 403
    assert api(nobody).post("/api/v1/planning/claims/", {}).status_code == 403
    assert client_of(None).get("/plans/studies/").status_code == 302


def test_an_unknown_study_is_missing(vic, client_of):
    assert client_of(vic).get("/plans/studies/weather/").status_code == 404


@pytest.mark.parametrize("key", SHORT)
def test_a_page_opens_with_an_answer_to_its_start_values(key, vic, client_of):
    answer = client_of(vic).get(f"/plans/studies/{key}/")
    page = answer.content.decode()
    assert answer.status_code == 200
    assert "How it is computed" in page and "Assumptions" in page
    assert "There is 1 thing" not in page and "things to correct" not in page


@pytest.mark.parametrize("key", SHORT)
def test_the_api_answers_what_the_page_shows(key, vic, api):
    answer = api(factories.bearer(vic, "read")).post(f"/api/v1/planning/{key}/", {}, format="json")
    body = answer.json()
    assert answer.status_code == 200, body
    assert body["input"] and body["result"] and body["engine_version"]
    assert all(name.startswith(f"{key}.") and term["source"] for name, term in body["formulas"].items())
    assert all(row["source"] and row["confidence"] for row in body["result"]["assumptions"])


@pytest.mark.parametrize("key", sorted(STUDIES))
@pytest.mark.parametrize("value", [True, "1_0"])
def test_what_is_no_number_is_no_figure_of_a_study(key, value, vic, api):
    fields = STUDIES[key].form.base_fields
    numbers = {name for name, field in fields.items() if isinstance(field, forms.IntegerField)}
    answer = api(vic).post(f"/api/v1/planning/{key}/", dict.fromkeys(numbers, value), format="json")
    said = {one["pointer"] for one in answer.json().get("errors", ()) if "plain digits" in one["message"]}
    assert said == {f"/{name}" for name in numbers}


@pytest.mark.parametrize("key", sorted(STUDIES))
def test_odd_values_are_errors_at_their_fields_and_never_a_500(key, vic, client_of):
    browser = client_of(vic)
    for odd in ODD:
        sent = dict.fromkeys(STUDIES[key].form.base_fields, odd) | {"asked": "1"}
        method = browser.post if STUDIES[key].is_long else browser.get
        answer = method(f"/plans/studies/{key}/", sent)
        if "\0" in odd:  # which is refused before any page is asked
            assert answer.status_code == 400
            continue
        assert answer.status_code == 200, odd
        assert "to correct" in answer.content.decode(), odd


@pytest.mark.parametrize("key", sorted(STUDIES))
def test_each_field_alone_may_be_odd(key, vic, api):
    caller = api(vic)
    for name in STUDIES[key].form.base_fields:
        for odd in ("x", -5, {}, [[1]], True, 1e300, None, ["x"]):
            answer = caller.post(f"/api/v1/planning/{key}/", {name: odd}, format="json")
            assert answer.status_code in (200, 202, 400), (name, odd)
            if answer.status_code == 400:
                assert answer.json()["errors"], (name, odd)


@pytest.mark.parametrize("said", ["no", 2, [1], {}])
def test_what_is_neither_true_nor_false_is_refused_over_rest(said, vic, api):
    answer = api(vic).post("/api/v1/planning/power/", {"redundant": said}, format="json")
    assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (400, "/redundant")


@pytest.mark.parametrize("key", SHORT)
def test_each_field_alone_may_be_at_its_ends(key, vic, api):
    caller = api(vic)
    for name, field in STUDIES[key].form.base_fields.items():
        for end in (getattr(field, "min_value", None), getattr(field, "max_value", None)):
            if end is not None:
                answer = caller.post(f"/api/v1/planning/{key}/", {name: end}, format="json")
                assert answer.status_code in (200, 400), (name, end)


@pytest.mark.parametrize("key", SHORT)
@pytest.mark.parametrize("end", ["min_value", "max_value"])
def test_all_fields_at_once_may_be_at_their_ends(key, end, vic, api):
    fields = STUDIES[key].form.base_fields.items()
    body = {name: getattr(field, end) for name, field in fields if getattr(field, end, None) is not None}
    answer = api(vic).post(f"/api/v1/planning/{key}/", body, format="json")
    assert answer.status_code in (200, 400), answer.content


@pytest.mark.parametrize("key", sorted(STUDIES))
def test_the_api_refuses_fields_that_there_are_not(key, vic, api):
    answer = api(vic).post(f"/api/v1/planning/{key}/", {"colour": 1}, format="json")
    assert answer.status_code == 400
    assert "colour" in answer.json()["errors"][0]["message"]


@pytest.mark.parametrize("key", LONG)
def test_a_long_study_is_a_job_whose_page_shows_the_answer(key, vic, client_of, run_jobs):
    browser = client_of(vic)
    start = browser.get(f"/plans/studies/{key}/").content.decode()
    assert "Nothing computed yet" in start
    small = {"sizes": "64, 128", "asked": "1"}
    values = STUDIES[key].form.start | small
    asked = browser.post(f"/plans/studies/{key}/", values)
    assert asked.status_code == 302, asked.content.decode()
    waiting = browser.get(asked["Location"]).content.decode()
    assert "data-poll=" in waiting
    assert browser.get(asked["Location"], headers={"HX-Request": "true"}).status_code == 200
    (done,) = run_jobs("planning.study")
    assert done.state == "succeeded", done.problem
    assert done.result_url == asked["Location"]
    assert browser.get(asked["Location"], headers={"HX-Request": "true"}).status_code == 286
    page = browser.get(asked["Location"]).content.decode()
    assert "How it is computed" in page and 'value="64, 128"' in page
    show, asked_for = STUDIES[key].show, done.arguments["values"]
    assert show(asked_for, turned(done.result)) == show(asked_for, done.result)


def turned(value):
    """The value as another database may give it back: PostgreSQL's JSON keeps no order of keys."""
    if isinstance(value, dict):
        return {name: turned(value[name]) for name in reversed(value)}
    return [turned(one) for one in value] if isinstance(value, list) else value


@pytest.mark.parametrize("key", LONG)
def test_a_long_study_over_rest_answers_202_and_the_job_holds_the_result(key, vic, api, run_jobs):
    caller = api(factories.bearer(vic, "read", "plan:write"))
    asked = caller.post(f"/api/v1/planning/{key}/", {"sizes": [64, 128]}, format="json")
    assert asked.status_code == 202, asked.json()
    run_jobs("planning.study")
    body = caller.get(asked["Location"]).json()
    assert body["state"] == "succeeded" and body["result"]["assumptions"]


def test_jobs_of_others_and_of_other_studies_are_missing(vic, chen, client_of):
    values = STUDIES["scaling"].form.start | {"sizes": "64", "asked": "1"}
    mine = client_of(vic).post("/plans/studies/scaling/", values)["Location"]
    theirs = client_of(chen).post("/plans/studies/scaling/", values)["Location"]
    assert mine != theirs
    assert client_of(chen).get(mine).status_code == 404
    assert client_of(vic).get(mine.replace("scaling", "purchase")).status_code == 404
    assert client_of(vic).get("/plans/studies/scaling/?job=x").status_code == 404


@pytest.mark.parametrize("key", sorted(STUDIES))
def test_a_plans_version_fills_the_form(key, plan, vic, client_of):
    page = client_of(vic).get(f"/plans/studies/{key}/?plan={plan.plan_id}.1").content.decode()
    assert f'name="plan" value="{plan.plan_id}.1"' in page
    fields = STUDIES[key].form.base_fields
    if "model" in fields:
        assert '<option value="plan" selected>' in page
    if "nodes" in fields:
        assert 'name="nodes" value="16"' in page
    if "accelerator" in fields and key != "claims":
        assert '<option value="nvidia-h100-sxm5-80gb" selected>' in page


def test_the_plan_of_another_cluster_fills_nothing(plan, eve, client_of):
    assert client_of(eve).get(f"/plans/studies/claims/?plan={plan.plan_id}.1").status_code == 404
    assert client_of(eve).get("/plans/studies/claims/?plan=x").status_code == 400


def test_what_was_left_out_of_a_sent_form_is_empty_and_of_a_link_is_not(vic, client_of):
    sent = STUDIES["claims"].form.start | {"asked": "1"}
    del sent["gain_percent"]
    browser = client_of(vic)
    assert "Cards that the gain is worth" not in browser.get("/plans/studies/claims/", sent).content.decode()
    link = browser.get("/plans/studies/claims/", {"cards_before": 256}).content.decode()
    assert "Cards that the gain is worth" in link and 'name="cards_before" value="256"' in link


@pytest.mark.parametrize("key", sorted(STUDIES))
def test_whoever_may_read_any_cluster_may_compute(key, vic, chen, bo, ada, eve, api):
    expected = 202 if STUDIES[key].is_long else 200
    for person in (vic, chen, bo, ada, eve):
        assert api(person).post(f"/api/v1/planning/{key}/", {}, format="json").status_code == expected
    assert api(None).post(f"/api/v1/planning/{key}/", {}, format="json").status_code == 401


def test_every_field_of_a_study_is_shown_under_a_heading():
    for key, study in STUDIES.items():
        shown = [name for _title, names in study.form.groups for name in names]
        assert sorted(shown) == sorted(study.form.base_fields), key
        assert set(study.form.start) <= set(study.form.base_fields), key


def test_the_sensitivity_of_a_plan_starts_from_its_own_step(bo, cluster, api, run_jobs):
    document = LLAMA_70B | {
        "system": LLAMA_70B["system"] | {"measured": {"scale_up_busbw_gb_s": 200, "source": "run 7"}},
        "parallel": LLAMA_70B["parallel"] | {"overlap": {"tp": False}},
    }
    actor = actor_for(bo)
    version = create_plan(actor=actor, scope_id=cluster.scope_id, name="Measured", document=document)
    run_jobs()
    version.refresh_from_db()
    token = factories.bearer(bo, "read")
    body = {"plan": f"{version.plan_id}.1"}
    answer = api(token).post("/api/v1/planning/sensitivity/", body, format="json").json()
    assert answer["result"]["iteration_time_s"] == version.result["iteration_time_s"]
    rows = {row["name"]: row for row in answer["result"]["assumptions"]}
    assert (rows["scale_up_busbw_gb_s"]["source"], rows["scale_up_busbw_gb_s"]["confidence"]) == (
        "run 7",
        "measured",
    )
    other = (
        api(token).post("/api/v1/planning/sensitivity/", body | {"scale_up_gb_s": 100}, format="json").json()
    )
    assert "measured" not in other["input"], "what was measured there says nothing about another system"
