"""Role × endpoint: who may do what over REST. An endpoint that is missing here fails the last test."""

from __future__ import annotations

from typing import Any

import pytest

from apps.planning import services
from apps.planning.api.urls import urlpatterns
from tests import factories
from tests.apps.planning.documents import SEARCH, small
from tests.callers import actor_for

pytestmark = pytest.mark.django_db

READ = {"vic": 200, "chen": 200, "bo": 200, "ada": 200}
NEW = {"cluster": "hall-1", "name": "new", "document": small()}
ASK = {"cluster": "hall-1", "document": small()}
STEP = {"measured_s": 1.5, "source": "job 7"}
WRITE = {"vic": 403, "chen": 403, "bo": 202, "ada": 202, "eve": 404}

TABLE: list[tuple[str, str, Any, dict[str, int]]] = [
    ("plans", "get", None, READ | {"eve": 200}),
    ("plans", "post", NEW, WRITE),
    ("plan", "get", None, READ | {"eve": 404}),
    ("versions", "get", None, READ | {"eve": 404}),
    ("versions", "post", {"document": small(tp=4, dp=1)}, WRITE),
    ("version", "get", None, READ | {"eve": 404}),
    ("use_for_launch", "post", {}, {"vic": 403, "chen": 403, "bo": 200, "ada": 200, "eve": 404}),
    ("take", "post", {"place": 1}, WRITE),
    ("ablations", "get", None, READ | {"eve": 404}),
    ("take_ablation", "post", {"place": 1}, WRITE),
    ("compute_again", "post", {}, {"vic": 403, "chen": 403, "bo": 409, "ada": 409, "eve": 404}),
    ("note", "post", STEP, {"vic": 403, "chen": 403, "bo": 201, "ada": 201, "eve": 404}),
    ("measured_steps", "get", None, READ | {"eve": 200}),
    ("withdraw", "post", {"reason": "x"}, {"vic": 403, "chen": 403, "bo": 200, "ada": 200, "eve": 404}),
    ("calibration", "get", None, READ | {"eve": 404}),
    ("models", "get", None, READ | {"eve": 200}),
    ("validation", "get", None, READ | {"eve": 200}),
    ("estimates", "post", ASK, WRITE),
]


@pytest.fixture
def plans(cluster, bo, run_jobs) -> dict[str, int]:
    """A computed plan of a domain with a measured step, and a search that is done."""
    domain = factories.domain(cluster)
    made = {
        name: services.create_plan(
            actor=actor_for(bo),
            scope_id=cluster.scope_id,
            name=name,
            document=document,
            domain_id=domain.pk,
        ).plan_id
        for name, document in (("estimate", small()), ("search", SEARCH))
    }
    run_jobs()
    step = services.note_measured_step(actor=actor_for(bo), plan_id=made["estimate"], number=1, **STEP)
    return made | {"step": step.pk, "domain": domain.pk}


@pytest.mark.parametrize(("name", "method", "body", "answers"), TABLE)
def test_each_role_gets_its_answer(name, method, body, answers, plans, statuses_of, api):
    route = next(str(one.pattern) for one in urlpatterns if one.name == name)
    plan_id = plans["search" if name == "take" else "estimate"]
    address = route.replace("<int:plan_id>", str(plan_id)).replace("<int:number>", "1")
    address = address.replace("<int:step_id>", str(plans["step"]))
    address = address.replace("<int:domain_id>", str(plans["domain"]))
    assert answers == statuses_of(
        answers, lambda person: getattr(api(person), method)(f"/api/v1/{address}", body, format="json")
    )


def test_lists_hold_nothing_of_other_clusters(plans, eve, api):
    for name in ("plans", "measured-steps"):
        assert api(eve).get(f"/api/v1/{name}/").json()["results"] == []


def test_asking_answers_with_the_job_and_the_job_with_the_answer(cluster, bo, api, run_jobs):
    caller = api(factories.bearer(bo, "read", "plan:write"))
    asked = caller.post("/api/v1/plans/", NEW, format="json")
    assert asked.status_code == 202 and asked.json()["result"] is None
    run_jobs()
    job = caller.get(asked["Location"]).json()
    assert job["state"] == "succeeded"
    version = caller.get(f"/api/v1/plans/{asked.json()['plan_id']}/versions/1/").json()
    assert version["fits"] is True and version["result"]["memory"]["stages"]


def test_an_estimate_without_a_plan_is_the_result_of_its_job(cluster, bo, api, run_jobs):
    caller = api(factories.bearer(bo, "read", "plan:write"))
    asked = caller.post("/api/v1/plan-estimates/", ASK, format="json")
    run_jobs()
    assert caller.get(asked["Location"]).json()["result"]["memory"]["fits"] is True


def test_a_wrong_document_is_refused_with_pointers(cluster, bo, api):
    body = NEW | {"document": small(tp=3)}
    answer = api(bo).post("/api/v1/plans/", body, format="json")
    assert answer.status_code == 400
    assert "/parallel/tp" in {error["pointer"] for error in answer.json()["errors"]}


@pytest.mark.parametrize("document", [{}, {"model": 1}, {"model": {}, "system": {}, "parallel": None}])
def test_a_document_of_another_shape_is_refused(cluster, bo, api, document):
    answer = api(bo).post("/api/v1/plan-estimates/", ASK | {"document": document}, format="json")
    assert answer.status_code == 400


def test_a_token_without_its_scope_asks_nothing(cluster, bo, api):
    answer = api(factories.bearer(bo, "read")).post("/api/v1/plans/", NEW, format="json")
    assert (answer.status_code, answer.json()["code"]) == (403, "token_scope")


def test_every_endpoint_is_in_the_table():
    own = {pattern.name for pattern in urlpatterns if not pattern.name.startswith("study_")}
    assert own == {name for name, *_rest in TABLE}
