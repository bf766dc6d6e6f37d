"""The second pair of eyes."""

from __future__ import annotations

from django.db import DatabaseError, IntegrityError, transaction

from apps.accounts.queries import active_person_ids
from apps.audit.services import decision
from apps.changes import queries
from apps.changes.engine import approval_rules
from apps.changes.engine.states import State
from apps.changes.models import Approval, Change
from apps.changes.services import moves
from apps.core import clock
from apps.core.actor import Actor
from apps.core.errors import Conflict, FieldError, Invalid, NotAllowed, Stale
from apps.core.rights import Right


@decision
def approve_change(*, actor: Actor, change_id: int, expected_version: int, note: str = "") -> Change:
    """Give one approval of the content as it is; the last one needed moves the change to approved.

    Raises NotAllowed (role, four_eyes, person_required), Stale (edited meanwhile), Conflict (wrong state).
    """
    change = _voice(actor, change_id, expected_version, approves=True, note=note)
    counting = approvals_counting(change)
    if counting >= change.approvals_needed:
        moves.move(change, to=State.APPROVED, expected_version=change.version)
    moves.note(actor, "change.approved", change, after=_said(change) | {"count": counting}, reason=note)
    return moves.fresh(actor, change)


@decision
def refuse_change(*, actor: Actor, change_id: int, expected_version: int, note: str) -> Change:
    """Refuse the content as it is; the change is over. Raises as approve_change, and Invalid without a note."""
    if not note.strip():
        raise Invalid("say why", errors=[FieldError(pointer="/note", message="a reason is needed")])
    change = _voice(actor, change_id, expected_version, approves=False, note=note)
    moves.move(
        change, to=State.REFUSED, expected_version=change.version, ended_at=clock.now(), ended_reason=note
    )
    moves.note(actor, "change.refused", change, after=_said(change), reason=note)
    return moves.fresh(actor, change)


def approvals_counting(change: Change) -> int:
    """How many approvals of the content count, of people who have not left."""
    given = moves.given_for(change)
    return approval_rules.approvals_that_count(
        given,
        digest=change.content_digest,
        active_ids=active_person_ids({one.person_id for one in given}),
    )


def _voice(actor: Actor, change_id: int, expected_version: int, *, approves: bool, note: str) -> Change:
    person_id = actor.require_person_present()
    change = queries.change_for(actor, change_id, Right.APPROVE)
    approval_rules.require_second_person(moves.involved_in(change), person_id)
    if change.state != State.SUBMITTED:
        raise Conflict(
            f"the change is {change.state}, it waits for nobody", code="change_state", state=change.state
        )
    # An approval does not move the version, so two people may approve the same page; an edit does.
    if change.version != expected_version:
        raise Stale(f"the change was edited meanwhile (now version {change.version})", version=change.version)
    try:
        with transaction.atomic():
            Approval.objects.create(
                change=change,
                person_id=person_id,
                content_digest=change.content_digest,
                approves=approves,
                note=note.strip(),
                at=clock.now(),
            )
    except IntegrityError as error:
        raise Conflict("you have spoken on this change already", code="approved_twice") from error
    except DatabaseError as error:  # the trigger: somebody became editor or executor at this very moment
        raise NotAllowed("a second person must approve", code="four_eyes") from error
    return change


def _said(change: Change) -> dict[str, object]:
    return {"digest": change.content_digest, "state": change.state, "needed": change.approvals_needed}
