"""The way back: at once, with a reason, done when nodes report it, and reviewed by somebody else."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import translation

from apps.changes import services
from apps.changes.models import Change, Snapshot
from apps.changes.queries import restoring
from apps.core import clock
from apps.core.actor import Via
from apps.core.errors import Conflict, Invalid, NotAllowed, Stale
from apps.core.rights import Role
from apps.core.speech import said
from apps.fleet.models import Hold, LifeCycle, Node
from tests import factories
from tests.apps.changes.conftest import NEW, OLD
from tests.callers import actor_for


def undo(change, person, reason="first back, then the logs", **fields):
    change.refresh_from_db()
    return services.roll_back_change(
        actor=actor_for(person, **fields),
        change_id=change.pk,
        expected_version=change.version,
        reason=reason,
    )


def report(version, *nodes) -> list[int]:
    for node in nodes:
        factories.report(node, gpu_driver="570.86.15", nccl=version)
    return services.consider_reports(node_ids=[node.pk for node in nodes])


def test_a_rollback_takes_the_holds_over_and_waits_for_the_nodes_that_changed(started, nodes, bo):
    change = started()
    report(NEW, nodes[0])
    rollback = undo(change, bo)
    change.refresh_from_db()
    assert (rollback.state, change.state, rollback.reverses) == ("running", "rolled_back", change)
    owners = set(Hold.objects.filter(released_at__isnull=True).values_list("owner", flat=True))
    assert owners == {rollback.owner}
    assert Snapshot.objects.filter(change=rollback).exists()


def test_it_closes_itself_when_the_last_node_reports_and_lets_the_nodes_go(started, nodes, bo):
    change = started()
    report(NEW, nodes[0], nodes[1])
    rollback = undo(change, bo)
    assert report(OLD, nodes[0]) == []
    assert report(OLD, nodes[1]) == [rollback.pk]
    rollback.refresh_from_db()
    assert rollback.state == "done"
    assert not Hold.objects.filter(released_at__isnull=True).exists()


def test_it_does_not_close_while_a_node_that_was_there_has_gone_back(started, nodes, bo):
    change = started()
    report(NEW, nodes[0], nodes[1])
    rollback = undo(change, bo)
    report(OLD, nodes[0])
    factories.report(nodes[0], nccl=NEW)
    assert report(OLD, nodes[1]) == []
    assert report(OLD, nodes[0]) == [rollback.pk]


def test_a_retired_node_is_not_waited_for(started, nodes, bo):
    change = started()
    report(NEW, nodes[0], nodes[1])
    rollback = undo(change, bo)
    Node.objects.filter(pk=nodes[1].pk).update(life_cycle=LifeCycle.RETIRED)
    assert report(OLD, nodes[0]) == [rollback.pk]


def test_where_no_node_has_changed_yet_it_closes_at_once(started, bo):
    assert undo(started(), bo).state == "done"


def test_what_has_not_started_has_nothing_to_go_back_from(approved, bo):
    with pytest.raises(Conflict) as refused:
        undo(approved(), bo)
    assert refused.value.code == "no_snapshot"


def test_a_rollback_is_no_target_of_a_rollback(started, nodes, bo):
    change = started()
    report(NEW, nodes[0])
    with pytest.raises(Conflict) as refused:
        undo(undo(change, bo), bo)
    assert refused.value.code == "is_rollback"


def test_a_change_is_rolled_back_once(started, nodes, bo):
    change = started()
    report(NEW, nodes[0])
    undo(change, bo)
    with pytest.raises(Conflict):
        undo(change, bo)
    assert Change.objects.filter(reverses=change).count() == 1


def test_an_old_page_does_not_roll_back(started, bo):
    change = started()
    with pytest.raises(Stale):
        services.roll_back_change(
            actor=actor_for(bo), change_id=change.pk, expected_version=change.version - 1, reason="old page"
        )


def test_it_needs_a_person_a_reason_and_a_password_given_lately(started, nodes, bo, vic):
    change = started()
    report(NEW, nodes[0])
    for fields, code in (
        ({"via": Via.TOKEN}, "person_required"),
        ({"authenticated_at": clock.now() - timedelta(hours=1)}, "reauthenticate"),
    ):
        with pytest.raises(NotAllowed) as refused:
            undo(change, bo, **fields)
        assert refused.value.code == code
    with pytest.raises(Invalid):
        undo(change, bo, reason=" ")
    with pytest.raises(NotAllowed) as refused:
        undo(change, vic)
    assert refused.value.code == "role"
    assert undo(change, bo).state == "running"


def start(domain, person, **asked):
    return services.start_rollback(
        actor=actor_for(person), domain_id=domain.pk, reason="drift before the launch", **asked
    )


def test_only_nodes_that_differ_go_back_to_the_last_known_good(domain, nodes, bo):
    factories.locked_matrix(domain, known_good=True, gpu_driver="570.86.15", nccl=OLD)
    factories.report(nodes[3], gpu_driver="535.161.08", nccl=OLD)
    rollback = start(domain, bo)
    targets = [(one.node.name, one.component, one.values) for one in rollback.targets.all()]
    assert targets == [("sn-04", "gpu_driver", ["570.86.15"])]
    assert rollback.restores_version.known_good_at is not None


def test_the_title_of_a_rollback_is_said_in_the_language_of_the_reader(domain, nodes, bo):
    factories.locked_matrix(domain, known_good=True, gpu_driver="570.86.15", nccl=OLD)
    factories.report(nodes[3], gpu_driver="535.161.08", nccl=OLD)
    rollback = start(domain, bo)
    hold = Hold.objects.get(node=nodes[3])
    with translation.override("zh-hans"):
        told = {said(rollback.named), said(hold.told_reason)}
    assert rollback.title == f"Back to {rollback.restores_version}"
    assert told == {f"#{rollback.pk} 回到 {rollback.restores_version}"}


def test_where_nothing_was_known_good_or_nothing_differs_it_says_so(domain, nodes, bo):
    with pytest.raises(Conflict) as refused:
        start(domain, bo)
    assert refused.value.code == "no_known_good"
    factories.locked_matrix(domain, known_good=True, gpu_driver="570.86.15", nccl=OLD)
    with pytest.raises(Conflict) as refused:
        start(domain, bo)
    assert refused.value.code == "nothing_differs"


def test_a_version_that_was_not_known_good_is_no_target(domain, nodes, bo):
    factories.locked_matrix(domain, known_good=True, nccl=OLD)
    newer = factories.locked_matrix(domain, nccl=NEW)
    with pytest.raises(Conflict) as refused:
        start(domain, bo, matrix_version_id=newer.pk)
    assert refused.value.code == "no_known_good"


def test_two_rollbacks_do_not_touch_the_same_nodes(domain, nodes, bo):
    factories.locked_matrix(domain, known_good=True, nccl=OLD)
    factories.report(nodes[0], nccl=NEW)
    start(domain, bo)
    with pytest.raises(Conflict) as refused:
        start(domain, bo)
    assert refused.value.code == "held"


def test_a_rollback_to_known_good_frees_nodes_that_a_failed_rollback_held(started, domain, nodes, bo):
    factories.locked_matrix(domain, known_good=True, gpu_driver="570.86.15", nccl=OLD)
    change = started()
    report(NEW, nodes[0])
    failed = undo(change, bo)
    services.fail_change(
        actor=actor_for(bo),
        change_id=failed.pk,
        expected_version=failed.version,
        reason="the package is gone",
    )
    onward = start(domain, bo, node_ids=[nodes[0].pk])
    owners = set(Hold.objects.filter(released_at__isnull=True).values_list("owner", flat=True))
    assert owners == {onward.owner}
    assert report(OLD, nodes[0]) == [onward.pk]
    assert not Hold.objects.filter(released_at__isnull=True).exists()


def test_the_preview_shows_what_goes_back_who_holds_and_what_restarts(started, domain, nodes):
    change = started()
    report(NEW, nodes[0])
    preview = restoring.preview_undo(change)
    assert preview.differing == (("sn-01", "nccl", NEW, OLD),)
    assert (preview.held, preview.changes, preview.restarts) == ((), (), ())
    factories.locked_matrix(domain, known_good=True, gpu_driver="550.90.07", nccl=OLD)
    other = restoring.preview_rollback(domain=domain)
    assert other.restarts == ("gpu_driver",)
    assert other.held == tuple(node.name for node in nodes)
    assert [one.pk for one in other.changes] == [change.pk]


@pytest.mark.parametrize(
    ("component", "now", "back", "warned"),
    [
        ("gpu_driver", "570.86.15", "535.54.03", ()),
        ("nic_firmware", "28.39.1002", "28.43.2026", ()),
        ("nic_firmware", "28.43.2026", "28.39.1002", ("nic_firmware",)),
        ("host_bios", "B", "A", ("host_bios",)),  # no order
    ],
)
def test_only_firmware_that_goes_back_is_warned_of(domain, nodes, component, now, back, warned):
    factories.locked_matrix(domain, known_good=True, **{component: back})
    factories.report(nodes[0], **{component: now})
    preview = restoring.preview_rollback(domain=domain, node_ids=[nodes[0].pk])
    assert preview.restarts == (component,)
    assert preview.older_firmware == warned


def test_a_second_person_reviews_a_rollback_afterwards(started, nodes, bo, chen, cluster):
    change = started()
    report(NEW, nodes[0])
    rollback = undo(change, bo)
    factories.grant(bo, Role.APPROVER, scope=cluster.scope)
    review = {"change_id": rollback.pk, "expected_version": rollback.version}
    with pytest.raises(NotAllowed) as refused:
        services.review_rollback(actor=actor_for(bo), review="fine", **review)
    assert refused.value.code == "four_eyes"
    with pytest.raises(Invalid):
        services.review_rollback(actor=actor_for(chen), review="", **review)
    reviewed = services.review_rollback(actor=actor_for(chen), review="right call", **review)
    assert reviewed.reviewed_by == chen
    with pytest.raises(Conflict):
        services.review_rollback(
            actor=actor_for(chen), change_id=rollback.pk, expected_version=reviewed.version, review="again"
        )


def test_only_a_rollback_is_reviewed(started, chen):
    change = started()
    with pytest.raises(Conflict):
        services.review_rollback(
            actor=actor_for(chen), change_id=change.pk, expected_version=change.version, review="fine"
        )
