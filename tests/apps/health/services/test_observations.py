"""Observations: settled figures, faults of growing logs, and the health that follows."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from apps.core import clock
from apps.core.errors import Conflict, Invalid, NotAllowed
from apps.health import services
from apps.health.models import FaultRecord, HealthState

pytestmark = pytest.mark.django_db


def _health(node: Any) -> str:
    node.refresh_from_db()
    return str(node.health)


def test_one_hot_moment_does_not_make_a_node_ill(node: Any, see_heat: Any) -> None:
    see_heat(node, 60)
    see_heat(node, 95)
    after_one = _health(node)
    see_heat(node, 95)

    assert (after_one, _health(node)) == ("healthy", "faulty")


def test_the_same_bytes_of_a_later_hour_are_an_observation(node: Any, see_heat: Any) -> None:
    see_heat(node, 60, ago_s=10_800)
    see_heat(node, 95, sha256="b" * 64, ago_s=7_200)
    see_heat(node, 95, sha256="b" * 64, ago_s=3_600)

    assert _health(node) == "faulty"


def test_the_same_file_at_once_again_is_no_second_observation(node: Any, see_heat: Any) -> None:
    see_heat(node, 60)
    see_heat(node, 95, sha256="b" * 64)
    see_heat(node, 95, sha256="b" * 64)

    assert _health(node) == "healthy"


def test_an_older_reading_changes_nothing(node: Any, see_heat: Any) -> None:
    see_heat(node, 60)
    see_heat(node, 95, ago_s=3600)
    see_heat(node, 95, ago_s=1800)

    assert (_health(node), HealthState.objects.get().value) == ("healthy", 60.0)


def test_a_fatal_code_makes_the_node_faulty_at_once(node: Any, see_xid: Any) -> None:
    see_xid(node, 79)

    fault = FaultRecord.objects.get()
    assert (_health(node), fault.kind, fault.code, fault.count) == ("faulty", "xid", 79, 1)


def test_a_growing_log_counts_its_new_lines_only(node: Any, see_xid: Any) -> None:
    see_xid(node, 79, "10:00:00", sha256="a" * 64)
    see_xid(node, 79, "10:00:00", "10:05:00", sha256="b" * 64)

    assert FaultRecord.objects.get().count == 2


def test_a_resolved_fault_does_not_come_back_with_its_old_lines(
    node: Any, see_xid: Any, actor_for: Any, bo: Any
) -> None:
    see_xid(node, 79, "10:00:00", "10:05:00", sha256="a" * 64)
    services.resolve_fault(
        actor=actor_for(bo), fault_id=FaultRecord.objects.get().pk, resolution="card swapped"
    )
    see_xid(node, 79, "10:00:00", "10:05:00", sha256="b" * 64)
    quiet = FaultRecord.objects.filter(resolved_at__isnull=True).count()
    see_xid(node, 79, "10:00:00", "10:05:00", "11:00:00", sha256="c" * 64)

    assert quiet == 0
    assert FaultRecord.objects.get(resolved_at__isnull=True).events == ["11:00:00"]


def test_resolving_says_what_was_done_and_heals_the_node(
    node: Any, see_xid: Any, actor_for: Any, bo: Any, vic: Any
) -> None:
    see_xid(node, 79)
    fault = FaultRecord.objects.get()

    with pytest.raises(Invalid):
        services.resolve_fault(actor=actor_for(bo), fault_id=fault.pk, resolution=" ")
    with pytest.raises(NotAllowed):
        services.resolve_fault(actor=actor_for(vic), fault_id=fault.pk, resolution="x")
    resolved = services.resolve_fault(actor=actor_for(bo), fault_id=fault.pk, resolution="card swapped")
    with pytest.raises(Conflict):
        services.resolve_fault(actor=actor_for(bo), fault_id=fault.pk, resolution="again")

    assert (resolved.resolved_by, _health(node)) == (bo, "unknown")


def test_a_node_of_which_nothing_is_heard_is_unknown(node: Any, see_heat: Any) -> None:
    see_heat(node, 60)
    kept = services.forget_stale_health()
    HealthState.objects.update(observed_at=clock.now() - timedelta(days=3))

    assert (kept, services.forget_stale_health(), _health(node)) == (0, 1, "unknown")
