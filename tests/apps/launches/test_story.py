"""The thread as one story on real tool output: a change, a launch stopped by a node that lags, the way back, GO."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from apps.audit.models import AuditEvent
from apps.audit.queries import verify
from apps.changes import services as changes
from apps.changes.models import Change, Snapshot
from apps.changes.queries import snapshot_versions
from apps.core import clock
from apps.core.errors import NotAllowed
from apps.environments import services as environments
from apps.environments.models import MatrixVersion
from apps.fleet.models import Node
from apps.launches import services as launches
from apps.launches.queries import decision_of
from apps.portal.services import intake
from tests import factories
from tests.apps.launches.conftest import MANUAL, items_of
from tests.callers import actor_for

CORPUS = Path(__file__).parents[2] / "corpus"
REPORTED = CORPUS / "nvidia-smi-xml" / "h100x8-570.86.15.xml"
LAGGING = CORPUS / "nvidia-smi-q" / "h100x8-535.161.08.txt"


@pytest.fixture
def domain(cluster, settings, tmp_path):
    """18 nodes that have reported nothing yet."""
    settings.EVIDENCE_DIR = tmp_path / "evidence"
    made = factories.domain(cluster, "sn", sub_domains=1, unidirectional_bytes_per_s=900e9)
    for index in range(18):
        factories.node(
            cluster, f"sn-n{index + 1:02d}", domain=made, index=index, accelerators=8, health="healthy"
        )
    return made


@pytest.fixture
def plan(plan):
    plan.input = plan.input | {"system": {"accelerators": 144}, "parallel": {"tp": 8, "dp": 18}}
    plan.save()
    return plan


@pytest.fixture
def matrix(domain, bo):
    """Every node hands its XML in, two hours ago; the matrix is drafted from that, locked, and known-good."""
    for node in Node.objects.filter(domain=domain):
        hand_in(bo, domain.cluster, REPORTED, node.name, ago_h=2)
    drafted = environments.draft_from_reports(actor=actor_for(bo), domain_id=domain.pk, note="from reports")
    locked = environments.lock_matrix(
        actor=actor_for(bo), version_id=drafted.pk, expected_version=drafted.version, override_reason="test"
    )
    MatrixVersion.objects.filter(pk=locked.pk).update(known_good_at=clock.now())
    return locked


def hand_in(person, cluster, file: Path, node: str, *, ago_h: float = 0.0):
    receipt = intake.take_in(
        actor=actor_for(person),
        cluster=cluster,
        chunks=[file.read_bytes()],
        file_name=file.name,
        node_name=node,
        collected_at=clock.now() - timedelta(hours=ago_h),
    )
    assert receipt.state == "applied", receipt.refusal
    return receipt


def test_a_launch_is_stopped_by_the_node_that_lags_and_decided_after_the_way_back(
    domain, benchmark, answered, evaluated, bo, chen, sun, cluster
):
    launch = answered()
    hand_in(bo, cluster, LAGGING, "sn-n07")

    evaluation = evaluated(launch)
    row = next(row for row in evaluation.items if row["key"] == "no_drift")
    assert (row["verdict"], row["nodes"], row["offer_rollback"]) == ("fail", ["sn-n07"], True)
    assert decision_of(launch).exit_code == 1

    rollback = launches.roll_back_for(
        actor=actor_for(bo), launch_id=launch.pk, reason="drift before the launch"
    )
    assert {target.node.name for target in rollback.targets.all()} == {"sn-n07"}
    assert "535.161.08" in Snapshot.objects.get(change=rollback).body
    assert decision_of(launch).exit_code == 3

    again = hand_in(bo, cluster, LAGGING, "sn-n07")
    (awaited,) = (row for row in again.effects if row["what"] == "versions_awaited")
    assert awaited["label"].startswith("sn-n07 · ") and "gpu_driver 570.86.15" in awaited["label"]
    assert awaited["change"] == str(rollback.pk)

    last = hand_in(bo, cluster, REPORTED, "sn-n07")
    assert "versions_awaited" not in {row["what"] for row in last.effects}
    rollback = Change.objects.get(pk=rollback.pk)
    assert rollback.state == "done"
    changes.review_rollback(
        actor=actor_for(chen), change_id=rollback.pk, expected_version=rollback.version, review="right call"
    )

    evaluation = evaluated(launch)
    assert {verdict for verdict, _code in items_of(evaluation).values()} <= {"pass", "warn"}
    assert decision_of(launch).exit_code == 10
    with pytest.raises(NotAllowed):
        launches.sign_launch(
            actor=actor_for(bo), evaluation_id=evaluation.pk, digest=evaluation.digest, go=True
        )
    launches.sign_launch(actor=actor_for(sun), evaluation_id=evaluation.pk, digest=evaluation.digest, go=True)
    assert decision_of(launch).exit_code == 0
    assert (
        launches.start_launch(actor=actor_for(bo), launch_id=launch.pk, expected_version=launch.version).state
        == "running"
    )

    told = list(AuditEvent.objects.order_by("seq").values_list("action", flat=True))
    story = [
        "launch.rollback_started",
        "rollback.done",
        "rollback.reviewed",
        "launch.signed",
        "launch.started",
    ]
    assert [action for action in told if action in story] == story
    assert verify().intact


def test_a_new_driver_is_asked_for_by_one_and_approved_by_another_with_what_ran_before_on_record(
    domain, matrix, bo, chen
):
    wish = changes.Wish(component="gpu_driver", values=("575.57.08",))
    content = changes.Content(title="Driver 575", reason="link flaps", wishes=(wish,), soak_s=(0, 0))
    change = changes.draft_change(actor=actor_for(bo), domain_id=domain.pk, kind="driver", content=content)
    seen = {"change_id": change.pk}
    change = changes.submit_change(actor=actor_for(bo), **seen, expected_version=change.version)
    with pytest.raises(NotAllowed):
        changes.approve_change(actor=actor_for(bo), **seen, expected_version=change.version)
    change = changes.approve_change(actor=actor_for(chen), **seen, expected_version=change.version)
    change = changes.start_change(actor=actor_for(bo), **seen, expected_version=change.version)
    versions = snapshot_versions(Snapshot.objects.get(change=change))
    assert len(versions) == 18
    assert {tuple(parts["gpu_driver"]) for parts in versions.values()} == {("570.86.15",)}
    assert [stage.targets.count() for stage in change.stages.all()] == [1, 17]


def test_manual_items_are_those_that_a_person_answers(opened, matrix):
    keys = {item["key"] for item in opened().template.items if item["manual"]}
    assert keys == set(MANUAL)
