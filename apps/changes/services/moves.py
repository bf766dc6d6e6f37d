"""What every decision about a change shares: its facts, its digest, and a move between states."""

from __future__ import annotations

from typing import Any

from django.db.models import F

from apps.audit.services import record
from apps.changes import queries
from apps.changes.engine import approval_rules, states
from apps.changes.models import Change, Stage, Target
from apps.core import digest
from apps.core.actor import Actor
from apps.core.errors import Conflict, Stale
from apps.core.rights import Right, TokenScope


def may_write(actor: Actor, scope_id: int) -> None:
    """Needs OPERATE in the scope, and change:write of a token."""
    actor.require(Right.OPERATE, scope_id)
    actor.require_token_scope(TokenScope.CHANGE_WRITE)


def content_of(change: Change) -> dict[str, Any]:
    """What people approve: what is changed where, in which stages, and why."""
    targets = Target.objects.filter(change=change).select_related("node", "stage").order_by("id")
    return {
        "kind": change.kind,
        "domain": change.domain_id,
        "title": change.title,
        "reason": change.reason,
        "back_out": change.back_out,
        "stages": [[s.number, s.name, s.soak_s] for s in Stage.objects.filter(change=change)],
        "targets": sorted([t.stage.number, t.node.name, t.component, t.values] for t in targets),
    }


def set_digest(change: Change) -> str:
    """Compute and keep the digest of the content."""
    change.content_digest = digest.of_value(content_of(change))
    Change.objects.filter(pk=change.pk).update(content_digest=change.content_digest)
    return change.content_digest


def move(change: Change, *, to: states.State, expected_version: int, **fields: Any) -> None:
    """Move a change by conditional update on state and version.

    Raises Stale where somebody changed it meanwhile, Conflict where the state has no such move.
    """
    if change.version != expected_version:
        raise Stale(f"the change was edited meanwhile (now version {change.version})", version=change.version)
    if not states.may_move(states.State(change.state), to):
        raise Conflict(
            f"the change is {change.state}, it cannot become {to.value}",
            code="change_state",
            state=change.state,
        )
    moved = Change.objects.filter(pk=change.pk, state=change.state, version=expected_version).update(
        state=to.value, version=F("version") + 1, **fields
    )
    if not moved:
        raise Stale("the change was edited at the same moment")
    change.refresh_from_db()


def involved_in(change: Change) -> approval_rules.Involved:
    return approval_rules.Involved(
        requester_id=change.requester_id,
        last_editor_id=change.last_editor_id,
        executor_id=change.executor_id,
    )


def given_for(change: Change) -> list[approval_rules.Given]:
    """All approvals (not refusals) of a change, for whatever content."""
    rows = change.approvals.filter(approves=True).values_list("person_id", "content_digest")
    return [approval_rules.Given(person_id=person_id, digest=mark) for person_id, mark in rows]


def note(actor: Actor, action: str, change: Change, **said: Any) -> None:
    """The audit event of a decision about a change."""
    record(actor=actor, action=action, on=change, scope_id=change.cluster.scope_id, **said)


def fresh(actor: Actor, change: Change) -> Change:
    return queries.change_for(actor, change.pk)
