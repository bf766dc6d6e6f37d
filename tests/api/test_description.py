"""Every operation of the API answers as its description says, whoever asks and whatever is sent.

TEST_API_EXAMPLES is the number of examples of each operation (scripts/fuzz asks for many).
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from typing import Any

import pytest
from django.core.signals import request_finished, request_started
from django.db import close_old_connections, transaction
from django.test.utils import override_settings
from hypothesis import HealthCheck, settings, strategies
from schemathesis import Case
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi import checks

from tests import committed
from tests.api.described import DESCRIBED, Fleet, fleet_with_callers

EXAMPLES = int(os.environ.get("TEST_API_EXAMPLES", "10"))
CHECKS = [
    not_a_server_error,
    checks.status_code_conformance,
    checks.content_type_conformance,
    checks.response_headers_conformance,
    checks.response_schema_conformance,
]
# Those who may do most stand more than once, because only they get past the door.
WHO = [
    *["Ada by session"] * 4,
    *["Bo by session", "Ada by token"] * 2,
    *(f"{name} by session" for name in ("Chen", "Dana", "Sun", "Vic")),
    "Bo by token",
    "Vic by a reading token",
    "nobody",
]


@pytest.fixture(scope="module")
def fleet(
    _demonstration: Any, django_db_blocker, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Fleet]:
    """The demonstration fleet in a database of this module."""
    folder = tmp_path_factory.mktemp("api")
    evidence = shutil.copytree(_demonstration.evidence, folder / "evidence")
    with (
        django_db_blocker.unblock(),
        override_settings(EVIDENCE_DIR=evidence),
        committed.own_database(folder, of=_demonstration.database),
    ):
        yield fleet_with_callers()


@pytest.fixture
def asked(fleet: Fleet, settings) -> Iterator[Fleet]:
    """The fleet, in a transaction that is rolled back: what one operation changes, another does not see."""
    settings.API_RATE_PER_MINUTE = settings.GATE_RATE_PER_MINUTE = 1_000_000
    # Between requests a server closes connections that are in a transaction; here that is meant.
    for signal in (request_started, request_finished):
        signal.disconnect(close_old_connections)
    with transaction.atomic():
        yield fleet
        transaction.set_rollback(True)
    for signal in (request_started, request_finished):
        signal.connect(close_old_connections)


@DESCRIBED.given(who=strategies.sampled_from(WHO))
@DESCRIBED.parametrize()
@settings(
    max_examples=EXAMPLES,
    deadline=None,
    derandomize=EXAMPLES <= 10,
    suppress_health_check=list(HealthCheck),
)
def test_an_operation_answers_as_described(case: Case, who: str, asked: Fleet) -> None:
    case.path_parameters = asked.lead_on(case.path_parameters)
    case.query = asked.lead_on(case.query) | ({"wait": 0} if "wait" in case.query else {})
    case.body = asked.lead_on(case.body)
    case.headers.pop("Authorization", None)  # made up from the description; who asks is decided here
    case.cookies.clear()
    case.call_and_validate(**asked.callers[who], checks=CHECKS)


def test_everybody_who_asks_is_there(fleet: Fleet) -> None:
    assert set(fleet.callers) == set(WHO)
