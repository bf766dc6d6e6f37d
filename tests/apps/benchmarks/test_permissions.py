"""Role × endpoint: who may do what over REST. An endpoint that is missing here fails the last test."""

from __future__ import annotations

from typing import Any

import pytest

from apps.benchmarks.api.urls import urlpatterns
from tests import factories
from tests.apps.benchmarks.runs import accepted, domain_of, recorded

pytestmark = pytest.mark.django_db

READ = {"vic": 200, "chen": 200, "bo": 200, "ada": 200}
STATE = {"collective": "all_reduce"}
BASELINE = {"run_id": "{accepted}", "reason": "x"}

TABLE: list[tuple[str, str, Any, dict[str, int]]] = [
    ("runs", "get", None, READ | {"eve": 200}),
    ("run", "get", None, READ | {"eve": 404}),
    ("collective", "post", STATE, {"vic": 403, "chen": 403, "bo": 200, "ada": 200, "eve": 404}),
    ("baselines", "get", None, READ | {"eve": 200}),
    ("baselines", "post", BASELINE, {"vic": 403, "chen": 403, "bo": 201, "ada": 201, "eve": 404}),
]


@pytest.fixture
def runs(cluster) -> dict[str, int]:
    domain = domain_of(cluster)
    return {"silent": recorded(domain)[0].pk, "accepted": accepted(domain).pk}


@pytest.mark.parametrize(("name", "method", "body", "answers"), TABLE)
def test_each_role_gets_its_answer(name, method, body, answers, runs, statuses_of, api):
    route = next(str(one.pattern) for one in urlpatterns if one.name == name)
    address = route.replace("<int:run_id>", str(runs["silent"]))
    if isinstance(body, dict):
        body = {key: runs["accepted"] if value == "{accepted}" else value for key, value in body.items()}
    assert answers == statuses_of(
        answers, lambda person: getattr(api(person), method)(f"/api/v1/{address}", body, format="json")
    )


def test_lists_hold_nothing_of_other_clusters(runs, eve, api):
    assert api(eve).get("/api/v1/benchmark-runs/").json()["results"] == []


def test_a_token_states_no_collective_but_sets_a_baseline(runs, bo, api):
    token = api(factories.bearer(bo, "read", "benchmark:write"))
    refused = token.post(f"/api/v1/benchmark-runs/{runs['silent']}/collective/", STATE, format="json")
    assert (refused.status_code, refused.json()["code"]) == (403, "person_required")
    body = {"run_id": runs["accepted"], "reason": "x"}
    assert token.post("/api/v1/baselines/", body, format="json").status_code == 201


def test_a_token_without_its_scope_sets_no_baseline(runs, bo, api):
    token = api(factories.bearer(bo, "read", "plan:write"))
    answer = token.post("/api/v1/baselines/", {"run_id": runs["accepted"], "reason": "x"}, format="json")
    assert (answer.status_code, answer.json()["code"]) == (403, "token_scope")


def test_a_run_comes_with_its_verdict_and_rows(runs, vic, api):
    body = api(vic).get(f"/api/v1/benchmark-runs/{runs['accepted']}/").json()
    assert body["acceptance"]["verdict"] == "pass" and body["acceptance"]["share"] == pytest.approx(
        0.9, abs=0.01
    )
    assert body["points"][-1]["size_bytes"] == body["max_size_bytes"]
    silent = api(vic).get(f"/api/v1/benchmark-runs/{runs['silent']}/").json()
    assert silent["acceptance"]["reason"] == "collective_unknown" and "all_reduce" in silent["candidates"]


def test_an_unknown_filter_is_refused(vic, api):
    answer = api(vic).get("/api/v1/benchmark-runs/?colective=all_reduce")
    assert (answer.status_code, answer.json()["code"]) == (400, "unknown_filter")


def test_the_list_asks_as_many_questions_for_many_runs(runs, cluster, vic, api, assert_constant_queries):
    domain, caller = cluster.domains.get(), api(vic)

    def more():
        for number in range(20):
            recorded(domain, collective="all_reduce", **{f"x{number}": 1})

    assert_constant_queries(lambda: caller.get("/api/v1/benchmark-runs/"), more)


def test_every_endpoint_is_in_the_table():
    assert {pattern.name for pattern in urlpatterns} == {name for name, *_rest in TABLE}
