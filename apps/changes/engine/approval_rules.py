"""Who may approve what: never somebody who asked for it, ever edited it, or carries it out."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from apps.core.errors import Conflict, NotAllowed
from apps.core.texts import say


@dataclass(frozen=True, slots=True, kw_only=True)
class Involved:
    """The people of a change. editor_ids: everybody who edited it since its first draft."""

    requester_id: int
    editor_ids: frozenset[int]
    executor_id: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """An approval as it stands: by whom, and for which content of the change."""

    person_id: int
    digest: str


def require_second_person(involved: Involved, person_id: int) -> None:
    """Raises NotAllowed (four_eyes) for requester, editors and executor, whatever their roles are."""
    named = dict.fromkeys(involved.editor_ids, say("edited it"))
    named[involved.requester_id] = say("asked for it")
    if involved.executor_id is not None:
        named[involved.executor_id] = say("carries it out")
    if person_id in named:
        raise NotAllowed(
            say("a second person must approve: you %(named)s", named=named[person_id]),
            code="four_eyes",
            because=named[person_id],
        )


def approvals_that_count(
    given: Iterable[Given], *, involved: Involved, digest: str, able_ids: set[int]
) -> int:
    """How many people approved exactly this content and could still do so.

    able_ids: who holds the right today and has not left. The people of the change never count, whatever they
    were when they approved.
    """
    able = able_ids - involved.editor_ids - {involved.requester_id, involved.executor_id}
    return len({one.person_id for one in given if one.digest == digest and one.person_id in able})


def require_executor(given: Iterable[Given], *, digest: str, person_id: int | None) -> None:
    """Raises NotAllowed where the one who wants to carry the change out is one who approved it."""
    if any(one.person_id == person_id and one.digest == digest for one in given):
        raise NotAllowed(say("who approved a change does not carry it out"), code="four_eyes")


def require_approved(count: int, needed: int) -> None:
    """Raises Conflict where approvals are lacking, for instance because an approver has left."""
    if count < needed:
        raise Conflict(
            say("%(count)s of %(needed)s approvals count", count=count, needed=needed),
            code="approvals",
            count=count,
            needed=needed,
        )
