"""Probes, reports of refused content, the API's document and page."""

from __future__ import annotations

import json
import logging

import pytest
import yaml
from django.core.management import call_command

from apps.core import probes
from apps.core.rights import Role
from apps.jobs import readiness, services
from tests import factories

pytestmark = pytest.mark.django_db


def test_the_process_answers_without_looking_at_anything(client, count_queries):
    assert count_queries(lambda: client.get("/healthz")) == 0
    assert client.get("/healthz").json() == {"status": "ok"}


def test_the_portal_is_ready_when_all_is_at_hand(client):
    missing = client.get("/readyz")
    assert (missing.status_code, missing.json()["checks"]["worker"]) == (503, "not seen")
    services.beat("worker")
    ready = client.get("/readyz")
    assert (ready.status_code, set(ready.json()["checks"].values())) == (200, {"ok"})


def test_a_trigger_that_was_lost_is_told_by_name(client, monkeypatch):
    services.beat("worker")
    monkeypatch.setattr(readiness.triggers, "missing", lambda: ["audit_event_kept"])
    answer = client.get("/readyz")
    assert (answer.status_code, answer.json()["checks"]["triggers"]) == (503, "missing: audit_event_kept")


def test_a_broker_that_is_away_is_told(client, settings, monkeypatch):
    class Away:
        def __enter__(self):
            return self

        def __exit__(self, *_details):
            return None

        def ensure_connection(self, **_limits):
            raise OSError

    services.beat("worker")
    monkeypatch.setattr(readiness.current_app, "connection_for_write", lambda **_limits: Away())
    answer = client.get("/readyz")
    assert (answer.status_code, answer.json()["checks"]["broker"]) == (503, "unreachable")


def test_robots_are_asked_to_stay_away(client):
    assert b"Disallow: /" in client.get("/robots.txt").content


REPORT = {
    "csp-report": {
        "document-uri": "http://testserver/plans/",
        "violated-directive": "style-src",
        "blocked-uri": "inline",
        "script-sample": "secret",
    }
}


def test_a_refusal_of_the_browser_is_logged_without_its_sample(client, caplog):
    with caplog.at_level(logging.WARNING):
        answer = client.post("/csp-report/", json.dumps(REPORT), content_type="application/csp-report")
    assert answer.status_code == 204
    assert "style-src" in caplog.text
    assert "secret" not in caplog.text


@pytest.mark.parametrize("body", ["", "[]", "{}", '{"csp-report": 1}', "no json", "[" * 5000])
def test_an_odd_report_is_taken_quietly(client, body):
    assert client.post("/csp-report/", body, content_type="application/csp-report").status_code == 204


def test_reports_cannot_fill_the_log(client, caplog):
    with caplog.at_level(logging.WARNING):
        client.post("/csp-report/", "x" * 9000, content_type="application/csp-report")
        assert caplog.text == ""
        for _report in range(probes._REPORTS_A_MINUTE + 5):
            client.post("/csp-report/", json.dumps(REPORT), content_type="application/csp-report")
    assert caplog.text.count("style-src") <= 2 * probes._REPORTS_A_MINUTE


def test_a_report_is_taken_quietly_while_redis_is_away(client, settings, caplog):
    redis = {"BACKEND": "django.core.cache.backends.redis.RedisCache", "LOCATION": "redis://127.0.0.1:1/0"}
    settings.CACHES = {"default": redis}
    answer = client.post("/csp-report/", json.dumps(REPORT), content_type="application/csp-report")
    assert (answer.status_code, "style-src" in caplog.text) == (204, False)


def test_the_document_is_valid_and_without_warnings(tmp_path):
    path = tmp_path / "schema.yaml"
    call_command("spectacular", "--validate", "--fail-on-warn", "--file", str(path))
    document = yaml.safe_load(path.read_text())
    assert document["openapi"].startswith("3.1")
    for operations in document["paths"].values():
        for operation in operations.values():
            problem = operation["responses"]["default"]["content"]
            assert list(problem) == ["application/problem+json"]


def test_the_document_and_its_page_need_no_sign_in_and_no_network(client):
    assert client.get("/api/v1/schema/").status_code == 200
    page = client.get("/api/docs/")
    assert page.status_code == 200
    assert "//" not in page.content.decode().replace("<!doctype", "").replace("http://testserver", "")
    assert "unsafe" not in page["Content-Security-Policy"]


def test_the_root_leads_to_the_collections(client):
    links = client.get("/api/v1/").json()["links"]
    assert links["auth_check"] == "/api/v1/auth-check/"


@pytest.mark.parametrize(
    ("address", "method", "status", "code"),
    [
        ("/api/v1/people/", "get", 401, "not_signed_in"),
        ("/api/v1/nothing/", "get", 404, "missing"),
        ("/api/v1/auth-check/", "put", 405, "method_not_allowed"),
    ],
)
def test_every_refusal_of_the_api_is_a_problem_document(api, ada, address, method, status, code):
    caller = api(None if status == 401 else ada)
    answer = getattr(caller, method)(address)
    assert (answer.status_code, answer.json()["code"]) == (status, code)
    assert answer["Content-Type"] == "application/problem+json"
    assert answer.json()["request_id"] == answer["X-Request-Id"]


def test_a_wrong_media_type_is_told(api, ada):
    answer = api(ada).generic("POST", "/api/v1/service-accounts/", "a=1", content_type="text/csv")
    assert (answer.status_code, answer.json()["code"]) == (415, "wrong_media")


def test_a_session_without_the_csrf_token_is_refused(ada):
    from rest_framework.test import APIClient

    caller = APIClient(enforce_csrf_checks=True)
    caller.force_login(ada)
    body = {"name": "ci", "role": Role.VIEWER.value, "cluster": None}
    answer = caller.post("/api/v1/service-accounts/", body)
    assert (answer.status_code, answer.json()["code"]) == (403, "csrf")
    assert not factories.Person.objects.filter(kind="service").exists()
