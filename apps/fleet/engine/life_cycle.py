"""Where a node stands in its life, and how it may move: in service, spare, in repair (RMA), retired."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from apps.core.texts import joined, say, word


class Stage(StrEnum):
    IN_SERVICE = "in_service"
    SPARE = "spare"
    REPAIR = "repair"
    RETIRED = "retired"


# A retired node comes back as a spare only, so that somebody looks at it before it takes work again.
MOVES: Mapping[Stage, tuple[Stage, ...]] = {
    Stage.IN_SERVICE: (Stage.SPARE, Stage.REPAIR, Stage.RETIRED),
    Stage.SPARE: (Stage.IN_SERVICE, Stage.REPAIR, Stage.RETIRED),
    Stage.REPAIR: (Stage.IN_SERVICE, Stage.SPARE, Stage.RETIRED),
    Stage.RETIRED: (Stage.SPARE,),
}


def refusal(*, now: str, to: str, holds: frozenset[str]) -> str:
    """Why a node may not move; "" where it may.

    holds: kinds of its active holds. Work that holds a node ends first; a retired node holds nothing at all.
    """
    if Stage(to) not in MOVES[Stage(now)]:
        allowed = joined(", ", [word(stage) for stage in MOVES[Stage(now)]])
        return say("a node that is %(now)s can become %(allowed)s", now=word(now), allowed=allowed)
    busy = holds & ({"training", "change"} if to != Stage.RETIRED else holds)
    if busy and to != Stage.IN_SERVICE:
        return say(
            "the node is held for %(busy)s; that ends first",
            busy=joined(", ", [word(kind) for kind in sorted(busy)]),
        )
    return ""
