"""Decisions and checks at the same moment, in threads on a database in which commits are real."""

from __future__ import annotations

from typing import Any

import pytest

from apps.environments import queries, services
from apps.environments.models import (
    DriftCheck,
    DriftFinding,
    Matrix,
    MatrixVersion,
    NodeFact,
    NodeReport,
    ObservedVersion,
)
from tests.apps.environments.support import VERSIONS, check_drift, report
from tests.callers import actor_for
from tests.support.races import at_once

pytestmark = pytest.mark.postgres


@pytest.fixture
def reported(committed_database: Any, nodes: Any) -> Any:
    """The four nodes, all alike."""
    for node in nodes:
        report(node)
    return nodes


@pytest.fixture
def draft(reported: Any, domain: Any, bo: Any) -> Any:
    return services.draft_from_reports(actor=actor_for(bo), domain_id=domain.pk)


def _lock(version: Any, person: Any) -> Any:
    actor = actor_for(person)
    return lambda: (
        services.lock_matrix(actor=actor, version_id=version.pk, expected_version=version.version).state
    )


def test_of_two_that_lock_one_version_one_does(draft: Any, domain: Any, bo: Any, ada: Any) -> None:
    results = at_once(_lock(draft, bo), _lock(draft, ada))

    assert sorted(map(str, results)) == ["locked", "stale"]
    assert queries.matrix_in_force(domain) == draft
    observed = ObservedVersion.objects.filter(matrix_version=draft)
    assert observed.count() == observed.values("component").distinct().count() == len(VERSIONS)


def test_two_first_drafts_are_of_one_matrix(reported: Any, domain: Any, bo: Any, ada: Any) -> None:
    def drafting(person: Any) -> Any:
        asked = {"actor": actor_for(person), "domain_id": domain.pk, "name": person.name}
        return lambda: services.draft_from_reports(**asked).matrix_id

    results = at_once(drafting(bo), drafting(ada))

    assert set(results) <= {Matrix.objects.get().pk, "number_taken"}


def test_of_two_versions_that_are_locked_one_is_in_force(draft: Any, domain: Any, bo: Any, ada: Any) -> None:
    second = services.draft_from_version(actor=actor_for(bo), version_id=draft.pk)

    results = at_once(_lock(draft, bo), _lock(second, ada))

    assert "locked" in results
    assert set(map(str, results)) <= {"locked", "locked_meanwhile"}
    assert MatrixVersion.objects.filter(state="locked").count() == 1


def test_a_check_beside_a_retirement_is_of_before_or_of_after(draft: Any, domain: Any, bo: Any) -> None:
    locked = services.lock_matrix(actor=actor_for(bo), version_id=draft.pk, expected_version=1)
    actor = actor_for(bo)

    checked, retired = at_once(
        lambda: check_drift(domain).verdict,
        lambda: (
            services.retire_matrix(
                actor=actor, version_id=locked.pk, expected_version=locked.version, reason="wrong"
            ).state
        ),
    )

    assert retired == "retired"
    check = DriftCheck.objects.get()
    assert (checked, check.matrix_version_id) in (("pass", locked.pk), ("unknown", None))
    assert check_drift(domain).verdict == "unknown"


def test_two_checks_at_once_open_each_finding_once(draft: Any, domain: Any, reported: Any, bo: Any) -> None:
    services.lock_matrix(actor=actor_for(bo), version_id=draft.pk, expected_version=1)
    report(reported[0], nccl="2.25.1")

    results = at_once(*[lambda: check_drift(domain).verdict] * 3)

    assert results == ["fail"] * 3
    assert (DriftCheck.objects.count(), DriftFinding.objects.count()) == (1, 1)


def test_two_first_reports_of_one_node_make_one_of_each_fact(committed_database: Any, nodes: Any) -> None:
    results = at_once(lambda: report(nodes[0]), lambda: report(nodes[0]))

    assert sorted(map(str, results)) == ["False", "True"]
    assert NodeReport.objects.count() == 1
    assert NodeFact.objects.filter(until__isnull=True).count() == len(VERSIONS)
