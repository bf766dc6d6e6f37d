"""Verifying the trail, and noting in it what was found, so that a break is seen by whoever looks next."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from apps.audit import queries
from apps.audit.services import checkpoints, trail
from apps.audit.services.checkpoints import Comparison
from apps.core.actor import Actor
from apps.core.errors import Conflict, Invalid
from apps.core.texts import kept


def verify(*, actor: Actor, report: queries.Report | None = None) -> Comparison:
    """Walk the trail, compare it with the kept checkpoints, and note the finding.

    Raises Invalid, after it was noted too, where a kept checkpoint was itself changed.
    """
    try:
        found = checkpoints.compare(checkpoints.kept(), report=report)
    except Invalid as error:
        _note(actor, intact=False, first_bad_seq=None, **_fault(error.message))
        raise
    result = found.verification
    _note(
        actor,
        intact=result.intact,
        first_bad_seq=result.first_bad_seq,
        **_fault(result.reason),
        count=result.count,
        head_seq=result.head_seq,
        checkpoints=found.checkpoints,
    )
    return found


def _fault(text: str) -> dict[str, Any]:
    """The fault in English and, where it has values in it, what says it in another language."""
    again = kept(text)
    return {"fault": text, queries.FAULT_KEPT: again} if again else {"fault": text}


def _note(actor: Actor, **finding: Any) -> None:
    """Note a finding, unless the trail's end itself is what was touched: the caller tells it all the same."""
    with suppress(trail.TrailBroken, Conflict), trail.deciding():
        trail.record(actor=actor, action=queries.VERIFIED, on=queries.head(), **finding)
