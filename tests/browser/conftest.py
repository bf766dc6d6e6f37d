"""A browser, and portals that run as in production, on both engines."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack

import pytest
from playwright.sync_api import Browser, sync_playwright

from tests.browser.portal_process import Portal, own_postgresql, portal
from tests.browser.visitor import CHROMIUM

EMBEDDED = pytest.param("embedded", id="SQLite and files")
PASSED: pytest.StashKey[bool] = pytest.StashKey()
SERVERS = pytest.param("servers", id="PostgreSQL and Redis", marks=pytest.mark.services)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo):
    """Tells fixtures whether the test's own part passed."""
    report = yield
    if call.when == "call":
        item.stash[PASSED] = report.passed
    return report


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(**CHROMIUM)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def static_root(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Collected static files, as in production, for all portals of this run."""
    folder = tmp_path_factory.mktemp("static")
    with portal(tmp_path_factory.mktemp("collecting"), PORTAL_STATIC_ROOT=str(folder)) as one:
        one.manage("collectstatic", "--noinput", "--verbosity", "0")
    return str(folder)


@pytest.fixture(scope="module")
def running(request: pytest.FixtureRequest, static_root: str, tmp_path_factory) -> Iterator[Portal]:
    """The portal with the demonstration fleet: web, worker and scheduler run.

    The module asks for an engine by `pytest.mark.parametrize("running", [EMBEDDED, SERVERS], indirect=True)`.
    """
    with ExitStack() as stack:
        urls = {}
        if getattr(request, "param", "embedded") == "servers":
            server = os.environ["TEST_DATABASE_URL"]
            urls = {"redis_url": os.environ["TEST_REDIS_URL"]}
            urls["database_url"] = stack.enter_context(own_postgresql(server))
        folder = tmp_path_factory.mktemp("portal")
        one = stack.enter_context(portal(folder, **urls, PORTAL_STATIC_ROOT=static_root))
        one.load_demo()
        one.start()
        yield one
