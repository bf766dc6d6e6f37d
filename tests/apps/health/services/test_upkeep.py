"""The calendar of upkeep: planned, done by whom, due again, overdue."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from apps.core import clock
from apps.core.errors import Invalid, NotAllowed, Stale
from apps.health import queries, services
from apps.health.models import MaintenanceRecord

pytestmark = pytest.mark.django_db


@pytest.fixture
def task(cluster: Any, actor_for: Any, bo: Any) -> Any:
    return services.plan_upkeep(
        actor=actor_for(bo),
        cluster_id=cluster.pk,
        kind="coolant_level",
        title="Look at the reservoir",
        every_days=7,
        due_on=clock.now().date() - timedelta(days=1),
        downgrade_path="Cap GPUs at 60 % power, then drain.",
    )


def test_the_usual_calendar_is_weekly_monthly_and_quarterly(cluster: Any, actor_for: Any, bo: Any) -> None:
    tasks = services.plan_usual_upkeep(actor=actor_for(bo), cluster_id=cluster.pk)

    assert [(task.kind, task.every_days) for task in tasks] == [
        ("coolant_level", 7),
        ("coolant_quality", 7),
        ("fittings", 30),
        ("cold_plates", 91),
    ]


def test_the_usual_calendar_is_there_once(task: Any, cluster: Any, actor_for: Any, bo: Any) -> None:
    first = services.plan_usual_upkeep(actor=actor_for(bo), cluster_id=cluster.pk)
    again = services.plan_usual_upkeep(actor=actor_for(bo), cluster_id=cluster.pk)

    assert [one.kind for one in first] == ["coolant_quality", "fittings", "cold_plates"]
    assert again == []


def test_what_is_not_done_in_time_is_overdue_for_its_domain(task: Any, domain: Any) -> None:
    today = clock.now().date()

    assert list(queries.overdue_upkeep(domain, today=today)) == [task]
    assert not queries.overdue_upkeep(domain, today=today - timedelta(days=1)).exists()


def test_upkeep_that_was_done_is_due_one_span_later(task: Any, actor_for: Any, bo: Any) -> None:
    done = services.record_upkeep(actor=actor_for(bo), task_id=task.pk, expected_version=1, note="level fine")

    task.refresh_from_db()
    assert task.due_on == clock.now().date() + timedelta(days=7)
    assert (done.done_by, done.due_on) == (bo, clock.now().date() - timedelta(days=1))


def test_upkeep_is_recorded_once_with_what_was_found(task: Any, actor_for: Any, bo: Any) -> None:
    act = {"actor": actor_for(bo), "task_id": task.pk}
    with pytest.raises(Invalid):
        services.record_upkeep(**act, expected_version=1, note=" ")
    with pytest.raises(Invalid):
        services.record_upkeep(
            **act, expected_version=1, note="x", done_on=clock.now().date() + timedelta(days=1)
        )
    services.record_upkeep(**act, expected_version=1, note="fine")
    with pytest.raises(Stale):
        services.record_upkeep(**act, expected_version=1, note="fine")

    assert MaintenanceRecord.objects.count() == 1


def test_retired_upkeep_is_not_overdue_and_its_records_stay(
    task: Any, domain: Any, actor_for: Any, bo: Any
) -> None:
    services.record_upkeep(actor=actor_for(bo), task_id=task.pk, expected_version=1, note="fine")
    services.retire_upkeep(actor=actor_for(bo), task_id=task.pk, expected_version=2, reason="air-cooled now")

    assert not queries.overdue_upkeep(domain, today=clock.now().date() + timedelta(days=99)).exists()
    assert MaintenanceRecord.objects.count() == 1


def test_viewers_plan_nothing(cluster: Any, actor_for: Any, vic: Any) -> None:
    with pytest.raises(NotAllowed):
        services.plan_usual_upkeep(actor=actor_for(vic), cluster_id=cluster.pk)
