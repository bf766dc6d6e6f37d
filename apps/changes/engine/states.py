"""The states of a change and the moves between them."""

from __future__ import annotations

from enum import StrEnum


class State(StrEnum):
    DRAFT = "draft"
    SUBMITTED = "submitted"
    APPROVED = "approved"
    RUNNING = "running"
    VERIFYING = "verifying"
    DONE = "done"
    REFUSED = "refused"
    FAILED = "failed"
    ROLLED_BACK = "rolled_back"
    CANCELLED = "cancelled"


_MOVES: dict[State, frozenset[State]] = {
    State.DRAFT: frozenset({State.SUBMITTED, State.CANCELLED}),
    State.SUBMITTED: frozenset({State.DRAFT, State.APPROVED, State.REFUSED, State.CANCELLED}),
    State.APPROVED: frozenset({State.DRAFT, State.SUBMITTED, State.RUNNING, State.CANCELLED}),
    State.RUNNING: frozenset({State.VERIFYING, State.FAILED, State.ROLLED_BACK}),
    State.VERIFYING: frozenset({State.DONE, State.FAILED, State.ROLLED_BACK}),
    State.DONE: frozenset({State.ROLLED_BACK}),
    State.FAILED: frozenset({State.ROLLED_BACK}),
}

EDITABLE = frozenset({State.DRAFT, State.SUBMITTED, State.APPROVED})
UNDER_WAY = frozenset({State.RUNNING, State.VERIFYING})
OPEN = EDITABLE | UNDER_WAY


def may_move(current: State, to: State) -> bool:
    """Whether the state machine has this move."""
    return to in _MOVES.get(current, frozenset())
