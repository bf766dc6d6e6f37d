"""Fixtures that every test may use; docs/testing.md lists them."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from django.core.cache import cache
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext, override_settings, setup_databases, teardown_databases
from django.utils import translation
from django.utils.module_loading import autodiscover_modules
from hypothesis import HealthCheck
from hypothesis import settings as hypothesis_settings

from apps.accounts.models import Person
from apps.core.rights import Role
from apps.fleet.models import Cluster
from apps.jobs import running
from apps.jobs.models import Job, JobState
from apps.portal.services import demo
from tests import callers, committed, factories

# How fast the machine is says nothing about behaviour.
hypothesis_settings.register_profile("portal", deadline=None, suppress_health_check=[HealthCheck.too_slow])
hypothesis_settings.load_profile("portal")
_DATABASES = {"database", "django_db_setup"}  # `database` asks for the other late


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Tests of PostgreSQL and of Redis are left out where there is none, and on PostgreSQL those of no database.

    What knows no database was proved beside SQLite.
    """
    if connection.vendor == "postgresql":
        needless = [item for item in items if not _knows_services(item)]
        config.hook.pytest_deselected(items=needless)
        items[:] = [item for item in items if _knows_services(item)]
    missing = []
    if connection.vendor != "postgresql":
        missing.append(("postgres", "needs PostgreSQL: set TEST_DATABASE_URL"))
    if not os.environ.get("TEST_REDIS_URL"):
        missing.append(("services", "needs Redis: set TEST_REDIS_URL to a database that may be emptied"))
    for item in items:
        for mark, reason in missing:
            if item.get_closest_marker(mark):
                item.add_marker(pytest.mark.skip(reason=reason))


def _knows_services(item: pytest.Item) -> bool:
    marked = any(item.get_closest_marker(mark) for mark in ("django_db", "postgres", "services", "browser"))
    return marked or not _DATABASES.isdisjoint(getattr(item, "fixturenames", ()))


@pytest.fixture(scope="session")
def django_db_setup(
    django_test_environment: None,
    django_db_blocker: Any,
    django_db_modify_db_settings: None,
    django_db_keepdb: bool,
) -> Iterator[None]:
    """The migrated database. pytest-django's own looks for its `db` by name, which `database` asks for late."""
    with django_db_blocker.unblock():
        made = setup_databases(verbosity=0, interactive=False, keepdb=django_db_keepdb, serialized_aliases=())
    yield
    if not django_db_keepdb:
        with django_db_blocker.unblock():
            teardown_databases(made, verbosity=0)


@pytest.fixture(autouse=True)
def _django_db_marker(request: pytest.FixtureRequest) -> None:
    """As pytest-django's own, but a test that commits may stand in a module that is marked django_db."""
    if request.node.get_closest_marker("django_db") and "committed_database" not in request.fixturenames:
        request.getfixturevalue("_django_db_helper")


@pytest.fixture(autouse=True)
def _nothing_left_over() -> Iterator[None]:
    """No test sees what another one cached, or the language of its last request."""
    yield
    cache.clear()
    translation.deactivate()


@pytest.fixture
def committed_database(django_db_setup: None, django_db_blocker: Any, tmp_path: Path) -> Iterator[str]:
    """A database of the test's own in which commits are real; its DATABASE_URL. Not together with `db`."""
    with django_db_blocker.unblock(), committed.own_database(tmp_path) as url:
        yield url


@dataclass(frozen=True)
class Demonstration:
    """The demonstration fleet in a database of its own, and the sign-ins that its loading told."""

    database: str
    evidence: Path
    logins: list[demo.Login]


@pytest.fixture(scope="session")
def _demonstration(
    django_db_setup: None, django_db_blocker: Any, tmp_path_factory: Any
) -> Iterator[Demonstration]:
    folder = tmp_path_factory.mktemp("demonstration")
    with django_db_blocker.unblock(), committed.copy_of(connection.settings_dict["NAME"], folder) as copy:
        with committed.connected_to(copy), override_settings(EVIDENCE_DIR=folder / "evidence"):
            logins = demo.load()
        yield Demonstration(copy, folder / "evidence", logins)


@pytest.fixture
def demonstration(
    _demonstration: Demonstration, django_db_blocker: Any, tmp_path: Path, settings: Any
) -> Iterator[Demonstration]:
    """A copy of the loaded demonstration fleet in which commits are real. Not together with `database`."""
    settings.EVIDENCE_DIR = tmp_path / "evidence"
    shutil.copytree(_demonstration.evidence, settings.EVIDENCE_DIR)
    with django_db_blocker.unblock(), committed.own_database(tmp_path, of=_demonstration.database):
        yield _demonstration


@pytest.fixture
def database(request: pytest.FixtureRequest) -> None:
    """Whichever database the test works with: its own copy if it commits, else one that is rolled back."""
    names = request.fixturenames
    request.getfixturevalue("committed_database" if "committed_database" in names else "db")


@pytest.fixture
def cluster(database: None) -> Cluster:
    """The cluster in which the named people have their roles; no nodes."""
    return factories.cluster("hall-1")


@pytest.fixture
def other_cluster(database: None) -> Cluster:
    """A cluster of which only Ada and Eve know."""
    return factories.cluster("hall-2")


@pytest.fixture
def ada(database: None) -> Person:
    """Administrator everywhere."""
    return factories.person("Ada", Role.ADMIN, email="ada@example.com")


@pytest.fixture
def bo(cluster: Cluster) -> Person:
    """Operator of the cluster."""
    return factories.person("Bo", Role.OPERATOR, scope=cluster.scope, email="bo@example.com")


@pytest.fixture
def chen(cluster: Cluster) -> Person:
    """Approver of the cluster."""
    return factories.person("Chen", Role.APPROVER, scope=cluster.scope, email="chen@example.com")


@pytest.fixture
def sun(cluster: Cluster) -> Person:
    """Signer of the cluster."""
    return factories.person("Sun", Role.SIGNER, scope=cluster.scope, email="sun@example.com")


@pytest.fixture
def dana(cluster: Cluster) -> Person:
    """Auditor of the cluster."""
    return factories.person("Dana", Role.AUDITOR, scope=cluster.scope, email="dana@example.com")


@pytest.fixture
def vic(cluster: Cluster) -> Person:
    """Viewer of the cluster."""
    return factories.person("Vic", Role.VIEWER, scope=cluster.scope, email="vic@example.com")


@pytest.fixture
def eve(other_cluster: Cluster) -> Person:
    """Administrator, operator, approver and signer of another cluster, and nothing here."""
    roles = (Role.ADMIN, Role.OPERATOR, Role.APPROVER, Role.SIGNER)
    return factories.person("Eve", *roles, scope=other_cluster.scope, email="eve@example.com")


@pytest.fixture
def actor_for() -> Callable[..., Any]:
    return callers.actor_for


@pytest.fixture
def client_of() -> Callable[..., Any]:
    return callers.client_of


@pytest.fixture
def api() -> Callable[..., Any]:
    return callers.api


@pytest.fixture
def run_jobs(database: None) -> Callable[..., list[Job]]:
    """Do what a worker does with each queued job (of a kind), and with what these ask for; gives them done."""
    autodiscover_modules("tasks")

    def run(kind: str = "") -> list[Job]:
        done: list[int] = []
        while len(done) < 200:
            queued = Job.objects.filter(state=JobState.QUEUED, **({"kind": kind} if kind else {}))
            job = queued.order_by("id").first()
            if job is None:
                return list(Job.objects.filter(pk__in=done).order_by("id"))
            running.run(job.pk)
            done.append(job.pk)
        raise AssertionError("jobs ask for jobs without end")

    return run


@pytest.fixture
def count_queries(database: None) -> Callable[[Callable[[], Any]], int]:
    """How many queries a call needs."""

    def counted(call: Callable[[], Any]) -> int:
        with CaptureQueriesContext(connection) as captured:
            call()
        return len(captured)

    return counted


@pytest.fixture
def assert_constant_queries(count_queries: Any) -> Callable[..., None]:
    """`assert_constant_queries(call, grow)`: the call needs as many queries before as after `grow()`.

    The call runs once before counting, so that caches are warm both times.
    """

    def check(call: Callable[[], Any], grow: Callable[[], Any]) -> None:
        call()
        before = count_queries(call)
        grow()
        after = count_queries(call)
        assert after == before, f"{before} queries with few rows, {after} with more"

    return check


@pytest.fixture
def statuses_of(request: pytest.FixtureRequest) -> Callable[..., dict[str, int]]:
    """What each of the named people is answered; what one's request changed is taken back before the next one's."""

    def ask(people: Iterable[str], send: Callable[[Person], Any]) -> dict[str, int]:
        found = {}
        for name in people:
            person = request.getfixturevalue(name)
            with transaction.atomic():
                found[name] = send(person).status_code
                transaction.set_rollback(True)
        return found

    return ask
