"""Decisions about a launch at the same moment, in threads on a database in which commits are real."""

from __future__ import annotations

import threading
from typing import Any

import pytest
from django.db import connection, transaction

from apps.core.rights import Role
from apps.launches import services
from apps.launches.models import Launch, SignOff
from tests import factories
from tests.apps.launches.test_gate import sign
from tests.callers import actor_for
from tests.support.races import at_once

pytestmark = pytest.mark.postgres


@pytest.fixture
def signed(committed_database: Any, answered: Any, evaluated: Any, sun: Any) -> Any:
    """A launch that stands at GO."""
    launch = answered()
    sign(evaluated(launch), sun)
    return launch


@pytest.fixture
def second_signer(cluster: Any) -> Any:
    return factories.person("Sid", Role.SIGNER, scope=cluster.scope)


def _start(launch: Launch, person: Any) -> Any:
    actor = actor_for(person)
    return lambda: (
        services.start_launch(actor=actor, launch_id=launch.pk, expected_version=launch.version).state
    )


def _somebody_waits() -> bool:
    """Whether some connection waits for a lock."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_stat_clear_snapshot()")  # else a transaction sees what it saw first
        cursor.execute(
            "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
        )
        return cursor.fetchone() is not None


def test_a_job_that_waits_for_a_signature_against_it_does_not_start(
    signed: Any, bo: Any, second_signer: Any
) -> None:
    evaluation = signed.evaluations.get()
    results: list[object] = []

    def start() -> None:
        results.extend(at_once(_start(signed, bo)))

    with transaction.atomic():
        sign(evaluation, second_signer, go=False, comment="stop")
        other = threading.Thread(target=start)
        other.start()
        while other.is_alive() and not _somebody_waits():
            pass
    other.join(timeout=60)

    assert results == ["gate_closed"]
    assert Launch.objects.get(pk=signed.pk).state == "open"


def test_of_a_start_and_a_signature_against_it_one_comes_first(
    signed: Any, bo: Any, second_signer: Any
) -> None:
    evaluation = signed.evaluations.get()

    started, against = at_once(
        _start(signed, bo), lambda: sign(evaluation, second_signer, go=False, comment="stop").go
    )

    assert (started, against) in (("running", "launch_state"), ("gate_closed", False))
    assert SignOff.objects.filter(go=False).exists() is (started == "gate_closed")


def test_of_two_that_ask_one_evaluation_is_made(opened: Any, committed_database: Any, bo: Any) -> None:
    launch = opened()
    actor = actor_for(bo)

    first, second = at_once(*[lambda: services.request_evaluation(actor=actor, launch_id=launch.pk).pk] * 2)

    assert first == second
    assert launch.evaluations.count() == 1
