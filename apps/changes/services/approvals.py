"""The second pair of eyes."""

from __future__ import annotations

from django.db import DatabaseError, IntegrityError, transaction
from django.utils.translation import gettext as _

from apps.accounts.queries import token_makers
from apps.audit.services import decision
from apps.changes import queries
from apps.changes.engine import approval_rules
from apps.changes.engine.states import State
from apps.changes.models import Approval, Change
from apps.changes.services import moves
from apps.core import clock
from apps.core.actor import Actor
from apps.core.errors import Conflict, NotAllowed
from apps.core.reasons import require_reason
from apps.core.rights import Right
from apps.core.texts import say, word


@decision
def approve_change(*, actor: Actor, change_id: int, expected_version: int, note: str = "") -> Change:
    """Give one approval of the content as it is; the last one needed moves the change to approved.

    Raises NotAllowed (role, four_eyes, person_required), Stale (edited meanwhile), Conflict (wrong state, or not
    what was asked for any more), Invalid (a note that cannot be read).
    """
    if note:
        require_reason(note, pointer="/note")
    change = _voice(actor, change_id, expected_version, approves=True, note=note)
    counting = queries.approvals_counting(change)
    if counting >= change.approvals_needed:
        moves.move(change, to=State.APPROVED, expected_version=change.version)
    moves.note(actor, "change.approved", change, after=_said(change) | {"count": counting}, reason=note)
    return moves.fresh(actor, change)


@decision
def refuse_change(*, actor: Actor, change_id: int, expected_version: int, note: str) -> Change:
    """Refuse the content as it is; the change is over. Raises as approve_change, and Invalid without a note."""
    text = require_reason(note, pointer="/note")
    change = _voice(actor, change_id, expected_version, approves=False, note=text)
    moves.move(
        change, to=State.REFUSED, expected_version=change.version, ended_at=clock.now(), ended_reason=text
    )
    moves.note(actor, "change.refused", change, after=_said(change), reason=text)
    return moves.fresh(actor, change)


def _voice(actor: Actor, change_id: int, expected_version: int, *, approves: bool, note: str) -> Change:
    person_id = actor.require_person_present()
    change = moves.locked(actor, change_id, Right.APPROVE)
    involved = queries.involved_in(change)
    approval_rules.require_second_person(involved, person_id)
    if any(person_id in token_makers(one) for one in involved.editor_ids | {involved.requester_id}):
        raise NotAllowed(_("a second person must approve: your token asked for it"), code="four_eyes")
    # An approval does not move the version, so two people may approve the same page; an edit does.
    moves.require_version(change, expected_version)
    if change.state != State.SUBMITTED:
        raise Conflict(
            say("the change is %(state)s, it waits for nobody", state=word(change.state)),
            code="change_state",
            state=change.state,
        )
    if approves:
        moves.require_content(change)
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
    except DatabaseError as error:
        raise _refusal(error) from error
    return change


def _refusal(error: DatabaseError) -> Exception:
    """What the database refused: SQLite reports its triggers as integrity errors too, so the words decide."""
    if "four eyes" in str(error):
        return NotAllowed(_("a second person must approve"), code="four_eyes")
    if isinstance(error, IntegrityError):
        return Conflict(_("you have spoken on this change already"), code="approved_twice")
    return error


def _said(change: Change) -> dict[str, object]:
    return {"digest": change.content_digest, "state": change.state, "needed": change.approvals_needed}
