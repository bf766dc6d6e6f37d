"""Role × endpoint of launches, over REST and on pages. What is missing here fails the last tests."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from apps.core import clock
from apps.core.rights import TokenScope
from apps.launches import services, urls
from apps.launches.api.urls import urlpatterns
from apps.launches.models import Waiver
from tests import factories
from tests.callers import actor_for

READ = {"vic": 200, "bo": 200, "sun": 200, "eve": 404}
OPERATE = {"vic": 403, "sun": 403, "eve": 404}
ANSWER = {"item": "timeouts_sane", "verdict": "pass", "note": "seen"}
WAIVER = {"item": "no_drift", "reason": "known", "expires_at": (clock.now() + timedelta(days=1)).isoformat()}
OPEN = {"cluster": "hall-1", "domain_id": 0, "title": "Second"}
EDIT = {"title": "Llama", "plan_version_id": None, "job_environment": ""}
SIGN = {"digest": "", "go": True}
REASON = {"reason": "because"}

TABLE: list[tuple[str, str, Any, dict[str, int]]] = [
    ("launches", "get", None, READ | {"eve": 200}),
    ("launches", "post", OPEN, OPERATE | {"bo": 201}),
    ("launch", "get", None, READ),
    ("launch", "patch", EDIT, OPERATE | {"bo": 200}),
    ("start", "post", None, OPERATE | {"bo": 409}),
    ("finish", "post", REASON, OPERATE | {"bo": 409}),
    ("cancel", "post", REASON, OPERATE | {"bo": 200}),
    ("gate", "get", None, READ),
    ("evaluations", "post", None, {"vic": 200, "bo": 200, "eve": 404}),
    ("evaluations", "post", {"anew": True}, OPERATE | {"bo": 202}),
    ("answers", "post", ANSWER, {"vic": 403, "bo": 201, "sun": 201, "eve": 404}),
    ("waivers", "post", WAIVER, OPERATE | {"bo": 201}),
    ("approve_waiver", "post", None, {"vic": 403, "bo": 403, "sun": 200, "eve": 404}),
    ("revoke_waiver", "post", REASON, {"vic": 403, "bo": 403, "sun": 200, "eve": 404}),
    ("evaluation", "get", None, READ),
    ("sign", "post", SIGN, {"vic": 403, "bo": 403, "sun": 201, "eve": 404}),
]
PAGES: list[tuple[str, str, dict[str, int]]] = [
    ("launches", "get", READ | {"eve": 200}),
    ("open", "get", {"bo": 200}),
    ("launch", "get", READ),
    ("edit", "get", OPERATE | {"bo": 200}),
    ("evaluate", "post", {"vic": 302, "bo": 302, "eve": 404}),
    ("answer", "get", {"bo": 302, "eve": 404}),
    ("answer", "post", {"vic": 403, "bo": 302, "sun": 302, "eve": 404}),
    ("waive", "post", OPERATE | {"bo": 302}),
    ("roll_back", "post", OPERATE | {"bo": 302}),
    ("start", "post", OPERATE | {"bo": 409}),
    ("finish", "post", OPERATE | {"bo": 409}),
    ("cancel", "post", OPERATE | {"bo": 302}),
    ("evaluation", "get", READ),
    ("sign", "post", {"vic": 403, "bo": 403, "sun": 302, "eve": 404}),
    ("approve_waiver", "post", {"vic": 403, "bo": 403, "sun": 302, "eve": 404}),
    ("revoke_waiver", "post", {"vic": 403, "bo": 403, "sun": 302, "eve": 404}),
]
BY_PERSON_ONLY = ("answers", "waivers", "approve_waiver", "revoke_waiver", "sign")


@pytest.fixture
def ready(answered, evaluated, bo) -> dict[str, Any]:
    """A launch that waits for a signature, with a waiver that waits too, by the parts of addresses."""
    launch = answered()
    waiver = services.ask_waiver(
        actor=actor_for(bo),
        launch_id=launch.pk,
        item="no_drift",
        reason="known",
        expires_at=clock.now() + timedelta(hours=1),
    )
    return {
        "launch": launch,
        "<uuid:launch_id>": launch.pk,
        "<uuid:evaluation_id>": evaluated(launch).pk,
        "<int:waiver_id>": waiver.pk,
        "<slug:item>": "timeouts_sane",
        "digest": evaluated(launch).digest,
    }


def address(patterns, name: str, parts: dict[str, Any]) -> str:
    route = next(str(one.pattern) for one in patterns if one.name == name)
    for part, value in parts.items():
        route = route.replace(part, str(value)) if part.startswith("<") else route
    return route


def send(caller, name, method, body, ready, **headers):
    launch = ready["launch"]
    if body and "digest" in body:
        body = body | {"digest": ready["digest"]}
    if body and "domain_id" in body:
        body = body | {"domain_id": launch.domain_id}
    path = "/api/v1/" + address(urlpatterns, name, ready)
    given = {"If-Match": f'"v{launch.version}"'} | headers
    return getattr(caller, method)(path, body, format="json", headers=given)


@pytest.mark.parametrize(("name", "method", "body", "answers"), TABLE)
def test_each_role_gets_its_answer(name, method, body, answers, ready, statuses_of, api):
    newest = ready | {"<uuid:evaluation_id>": ready["launch"].evaluations.first().pk}
    assert answers == statuses_of(answers, lambda person: send(api(person), name, method, body, newest))


def test_every_endpoint_is_in_the_table():
    assert {one.name for one in urlpatterns} == {name for name, *_rest in TABLE}


@pytest.mark.parametrize("name", BY_PERSON_ONLY)
def test_no_token_decides_for_a_person_whatever_its_scopes(name, ready, sun, api):
    body = {"answers": ANSWER, "waivers": WAIVER, "sign": SIGN, "revoke_waiver": REASON}.get(name)
    answer = send(api(factories.bearer(sun, *TokenScope)), name, "post", body, ready)
    assert (answer.status_code, answer.json()["code"]) == (403, "person_required")


@pytest.mark.parametrize(("name", "method"), [(n, m) for n, m, _b, _a in TABLE if m != "get"])
def test_a_token_that_only_reads_changes_nothing(name, method, ready, bo, api):
    body = OPEN | EDIT | ANSWER | WAIVER | REASON | SIGN
    assert send(api(factories.bearer(bo, "read")), name, method, body, ready).status_code == 403
    assert not Waiver.objects.filter(approved_at__isnull=False).exists()


def test_a_token_that_only_evaluates_asks_the_gate_and_nothing_else(ready, bo, api):
    caller = api(factories.bearer(bo, TokenScope.GATE_EVALUATE))
    assert send(caller, "gate", "get", None, ready).status_code == 200
    assert send(caller, "evaluations", "post", None, ready).status_code == 200
    assert send(caller, "evaluations", "post", {"anew": True}, ready).status_code == 403
    assert send(caller, "cancel", "post", REASON, ready).status_code == 403


@pytest.mark.parametrize("name", ["start", "finish", "cancel"])
def test_a_step_names_the_version_that_was_seen(name, ready, bo, api):
    path = "/api/v1/" + address(urlpatterns, name, ready)
    without = api(bo).post(path, REASON, format="json")
    assert (without.status_code, without.json()["code"]) == (428, "version_required")
    if name == "cancel":
        stale = send(api(bo), name, "post", REASON, ready, **{"If-Match": '"v77"'})
        assert (stale.status_code, stale.json()["code"]) == (412, "stale")


@pytest.mark.parametrize(("name", "method", "answers"), PAGES)
def test_each_role_gets_its_page(name, method, answers, ready, statuses_of, client_of):
    newest = ready["launch"].evaluations.first()
    parts = ready | {"<uuid:evaluation_id>": newest.pk}
    path = "/" + address(urls.urlpatterns, name, parts)
    body = {"version": ready["launch"].version, "go": "1", "digest": newest.digest, "hours": "8"}
    body |= REASON | {"verdict-timeouts_sane": "pass", "note-timeouts_sane": "seen"}
    sent = body if method == "post" else None
    assert answers == statuses_of(answers, lambda person: getattr(client_of(person), method)(path, sent))


def test_every_page_is_in_the_table():
    assert {one.name for one in urls.urlpatterns} == {name for name, *_rest in PAGES}
