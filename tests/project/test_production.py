"""The production settings: refused without secrets, clean for Django's deployment checks, usable behind a TLS proxy."""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.browser.portal_process import ROOT, Portal, portal

SECRETS = {
    name: hashlib.sha256(name.encode()).hexdigest()
    for name in ("PORTAL_SECRET_KEY", "PORTAL_TOKEN_PEPPER", "PORTAL_CHECKPOINT_SECRET")
}
PRODUCTION = {"PORTAL_PRODUCTION": "1", "PORTAL_PUBLIC_URL": "https://portal.example.com", **SECRETS}


def check(tmp_path: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """manage.py check --deploy with these variables and no others."""
    env = {"PATH": os.environ["PATH"], "PORTAL_DATA_DIR": str(tmp_path), **variables}
    command = [sys.executable, "manage.py", "check", "--deploy", "--fail-level", "WARNING"]
    return subprocess.run(command, env=env, cwd=ROOT, capture_output=True, text=True)


def test_the_deployment_checks_find_nothing(tmp_path):
    done = check(tmp_path, **PRODUCTION)
    assert (done.returncode, done.stderr.count("WARNINGS")) == (0, 0), done.stderr


def test_plain_http_in_production_is_told_by_the_deployment_checks(tmp_path):
    done = check(tmp_path, **PRODUCTION | {"PORTAL_PUBLIC_URL": "http://portal.example.com"})
    assert done.returncode == 1
    assert "SESSION_COOKIE_SECURE" in done.stderr


@pytest.mark.parametrize("name", SECRETS)
def test_production_does_not_start_without_a_secret(tmp_path, name):
    variables = {key: value for key, value in PRODUCTION.items() if key != name}
    done = check(tmp_path, **variables)
    assert done.returncode != 0
    assert f"{name} or {name}_FILE must be set in production" in done.stderr


def test_a_short_secret_is_refused(tmp_path):
    done = check(tmp_path, **PRODUCTION | {"PORTAL_SECRET_KEY": "changeme"})
    assert "PORTAL_SECRET_KEY: at least 40 characters" in done.stderr


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Portal]:
    """The portal as it runs behind a TLS proxy of which only plain HTTP arrives, with an administrator."""
    with portal(tmp_path_factory.mktemp("production"), **PRODUCTION, PORTAL_BEHIND_PROXY="1") as one:
        printed = one.manage("create_admin", "ada@example.com", "--name", "Ada")
        one.logins["admin"] = ("ada@example.com", re.search(r"password: (\S+)", printed)[1])
        one.start()
        yield one


def proxied(served: Portal, **headers: str) -> httpx.Client:
    """What a proxy passes on: the host that the browser asked for, over plain HTTP."""
    given = {"Host": "portal.example.com", **headers}
    return httpx.Client(base_url=served.url, headers=given, follow_redirects=False, trust_env=False)


def cookies_of(answer: httpx.Response) -> dict[str, str]:
    """Name to the whole header of each cookie that was set."""
    return {line.split("=", 1)[0]: line for line in answer.headers.get_list("set-cookie")}


def as_header(*answers: httpx.Response) -> str:
    """The Cookie header of a browser after these answers; the newer cookie counts."""
    lines = {name: line for answer in answers for name, line in cookies_of(answer).items()}
    return "; ".join(line.split(";")[0] for line in lines.values())


@pytest.mark.parametrize("forwarded", [{}, {"X-Forwarded-Proto": "https"}], ids=["no-header", "header"])
def test_signing_in_behind_a_tls_proxy_does_not_loop(served, forwarded):
    client = proxied(served, Origin="https://portal.example.com", **forwarded)
    form = client.get("/sign-in/")
    assert form.status_code == 200
    email, password = served.logins["admin"]
    token = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', form.text)[1]
    fields = {"username": email, "password": password, "csrfmiddlewaretoken": token}
    answer = client.post("/sign-in/", data=fields, headers={"Cookie": as_header(form)})
    assert (answer.status_code, answer.headers["location"]) == (302, "/")
    page = client.get("/", headers={"Cookie": as_header(form, answer)})
    assert (page.status_code, "Ada" in page.text) == (200, True)


def test_cookies_are_secure_and_the_session_is_hidden_from_scripts(served):
    client = proxied(served)
    form = client.get("/sign-in/")
    csrf = cookies_of(form)["csrftoken"]
    assert "Secure" in csrf and "SameSite=Lax" in csrf
    email, password = served.logins["admin"]
    token = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', form.text)[1]
    fields = {"username": email, "password": password, "csrfmiddlewaretoken": token}
    session = cookies_of(client.post("/sign-in/", data=fields, headers={"Cookie": as_header(form)}))[
        "sessionid"
    ]
    assert "Secure" in session and "HttpOnly" in session and "SameSite=Lax" in session


def test_a_form_of_another_site_is_refused(served):
    client = proxied(served)
    form = client.get("/sign-in/")
    token = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', form.text)[1]
    headers = {"Cookie": as_header(form), "Origin": "https://elsewhere.example.com"}
    answer = client.post("/sign-in/", data={"csrfmiddlewaretoken": token}, headers=headers)
    assert answer.status_code == 403


def test_another_host_is_not_served(served):
    assert proxied(served).get("/sign-in/", headers={"Host": "elsewhere.example.com"}).status_code == 400


def test_hsts_is_sent_where_the_proxy_says_that_the_browser_spoke_https(served):
    assert "strict-transport-security" not in proxied(served).get("/sign-in/").headers
    told = proxied(served).get("/sign-in/", headers={"X-Forwarded-Proto": "https"})
    assert told.headers["strict-transport-security"] == "max-age=31536000"


def test_logs_are_json_with_the_requests_id_and_without_secrets(served):
    client = proxied(served)
    address = "/nothing/snp_abcdefghijkl.0123456789abcdef0123456789abcdef01234567/"
    answer = client.get(address, headers={"X-Request-Id": "of-the-proxy-1"})
    assert (answer.status_code, answer.headers["x-request-id"]) == (404, "of-the-proxy-1")
    served.wait(lambda: "of-the-proxy-1" in served.log.read_text(), "the log line")
    lines = [line for line in served.log.read_text().splitlines() if "of-the-proxy-1" in line]
    entry = json.loads(lines[0])
    assert {"at", "level", "logger", "message", "request_id"} <= set(entry)
    assert (entry["level"], entry["request_id"]) == ("WARNING", "of-the-proxy-1")
    assert "snp_abcdefghijkl.***" in entry["message"]
    assert "0123456789abcdef" not in served.log.read_text()
