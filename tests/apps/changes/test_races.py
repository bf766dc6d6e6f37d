"""Decisions at the same moment, in threads on a database in which commits are real."""

from __future__ import annotations

import pytest

from apps.changes import queries, services
from apps.changes.models import Approval, Change
from apps.changes.services import Content, Wish
from apps.core.rights import Role
from tests import factories
from tests.apps.changes.conftest import NEW, OLD
from tests.callers import actor_for
from tests.support.races import at_once

pytestmark = pytest.mark.postgres


def approval_by(person, change):
    actor = actor_for(person)
    return lambda: (
        services.approve_change(actor=actor, change_id=change.pk, expected_version=change.version).state
    )


def test_two_approvals_at_once_are_both_counted(committed_database, submitted, chen, cluster):
    dan = factories.person("Dan", Role.APPROVER, scope=cluster.scope)
    change = submitted(approvals_needed=2)
    results = at_once(approval_by(chen, change), approval_by(dan, change))
    assert sorted(results) == ["approved", "submitted"]
    change.refresh_from_db()
    assert (change.state, queries.approvals_counting(change)) == ("approved", 2)


def test_of_two_approvals_where_one_is_enough_one_decides(committed_database, submitted, chen, cluster):
    dan = factories.person("Dan", Role.APPROVER, scope=cluster.scope)
    change = submitted()
    results = at_once(approval_by(chen, change), approval_by(dan, change))
    assert sorted(results) == ["approved", "stale"]
    assert Approval.objects.count() == 1


def test_one_person_twice_at_once_speaks_once(committed_database, submitted, chen):
    change = submitted(approvals_needed=2)
    results = at_once(approval_by(chen, change), approval_by(chen, change))
    assert sorted(results) == ["approved_twice", "submitted"]


def test_an_approval_and_an_edit_at_once_never_leave_another_content_approved(
    committed_database, submitted, chen, bo
):
    change = submitted()
    content = Content(title="Other", reason="why", wishes=(Wish(component="nccl", values=("9",)),))
    editor = actor_for(bo)

    def edit() -> str:
        return services.edit_change(
            actor=editor, change_id=change.pk, expected_version=change.version, content=content
        ).state

    results = at_once(approval_by(chen, change), edit)
    assert sorted(results) in (["draft", "stale"], ["approved", "stale"])
    change.refresh_from_db()
    is_approved = change.state == "approved"
    assert queries.approvals_counting(change) == int(is_approved)
    assert change.title == ("New NCCL" if is_approved else "Other")


def test_a_start_and_an_edit_at_once_leave_one_of_them(committed_database, approved, bo):
    change = approved()
    content = Content(title="Other", reason="why", wishes=(Wish(component="nccl", values=("9",)),))
    actor = actor_for(bo)
    seen = {"actor": actor, "change_id": change.pk, "expected_version": change.version}
    results = at_once(
        lambda: services.start_change(**seen).state,
        lambda: services.edit_change(**seen, content=content).state,
    )
    assert sorted(results) in (["running", "stale"], ["draft", "stale"])


def test_two_rollbacks_of_one_change_at_once_are_one(committed_database, started, bo, nodes):
    change = started()
    factories.report(nodes[0], nccl=NEW)
    actor = actor_for(bo)

    def undo() -> str:
        return services.roll_back_change(
            actor=actor, change_id=change.pk, expected_version=change.version, reason="back"
        ).state

    results = at_once(undo, undo)
    assert sorted(results) == ["running", "stale"]
    assert Change.objects.filter(reverses=change).count() == 1


def test_the_last_two_reports_at_once_close_the_rollback(committed_database, started, bo, nodes):
    change = started()
    for node in nodes[:2]:
        factories.report(node, gpu_driver="570.86.15", nccl=NEW)
    services.consider_reports(node_ids=[node.pk for node in nodes[:2]])
    change.refresh_from_db()
    rollback = services.roll_back_change(
        actor=actor_for(bo), change_id=change.pk, expected_version=change.version, reason="back"
    )
    for node in nodes[:2]:
        factories.report(node, gpu_driver="570.86.15", nccl=OLD)
    results = at_once(
        lambda: services.consider_reports(node_ids=[nodes[0].pk]),
        lambda: services.consider_reports(node_ids=[nodes[1].pk]),
    )
    assert sorted(results, key=len) == [[], [rollback.pk]]
    rollback.refresh_from_db()
    assert rollback.state == "done"
