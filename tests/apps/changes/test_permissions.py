"""Role × endpoint of changes, over REST and on pages. What is missing here fails the last tests."""

from __future__ import annotations

from typing import Any

import pytest

from apps.changes import urls
from apps.changes.api.urls import urlpatterns
from apps.core.rights import Role, TokenScope
from tests import factories
from tests.apps.changes.conftest import NEW

READ = {"vic": 200, "bo": 200, "chen": 200, "eve": 404}
OPERATE = {"vic": 403, "chen": 403, "eve": 404}
ITEMS = [{"component": "nccl", "versions": [NEW]}]
CONTENT = {"title": "New NCCL", "reason": "hangs", "items": ITEMS}
REASON = {"reason": "because"}
EVERY_SCOPE = [*TokenScope]

# state of the change, name of the address, method, body, status by person; bo asked for it, chen approves
TABLE: list[tuple[str, str, str, Any, dict[str, int]]] = [
    ("drafted", "changes", "get", None, READ | {"eve": 200}),
    ("drafted", "changes", "post", CONTENT | {"domain_id": 0, "kind": "nccl"}, OPERATE | {"bo": 201}),
    ("drafted", "change", "get", None, READ),
    ("drafted", "change", "put", CONTENT, OPERATE | {"bo": 200}),
    ("started", "snapshot", "get", None, READ),
    ("drafted", "snapshot", "get", None, {"bo": 404}),
    ("drafted", "inventory", "get", None, READ),
    ("drafted", "submit", "post", None, OPERATE | {"bo": 200}),
    ("submitted", "approve", "post", {}, {"vic": 403, "bo": 403, "chen": 200, "eve": 404}),
    ("submitted", "refuse", "post", {"note": "no"}, {"vic": 403, "bo": 403, "chen": 200, "eve": 404}),
    ("submitted", "refuse", "post", {}, {"chen": 400}),
    ("approved", "start", "post", None, OPERATE | {"bo": 200}),
    ("submitted", "start", "post", None, {"bo": 409}),
    ("started", "pass_stage", "post", None, OPERATE | {"bo": 409}),
    ("started", "finish", "post", None, OPERATE | {"bo": 409}),
    ("started", "fail", "post", REASON, OPERATE | {"bo": 200}),
    ("submitted", "cancel", "post", REASON, OPERATE | {"bo": 200}),
    ("started", "roll_back", "post", REASON, OPERATE | {"bo": 201}),
    ("started", "review", "post", {"review": "fine"}, {"vic": 403, "bo": 403, "chen": 409, "eve": 404}),
    ("drafted", "rollbacks", "post", REASON | {"domain_id": 0}, OPERATE | {"bo": 409}),
]
BY_PERSON_ONLY = ("approve", "refuse", "start", "roll_back", "review", "rollbacks")


def address(name: str, change) -> str:
    route = next(str(one.pattern) for one in urlpatterns if one.name == name)
    return "/api/v1/" + route.replace("<int:change_id>", str(change.pk))


def send(caller, method, name, change, body, *, version=None):
    if body and "domain_id" in body:
        body = body | {"domain_id": change.domain_id}
    headers = {"If-Match": f'"v{version or change.version}"'}
    return getattr(caller, method)(address(name, change), body, format="json", headers=headers)


@pytest.mark.parametrize(("state", "name", "method", "body", "answers"), TABLE)
def test_each_role_gets_its_answer(state, name, method, body, answers, request, statuses_of, api):
    change = request.getfixturevalue(state)()
    assert answers == statuses_of(answers, lambda person: send(api(person), method, name, change, body))


def test_every_endpoint_is_in_the_table():
    assert {one.name for one in urlpatterns} == {name for _state, name, *_rest in TABLE}


@pytest.mark.parametrize("name", BY_PERSON_ONLY)
def test_no_token_decides_for_a_person_whatever_its_scopes(name, submitted, chen, cluster, api):
    factories.grant(chen, Role.OPERATOR, scope=cluster.scope)
    change = submitted()
    body = {"note": "x", "reason": "x", "review": "x", "domain_id": 0}
    answer = send(api(factories.bearer(chen, *EVERY_SCOPE)), "post", name, change, body)
    assert (answer.status_code, answer.json()["code"]) == (403, "person_required")


@pytest.mark.parametrize(
    ("name", "method", "state"),
    [(name, method, state) for state, name, method, _b, _a in TABLE if method != "get"],
)
def test_a_token_that_only_reads_changes_nothing(name, method, state, request, bo, api):
    change = request.getfixturevalue(state)()
    answer = send(
        api(factories.bearer(bo, "read")), method, name, change, CONTENT | REASON | {"domain_id": 0}
    )
    assert answer.status_code == 403
    before = change.state
    change.refresh_from_db()
    assert change.state == before


@pytest.mark.parametrize(
    ("name", "method", "body"),
    [
        ("change", "put", CONTENT),
        ("submit", "post", None),
        ("approve", "post", {}),
        ("refuse", "post", {"note": "no"}),
        ("start", "post", None),
        ("pass_stage", "post", None),
        ("finish", "post", None),
        ("fail", "post", REASON),
        ("cancel", "post", REASON),
        ("roll_back", "post", REASON),
    ],
)
def test_a_step_names_the_version_that_was_seen(name, method, body, submitted, bo, chen, cluster, api):
    factories.grant(chen, Role.OPERATOR, scope=cluster.scope)
    change = submitted()
    if name == "submit":
        change = request_draft(change)
    caller = api(chen)
    without = getattr(caller, method)(address(name, change), body, format="json")
    assert (without.status_code, without.json()["code"]) == (428, "version_required")
    if name not in ("pass_stage", "finish", "fail", "start", "roll_back"):
        stale = send(caller, method, name, change, body, version=change.version + 5)
        assert (stale.status_code, stale.json()["code"]) == (412, "stale")


def request_draft(change):
    type(change).objects.filter(pk=change.pk).update(state="draft")
    change.refresh_from_db()
    return change


PAGES: list[tuple[str, str, str, dict[str, int]]] = [
    ("drafted", "changes", "get", READ | {"eve": 200}),
    ("drafted", "new", "get", {"vic": 403, "bo": 200, "chen": 403, "eve": 200}),
    ("drafted", "roll_back_to", "get", OPERATE | {"bo": 200}),
    ("drafted", "change", "get", READ),
    ("drafted", "edit", "get", OPERATE | {"bo": 200}),
    ("started", "snapshot", "get", READ),
    ("drafted", "inventory", "get", READ),
    ("drafted", "submit", "post", OPERATE | {"bo": 302}),
    ("submitted", "approve", "post", {"vic": 403, "bo": 403, "chen": 302, "eve": 404}),
    ("approved", "start", "post", OPERATE | {"bo": 302}),
    ("started", "pass_stage", "post", OPERATE | {"bo": 302}),
    ("started", "finish", "post", OPERATE | {"bo": 302}),
    ("started", "fail", "post", OPERATE | {"bo": 302}),
    ("submitted", "cancel", "post", OPERATE | {"bo": 302}),
    ("started", "roll_back", "get", OPERATE | {"bo": 200}),
    ("started", "review", "post", {"vic": 403, "bo": 403, "chen": 409, "eve": 404}),
]


@pytest.mark.parametrize(("state", "name", "method", "answers"), PAGES)
def test_each_role_gets_its_page(state, name, method, answers, request, statuses_of, client_of):
    change = request.getfixturevalue(state)()
    route = next(str(one.pattern) for one in urls.urlpatterns if one.name == name)
    path = "/" + route.replace("<int:change_id>", str(change.pk))
    body = {"version": change.version, "voice": "approve", "reason": "x", "review": "x"}

    def send(person):
        if name == "roll_back_to" or (name == "new" and person.name != "Eve"):
            return client_of(person).get(f"{path}?domain={change.domain_id}")
        return client_of(person).get(path) if method == "get" else client_of(person).post(path, body)

    assert answers == statuses_of(answers, send)


def test_every_page_is_in_the_table():
    assert {one.name for one in urls.urlpatterns} == {name for _state, name, *_rest in PAGES}
