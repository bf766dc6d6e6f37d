"""The second pair of eyes: who counts, for what, and until when."""

from __future__ import annotations

import pytest
from django.db import DatabaseError, connection, transaction

from apps.accounts.models import RoleGrant, Token
from apps.audit.models import AuditEvent
from apps.changes import queries, services
from apps.changes.models import Approval, Change, Target
from apps.changes.services import Content, Wish
from apps.core.actor import Via
from apps.core.errors import Conflict, Invalid, Missing, NotAllowed, Stale
from apps.core.rights import Role
from apps.fleet.models import Node
from tests import factories
from tests.apps.changes.conftest import NEW
from tests.callers import actor_for


def approve(change, person, **fields):
    return services.approve_change(
        actor=actor_for(person, **fields), change_id=change.pk, expected_version=change.version
    )


def test_a_second_person_approves_and_the_change_may_start(submitted, chen):
    change = approve(submitted(), chen)
    assert change.state == "approved"
    assert queries.approvals_counting(change) == 1
    assert AuditEvent.objects.latest("seq").action == "change.approved"


def test_a_requester_cannot_approve_their_own_change_though_they_may_approve_others(submitted, bo, cluster):
    factories.grant(bo, Role.APPROVER, scope=cluster.scope)
    with pytest.raises(NotAllowed) as refused:
        approve(submitted(), bo)
    assert refused.value.code == "four_eyes"
    assert not Approval.objects.exists()


def test_an_administrator_of_everywhere_with_every_role_cannot_approve_their_own_change(
    submitted, ada, cluster
):
    for role in set(Role) - {Role.ADMIN}:
        factories.grant(ada, role)
    change = submitted(by=ada)
    with pytest.raises(NotAllowed) as refused:
        approve(change, ada)
    assert refused.value.code == "four_eyes"


def test_who_made_the_token_of_the_account_that_asked_cannot_approve(submitted, chen, cluster):
    robot = factories.service_account("CI", Role.OPERATOR, scope=cluster.scope)
    factories.bearer(robot, "change:write")
    Token.objects.filter(person=robot).update(created_by=chen)
    change = submitted(by=robot)
    with pytest.raises(NotAllowed) as refused:
        approve(change, chen)
    assert refused.value.code == "four_eyes"
    assert not Approval.objects.exists()


def test_who_made_the_token_of_an_account_that_edited_once_cannot_approve(drafted, chen, bo, cluster):
    robot = factories.service_account("CI", Role.OPERATOR, scope=cluster.scope)
    factories.bearer(robot, "change:write")
    Token.objects.filter(person=robot).update(created_by=chen)
    change = handed_in(edited(edited(drafted(), robot, title="Newer NCCL"), bo, title="Newer NCCL."), bo)
    with pytest.raises(NotAllowed) as refused:
        approve(change, chen)
    assert refused.value.code == "four_eyes"


@pytest.mark.parametrize("dots", [0, 1, 2])
def test_who_ever_edited_cannot_approve_though_others_add_a_dot(drafted, chen, cluster, bo, dots):
    factories.grant(chen, Role.OPERATOR, scope=cluster.scope)
    change = edited(drafted(), chen, title="Newer NCCL")
    for dot in range(1, dots + 1):
        change = edited(change, bo, title="Newer NCCL" + "." * dot)
    change = handed_in(change, bo)
    with pytest.raises(NotAllowed) as refused:
        approve(change, chen)
    assert refused.value.code == "four_eyes"
    assert not Approval.objects.exists()
    assert "Chen" in queries.approvers_of(change).barred
    assert "Chen" not in queries.approvers_of(change).able


def test_each_person_is_kept_once_as_an_editor_and_an_edit_of_nothing_makes_none(
    drafted, chen, sun, bo, cluster
):
    for person in (chen, sun):
        factories.grant(person, Role.OPERATOR, scope=cluster.scope)
    change = edited(drafted(), sun)
    for person, title in ((chen, "One"), (bo, "Two"), (chen, "Three")):
        change = edited(change, person, title=title)
    assert [row.person for row in change.editors.all()] == [bo, chen]


def test_an_edit_that_fails_makes_nobody_an_editor(drafted, chen, cluster):
    factories.grant(chen, Role.OPERATOR, scope=cluster.scope)
    change = drafted()
    with pytest.raises(Invalid):
        edited(change, chen, title=" ")
    assert not change.editors.filter(person=chen).exists()


@pytest.mark.parametrize("who", ["bo", "sun", "vic", "ada"])
def test_without_the_role_nobody_approves(submitted, who, request, cluster):
    somebody = request.getfixturevalue(who)
    change = submitted(by=factories.person("Other", Role.OPERATOR, scope=cluster.scope))
    with pytest.raises(NotAllowed) as refused:
        approve(change, somebody)
    assert refused.value.code == "role"


def test_of_another_cluster_the_change_is_not_even_there(submitted, eve):
    with pytest.raises(Missing):
        approve(submitted(), eve)


def test_a_token_cannot_approve(submitted, chen):
    with pytest.raises(NotAllowed) as refused:
        approve(submitted(), chen, via=Via.TOKEN)
    assert refused.value.code == "person_required"


def test_nobody_speaks_twice_on_the_same_content(submitted, chen):
    change = approve(submitted(approvals_needed=2), chen)
    assert change.state == "submitted"
    with pytest.raises(Conflict) as refused:
        approve(change, chen)
    assert refused.value.code == "approved_twice"


def test_the_last_approval_needed_decides(submitted, chen, cluster):
    dan = factories.person("Dan", Role.APPROVER, scope=cluster.scope)
    change = submitted(approvals_needed=2)
    assert approve(change, chen).state == "submitted"
    assert approve(change, dan).state == "approved"


def test_an_approval_of_an_older_page_is_refused_with_who_edited_it(submitted, chen, bo):
    seen = submitted()
    edited(seen, bo, reason="and one more fix")
    with pytest.raises(Stale) as refused:
        approve(seen, chen)
    assert refused.value.fields["edited_by"] == "Bo"


def test_a_refusal_needs_a_reason_and_ends_the_change(submitted, chen):
    change = submitted()
    refuse = {"actor": actor_for(chen), "change_id": change.pk, "expected_version": change.version}
    with pytest.raises(Invalid):
        services.refuse_change(**refuse, note="  ")
    assert services.refuse_change(**refuse, note="not before the release").state == "refused"


def handed_in(change, person):
    return services.submit_change(
        actor=actor_for(person), change_id=change.pk, expected_version=change.version
    )


def edited(change, person, **said):
    values = {
        "title": change.title,
        "reason": change.reason,
        "wishes": (Wish(component="nccl", values=(NEW,)),),
        "approvals_needed": change.approvals_needed,
        "soak_s": (0, 0),
    }
    return services.edit_change(
        actor=actor_for(person),
        change_id=change.pk,
        expected_version=change.version,
        content=Content(**values | said),
    )


def test_an_edit_voids_approvals_and_another_approval_does_not(submitted, chen, bo, cluster):
    dan = factories.person("Dan", Role.APPROVER, scope=cluster.scope)
    change = approve(submitted(approvals_needed=3), chen)
    change = approve(change, dan)
    assert queries.approvals_counting(change) == 2
    change = edited(change, bo, reason="another reason")
    assert (change.state, queries.approvals_counting(change)) == ("draft", 0)


def test_an_edit_to_and_fro_does_not_revive_approvals(approved, bo):
    change = approved()
    change = edited(change, bo, title="Something else")
    change = edited(change, bo, title="New NCCL")
    assert queries.approvals_counting(change) == 0


def test_an_edit_that_changes_nothing_writes_nothing(approved, bo):
    change, events = approved(), AuditEvent.objects.count()
    same = edited(change, bo)
    assert (same.state, same.version) == ("approved", change.version)
    assert AuditEvent.objects.count() == events


def test_the_approval_of_somebody_who_left_counts_no_more(approved, chen, bo):
    change = approved()
    chen.is_active = False
    chen.save()
    start = {"actor": actor_for(bo), "change_id": change.pk, "expected_version": change.version}
    with pytest.raises(Conflict) as refused:
        services.start_change(**start)
    assert refused.value.code == "approvals"
    chen.is_active = True
    chen.save()
    assert services.start_change(**start).state == "running"


def test_the_approval_of_somebody_who_lost_the_role_counts_no_more(approved, chen, bo):
    change = approved()
    RoleGrant.objects.filter(person=chen).delete()
    with pytest.raises(Conflict) as refused:
        services.start_change(actor=actor_for(bo), change_id=change.pk, expected_version=change.version)
    assert refused.value.code == "approvals"


def test_who_approved_does_not_carry_it_out(approved, chen, cluster):
    factories.grant(chen, Role.OPERATOR, scope=cluster.scope)
    change = approved()
    with pytest.raises(NotAllowed) as refused:
        services.start_change(actor=actor_for(chen), change_id=change.pk, expected_version=change.version)
    assert refused.value.code == "four_eyes"


def refused_by_database(call) -> str:
    with pytest.raises(DatabaseError) as refused, transaction.atomic():
        call()
    return str(refused.value)


@pytest.mark.parametrize("part", ["requester", "an editor", "the last editor", "executor"])
def test_the_database_itself_refuses_an_approval_by_the_people_of_the_change(drafted, part, sun, bo, cluster):
    factories.grant(sun, Role.OPERATOR, scope=cluster.scope)
    change = drafted(by=sun if part == "requester" else bo)
    if part in ("an editor", "the last editor"):
        change = edited(change, sun, title="Newer NCCL")
    if part == "an editor":
        change = edited(change, bo, title="Newer NCCL.")
    if part == "executor":
        Change.objects.filter(pk=change.pk).update(executor=sun)
    change = handed_in(change, bo)
    row = {
        "change": change,
        "content_digest": change.content_digest,
        "approves": True,
        "at": change.created_at,
    }
    assert "four eyes" in refused_by_database(lambda: Approval.objects.create(person=sun, **row))
    Approval.objects.create(person=factories.person("Dan"), **row)


def test_the_database_itself_refuses_an_executor_who_approved(approved, chen, sun):
    change = Change.objects.filter(pk=approved().pk)
    assert "four eyes" in refused_by_database(lambda: change.update(executor=chen))
    assert change.update(executor=sun) == 1


@pytest.mark.parametrize("column", ["requester", "last_editor"])
@pytest.mark.parametrize("state", ["submitted", "approved", "running"])
def test_the_database_itself_refuses_other_authors_of_what_was_handed_in(request, sun, column, state):
    change = request.getfixturevalue({"running": "started"}.get(state, state))()
    rows = Change.objects.filter(pk=change.pk)
    assert "who asked for a change" in refused_by_database(lambda: rows.update(**{column: sun}))
    assert rows.get().state == state


@pytest.mark.parametrize("said", [{}, {"state": "draft"}], ids=["as it is", "as a draft"])
def test_the_database_itself_refuses_another_last_editor_without_an_edit(submitted, sun, said):
    rows = Change.objects.filter(pk=submitted().pk)
    assert "only an edit" in refused_by_database(lambda: rows.update(last_editor=sun, **said))


def test_who_edited_stays(drafted, chen, bo):
    editors = drafted().editors
    assert "kept" in refused_by_database(lambda: editors.update(person=chen))
    assert "kept" in refused_by_database(lambda: editors.all()._raw_delete("default"))
    assert [row.person for row in editors.all()] == [bo]


def test_approvals_stay_as_they_are(approved):
    approved()
    assert "kept" in refused_by_database(lambda: Approval.objects.update(note="rewritten"))
    assert "kept" in refused_by_database(lambda: Approval.objects.all()._raw_delete("default"))
    with connection.cursor() as cursor:
        cursor.execute("SELECT COUNT(*) FROM changes_approval")
        assert cursor.fetchone() == (1,)


def test_a_change_does_not_go_away_beneath_its_approvals(approved):
    approved()
    assert "stays" in refused_by_database(lambda: Change.objects.all()._raw_delete("default"))
    assert Approval.objects.get().change == Change.objects.get()


def test_a_change_stays_in_its_cluster(submitted):
    rows = Change.objects.filter(pk=submitted().pk)
    elsewhere = factories.cluster("elsewhere", is_demo=True)
    assert "stays in its cluster" in refused_by_database(lambda: rows.update(cluster=elsewhere))


def test_the_database_itself_refuses_an_approval_of_a_change_that_is_yet_to_come(submitted, sun):
    change = submitted()
    row = {"content_digest": change.content_digest, "approves": True, "at": change.created_at}
    assert "four eyes" in refused_by_database(
        lambda: Approval.objects.create(change_id=change.pk + 1, person=sun, **row)
    )


def test_the_database_itself_refuses_an_executor_who_approved_by_way_of_another_content(approved, chen):
    change = approved()
    rows = Change.objects.filter(pk=change.pk)
    rows.update(content_digest="0" * 64)
    rows.update(executor=chen)
    assert "four eyes" in refused_by_database(lambda: rows.update(content_digest=change.content_digest))


@pytest.mark.parametrize("column", ["reviewed_by", "reviewed_at", "review"])
def test_a_review_is_kept_as_it_is(submitted, sun, chen, column):
    change = submitted()
    rows = Change.objects.filter(pk=change.pk)
    rows.update(reviewed_by=sun, reviewed_at=change.created_at, review="it was right")
    said = {"reviewed_by": chen, "reviewed_at": None, "review": "it was wrong"}[column]
    assert "review is kept" in refused_by_database(lambda: rows.update(**{column: said}))
    assert rows.update(title="another") == 1


@pytest.mark.parametrize("by", ["other targets", "a renamed node"])
def test_what_says_something_else_than_was_asked_is_neither_approved_nor_started(submitted, chen, bo, by):
    def behind_its_back():
        if by == "other targets":
            Target.objects.update(values=["6.6.6"])
        else:
            Node.objects.filter(name="sn-01").update(name="sn-01b")

    change = submitted()
    waiting = submitted()
    approve(change, chen)
    behind_its_back()
    change.refresh_from_db()
    with pytest.raises(Conflict) as start:
        services.start_change(actor=actor_for(bo), change_id=change.pk, expected_version=change.version)
    with pytest.raises(Conflict) as approval:
        approve(waiting, chen)
    assert start.value.code == approval.value.code == "content_changed"


def test_a_change_whose_node_was_renamed_is_saved_anew_and_approved_again(approved, chen, bo):
    change = approved()
    Node.objects.filter(name="sn-01").update(name="sn-01b")

    change = handed_in(edited(change, bo), bo)

    assert change.revision == 2
    assert approve(change, chen).state == "approved"
