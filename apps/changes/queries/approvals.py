"""Approvals of a change: which there are, and which count today."""

from __future__ import annotations

from apps.accounts.queries import Hands, hands_for, people_with
from apps.changes.engine import approval_rules
from apps.changes.models import Change, ChangeEditor
from apps.core.rights import Right


def given_for(change: Change) -> list[approval_rules.Given]:
    """All approvals (not refusals) of a change, for whatever content."""
    rows = change.approvals.filter(approves=True).values_list("person_id", "content_digest")
    return [approval_rules.Given(person_id=person_id, digest=mark) for person_id, mark in rows]


def editors_of(change: Change) -> frozenset[int]:
    """Ids of everybody who edited a change since its first draft, whoever drafted it among them."""
    editors = ChangeEditor.objects.filter(change=change).values_list("person_id", flat=True)
    return frozenset(editors) | {change.last_editor_id}


def involved_in(change: Change) -> approval_rules.Involved:
    """The people of a change, as the rules take them."""
    return approval_rules.Involved(
        requester_id=change.requester_id,
        editor_ids=editors_of(change),
        executor_id=change.executor_id,
    )


def approvals_counting(change: Change) -> int:
    """How many approvals of the content count: of people who may still approve here and have not left."""
    able = {person.pk for person in people_with(Right.APPROVE, scope_id=change.cluster.scope_id)}
    return approval_rules.approvals_that_count(
        given_for(change), involved=involved_in(change), digest=change.content_digest, able_ids=able
    )


def approvers_of(change: Change) -> Hands:
    """Who could still approve the change as it is; who has a hand in it or has spoken on it could not."""
    spoke = change.approvals.filter(content_digest=change.content_digest)
    involved = editors_of(change) | {change.requester_id} | set(spoke.values_list("person_id", flat=True))
    return hands_for(Right.APPROVE, scope_id=change.cluster.scope_id, involved_ids=involved)


def reviewers_of(rollback: Change) -> Hands:
    """Who could review a rollback: anybody with the role but who started it."""
    return hands_for(Right.APPROVE, scope_id=rollback.cluster.scope_id, involved_ids={rollback.requester_id})
