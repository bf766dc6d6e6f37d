"""Observations: settled figures, faults of growing logs, and the health that follows."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from apps.core import clock
from apps.core.errors import Conflict, Invalid, NotAllowed
from apps.evidence.engine.reading import Reading
from apps.fleet.models import Accelerator
from apps.health import services
from apps.health.models import FaultRecord, HealthState
from apps.health.words import action_word

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


def _see(node: Any, kind: str, facts: dict[str, Any], *, ago_s: float = 0) -> None:
    at = clock.now() - timedelta(seconds=ago_s)
    reading = Reading(kind=kind, facts=facts, parser_version=1)
    services.record_reading(node_id=node.pk, reading=reading, sha256=f"{ago_s:064.0f}", at=at)


def test_a_flag_that_counts_at_once_warns_at_once(node: Any) -> None:
    verdicts = []
    for ago_s, pending in ((300, False), (200, False), (100, True)):
        gpu = {"bus_id": "0000:1b:00.0", "remapped_rows_pending": pending}
        _see(node, "nvidia_smi_q", {"gpus": [gpu]}, ago_s=ago_s)
        verdicts.append(HealthState.objects.get(rule="row-remap-pending").verdict)

    assert verdicts == ["pass", "pass", "warn"]


def test_a_diagnostic_that_passes_clears_the_one_that_failed(node: Any) -> None:
    healths = []
    for ago_s, status in ((200, "Pass"), (100, "Fail"), (0, "Pass")):
        _see(node, "dcgmi_diag", {"results": [{"test": "Memory", "status": status}]}, ago_s=ago_s)
        healths.append(_health(node))

    assert healths == ["healthy", "faulty", "healthy"]


def test_the_worst_of_several_figures_of_one_device_is_its_one_observation(node: Any) -> None:
    ports = [{"device": "mlx5_0", "port": 1, "state": state} for state in ("active", "down", "active")]
    _see(node, "ibstat", {"ports": ports})

    state = HealthState.objects.get(rule="port-down")
    assert (state.verdict, state.recent) == ("fail", ["fail"])


def test_a_device_that_is_named_no_more_is_forgotten_where_others_are(node: Any) -> None:
    hot, cool = ({"bus_id": f"0000:{bus}:00.0", "temperature_c": t} for bus, t in (("1b", 95), ("43", 40)))
    _see(node, "nvidia_smi_q", {"gpus": [hot, cool]}, ago_s=3 * 86_400)
    _see(node, "nvidia_smi_q", {"gpus": [cool]})
    before = _health(node)
    services.forget_stale_health()

    assert (before, _health(node)) == ("faulty", "healthy")


def test_the_last_word_of_a_silent_node_is_kept(node: Any) -> None:
    hot, cool = ({"bus_id": f"0000:{bus}:00.0", "temperature_c": t} for bus, t in (("1b", 95), ("43", 40)))
    _see(node, "nvidia_smi_q", {"gpus": [hot, cool]}, ago_s=3 * 86_400)
    services.forget_stale_health()

    assert _health(node) == "faulty"


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


def test_what_comes_back_after_it_was_resolved_asks_for_more(
    node: Any, see_xid: Any, actor_for: Any, bo: Any
) -> None:
    asked = []
    for place in range(2):
        see_xid(node, 48, f"1{place}:00:00", sha256=f"{place:064}")
        fault = FaultRecord.objects.get(resolved_at__isnull=True)
        asked.append((fault.action_class, str(action_word(fault.action, fault.action_class))))
        services.resolve_fault(actor=actor_for(bo), fault_id=fault.pk, resolution="reset")
    FaultRecord.objects.update(resolved_at=clock.now() - timedelta(days=8))
    see_xid(node, 48, "13:00:00", sha256="c" * 64)

    assert asked == [
        ("reset", "drain and reset the GPU"),
        ("reboot", "power cycle the node, or else reboot it"),
    ]
    assert FaultRecord.objects.get(resolved_at__isnull=True).action_class == "reset"


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


@pytest.mark.parametrize(
    ("models", "health"),
    [
        (["nvidia-h200-sxm-141gb"] * 8, "faulty"),
        (["nvidia-h200-sxm-141gb"] * 7 + ["nvidia-gb200"], "healthy"),
        (["nvidia-a100-sxm4-80gb"] * 8, "healthy"),  # the tool says that these are others
        (["our-own"] * 8, "healthy"),
        ([""] * 8, "healthy"),
    ],
)
def test_a_whole_node_at_half_speed_is_seen_where_its_model_is_known(
    node: Any, models: list[str], health: str
) -> None:
    Accelerator.objects.filter(node=node).delete()
    Accelerator.objects.bulk_create(
        Accelerator(node=node, index=index, model=model) for index, model in enumerate(models)
    )
    links = [
        {"index": index, "unidirectional_bytes_per_s": {str(link): 13_281_000_000 for link in range(18)}}
        for index in range(8)
    ]
    _see(node, "nvidia_smi_nvlink", {"model": "NVIDIA H200", "links": links})

    assert _health(node) == health
