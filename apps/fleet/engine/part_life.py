"""Where a board or card stands when no node holds it, and how it may move: removed, spare, in repair (RMA), retired."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from apps.core.texts import joined, say, word


class PartStage(StrEnum):
    REMOVED = "removed"  # it left a node, and nobody has said yet what becomes of it
    SPARE = "spare"
    REPAIR = "repair"
    INSTALLED = "installed"
    RETIRED = "retired"


# Nobody declares a part installed or removed: reports of nodes tell that.
MOVES: Mapping[PartStage, tuple[PartStage, ...]] = {
    PartStage.REMOVED: (PartStage.SPARE, PartStage.REPAIR, PartStage.RETIRED),
    PartStage.SPARE: (PartStage.REPAIR, PartStage.RETIRED),
    PartStage.REPAIR: (PartStage.SPARE, PartStage.RETIRED),
    PartStage.INSTALLED: (),
    PartStage.RETIRED: (),
}


def refusal(*, now: str, to: str) -> str:
    """Why a part may not move; "" where it may."""
    allowed = MOVES[PartStage(now)]
    if to in allowed:
        return ""
    if not allowed:
        return say("a part that is %(now)s is moved by nobody", now=word(now))
    return say(
        "a part that is %(now)s can become %(allowed)s",
        now=word(now),
        allowed=joined(", ", [word(stage) for stage in allowed]),
    )
