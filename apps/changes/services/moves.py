"""What every decision about a change shares: its facts, its digest, and a move between states."""

from __future__ import annotations

from typing import Any

from django.db.models import F
from django.urls import reverse
from django.utils.translation import gettext as _

from apps.audit.services import record
from apps.changes import queries
from apps.changes.engine import states
from apps.changes.models import Change, ChangeEditor, Stage, Target
from apps.core import digest
from apps.core.actor import Actor
from apps.core.errors import Conflict, Stale
from apps.core.rights import Right, TokenScope
from apps.core.texts import say, word
from apps.jobs.services.webhooks import announce


def may_write(actor: Actor, scope_id: int) -> None:
    """Needs OPERATE in the scope, and change:write of a token."""
    actor.require(Right.OPERATE, scope_id)
    actor.require_token_scope(TokenScope.CHANGE_WRITE)


def locked(actor: Actor, change_id: int, right: Right = Right.READ) -> Change:
    """A change whose row is locked, so that what is decided next is decided on what it is now.

    Without the lock two approvals at the same moment would each count only themselves on PostgreSQL.
    Raises Missing, NotAllowed.
    """
    list(Change.objects.select_for_update().filter(pk=change_id).values_list("pk"))
    return queries.change_for(actor, change_id, right)


def require_version(change: Change, expected_version: int) -> None:
    """Raises Stale, with who edited the change last and when, where it is not the version that was seen."""
    if change.version != expected_version:
        raise Stale(
            say("the change was changed meanwhile (now version %(version)s)", version=change.version),
            version=change.version,
            edited_by=change.last_editor.name,
            edited_at=change.edited_at,
        )


def content_of(change: Change) -> dict[str, Any]:
    """What people approve: what is changed where, in which stages, and why."""
    targets = Target.objects.filter(change=change).select_related("node", "stage").order_by("id")
    return {
        "kind": change.kind,
        "domain": change.domain_id,
        "title": change.title,
        "reason": change.reason,
        "back_out": change.back_out,
        "approvals_needed": change.approvals_needed,
        "revision": change.revision,
        "stages": [[s.number, s.name, s.soak_s] for s in Stage.objects.filter(change=change)],
        "targets": sorted([t.stage.number, t.node.name, t.component, t.values] for t in targets),
    }


def summary_of(change: Change) -> dict[str, Any]:
    """The content for the audit trail: short, however many nodes there are, and bound by its digest."""
    return {
        "title": change.title,
        "kind": change.kind,
        "domain": change.domain.name,
        "revision": change.revision,
        "digest": change.content_digest,
        "wanted": queries.wanted_in(change.targets.all()),
    }


def set_digest(change: Change) -> str:
    """Compute and keep the digest of the content."""
    change.content_digest = digest.of_value(content_of(change))
    Change.objects.filter(pk=change.pk).update(content_digest=change.content_digest)
    return change.content_digest


def says_what_was_asked(change: Change) -> bool:
    """Whether its digest, for which approvals stand, is still that of its content."""
    return change.content_digest == digest.of_value(content_of(change))


def require_content(change: Change) -> None:
    """Raises Conflict where a change says something else by now than its digest, for which approvals stand."""
    if not says_what_was_asked(change):
        raise Conflict(
            say("the change is not what was asked for any more (is a node renamed?): save it anew"),
            code="content_changed",
        )


def move(change: Change, *, to: states.State, expected_version: int, **fields: Any) -> None:
    """Move a change by conditional update on state and version.

    Raises Stale where somebody changed it meanwhile, Conflict where the state has no such move.
    """
    require_version(change, expected_version)
    if not states.may_move(states.State(change.state), to):
        raise Conflict(
            say(
                "the change is %(state)s, it cannot become %(value)s",
                state=word(change.state),
                value=word(to.value),
            ),
            code="change_state",
            state=change.state,
        )
    moved = Change.objects.filter(pk=change.pk, state=change.state, version=expected_version).update(
        state=to.value, version=F("version") + 1, **fields
    )
    if not moved:
        raise Stale(_("the change was changed at the same moment"))
    change.refresh_from_db()


def note_editor(change: Change) -> None:
    """Keep for good that its last editor had a hand in a change; once for each person, at the first edit."""
    ChangeEditor.objects.get_or_create(
        change=change, person_id=change.last_editor_id, defaults={"at": change.edited_at}
    )


def note(
    actor: Actor, action: str, change: Change, *, tell: dict[str, Any] | None = None, **said: Any
) -> None:
    """The audit event of a decision about a change, and the message to whoever wants to know of it.

    tell: more for the message than what every one of them says.
    """
    record(actor=actor, action=action, on=change, scope_id=change.cluster.scope_id, **said)
    payload = {
        "change": change.pk,
        "title": change.title,
        "kind": change.kind,
        "state": change.state,
        "cluster": change.cluster.slug,
        "domain": change.domain.name,
        "digest": change.content_digest,
        "path": reverse("changes:change", args=[change.pk]),
        "by": actor.label,
    }
    announce(action, payload | (tell or {}), change.cluster.scope_id)


def fresh(actor: Actor, change: Change) -> Change:
    """The change as it is in the database now, with what pages need joined."""
    return queries.change_for(actor, change.pk)
