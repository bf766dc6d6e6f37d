"""Role × endpoint of health over REST. What is missing here fails the last test."""

from __future__ import annotations

from typing import Any

import pytest

from apps.core.rights import TokenScope
from apps.health import services
from apps.health.api.urls import urlpatterns
from apps.health.models import FaultRecord
from tests import factories

pytestmark = pytest.mark.django_db

READ = {"vic": 200, "bo": 200, "eve": 404}
LIST = READ | {"eve": 200}
OPERATE = {"vic": 403, "eve": 404}
RULE = {"enabled": False, "warn": 83, "fail": 90, "reason": "x"}
POLICY = {"automatic_quarantine": True, "most_share": 0.2}
SOURCE = {"url": "https://prometheus.example.com"}
UPKEEP = {"cluster": "hall-1", "kind": "fittings", "title": "Hoses", "every_days": 30}

# name of the address, method, body, status by person
TABLE: list[tuple[str, str, Any, dict[str, int]]] = [
    ("faults", "get", None, LIST),
    ("fault", "get", None, READ),
    ("resolve", "post", {"resolution": "x"}, OPERATE | {"bo": 200}),
    ("states", "get", None, LIST),
    ("proposals", "get", None, LIST),
    ("rules", "get", None, LIST),
    ("rule", "put", RULE, {"vic": 403, "bo": 403, "ada": 200, "eve": 403}),
    ("policy", "get", None, READ),
    ("policy", "put", POLICY, {"vic": 403, "bo": 403, "ada": 200, "eve": 404}),
    ("metrics_source", "get", None, {"vic": 403, "bo": 403, "ada": 404, "eve": 404}),
    ("metrics_source", "put", SOURCE, {"vic": 403, "bo": 403, "ada": 200, "eve": 404}),
    ("metrics_source", "delete", None, {"vic": 403, "bo": 403, "ada": 412, "eve": 404}),
    ("fetch_metrics", "post", None, {"vic": 403, "bo": 403, "ada": 404, "eve": 404}),
    ("knowledge", "get", None, LIST),
    ("item", "get", None, LIST),
    ("diagnoses", "post", {"text": "Xid"}, LIST),
    ("upkeep", "get", None, LIST),
    ("upkeep", "post", UPKEEP, OPERATE | {"bo": 201}),
    ("task", "get", None, READ),
    ("records", "get", None, READ),
    ("records", "post", {"note": "fine"}, OPERATE | {"bo": 201}),
    ("retire", "post", {"reason": "x"}, OPERATE | {"bo": 200}),
]
_SET_ONCE = ("rule", "policy", "metrics_source")


@pytest.fixture
def there(node: Any, see_xid: Any, actor_for: Any, bo: Any) -> dict[str, str]:
    """A fault and upkeep; what stands for each placeholder, by the name of the address."""
    see_xid(node, 79)
    task = services.plan_upkeep(
        actor=actor_for(bo), cluster_id=node.cluster_id, kind="fittings", title="Hoses", every_days=30
    )
    fault = str(FaultRecord.objects.get().pk)
    return {"fault": fault, "resolve": fault} | {name: str(task.pk) for name in ("task", "records", "retire")}


def _send(caller: Any, method: str, name: str, body: Any, there: dict[str, str]) -> Any:
    route = next(str(one.pattern) for one in urlpatterns if one.name == name)
    place = route.replace("<int:pk>", there.get(name, "")).replace("<slug:slug>", "hall-1")
    place = place.replace("<slug:rule_id>", "gpu-temperature").replace("<slug:item_id>", "comm-init-timeout")
    headers = {"If-Match": '"v0"' if name in _SET_ONCE else '"v1"'}
    return getattr(caller, method)(f"/api/v1/{place}", body, format="json", headers=headers)


@pytest.mark.parametrize(("name", "method", "body", "answers"), TABLE)
def test_each_role_gets_its_answer(
    name: str, method: str, body: Any, answers: dict[str, int], there: Any, statuses_of: Any, api: Any
) -> None:
    found = statuses_of(answers, lambda person: _send(api(person), method, name, body, there))

    assert found == answers


@pytest.mark.parametrize(
    ("name", "method", "body"),
    [(name, method, body) for name, method, body, _who in TABLE if method != "get" and name != "diagnoses"],
)
def test_a_token_that_only_reads_changes_nothing(
    name: str, method: str, body: Any, there: Any, api: Any, ada: Any
) -> None:
    answer = _send(api(factories.bearer(ada, TokenScope.READ)), method, name, body, there)

    assert answer.status_code == 403


def test_a_log_is_diagnosed_with_lines_in_the_language_asked_for(api: Any, vic: Any) -> None:
    log = "ok\nTimed out waiting for clients; 7/8 clients joined.\nbind docker0\n"
    answers = {
        language: api(factories.bearer(vic)).post(
            "/api/v1/diagnoses/", {"text": log}, headers={"Accept-Language": language}
        )
        for language in ("en", "zh-hans")
    }

    english = answers["en"].json()
    assert english["lines"] == 3
    assert (english["symptoms"][0]["id"], english["symptoms"][0]["sightings"][0]["line"]) == (
        "comm-init-timeout",
        2,
    )
    assert english["symptoms"][0]["causes"][0]["evidence"]
    assert answers["zh-hans"].json()["symptoms"][0]["title"] == "通信组初始化超时"


def test_proposals_say_what_holds_them_back(there: Any, api: Any, vic: Any) -> None:
    (row,) = api(factories.bearer(vic)).get("/api/v1/quarantine-proposals/").json()

    assert (row["node"], row["step"], row["reasons"], row["held_back"]) == (
        "n0",
        "quarantine",
        ["xid:79"],
        "policy",
    )


def test_every_endpoint_is_in_the_table() -> None:
    assert {one.name for one in urlpatterns} == {name for name, *_rest in TABLE}
