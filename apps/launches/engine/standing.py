"""The standing of a launch: what its newest evaluation, its signatures and the time make of it."""

from __future__ import annotations

from enum import IntEnum, StrEnum

from apps.core.texts import Text, say
from apps.core.verdicts import Verdict


class Standing(StrEnum):
    PENDING = "pending"
    GO = "go"
    NO_GO = "no_go"
    NEEDS_SIGNOFF = "needs_signoff"
    UNKNOWN = "unknown"


# A standing as people say it.
STANDING_WORDS: dict[Standing, Text] = {
    Standing.PENDING: say("pending"),
    Standing.GO: say("GO"),
    Standing.NO_GO: say("NO-GO"),
    Standing.NEEDS_SIGNOFF: say("needs sign-off"),
    Standing.UNKNOWN: say("unknown"),
}


class ExitCode(IntEnum):
    """What the client's `gate` command ends with; one meaning for each."""

    GO = 0
    NO_GO = 1
    USAGE = 2
    UNKNOWN = 3
    NOT_AUTHORISED = 4
    TIMED_OUT = 5
    PORTAL_DOWN = 6
    NEEDS_SIGNOFF = 10


EXIT_CODES: dict[Standing, ExitCode] = {
    Standing.GO: ExitCode.GO,
    Standing.NO_GO: ExitCode.NO_GO,
    Standing.UNKNOWN: ExitCode.UNKNOWN,
    Standing.PENDING: ExitCode.UNKNOWN,
    Standing.NEEDS_SIGNOFF: ExitCode.NEEDS_SIGNOFF,
}


def standing_of(
    *, verdict: Verdict | None, is_stale: bool, signed_go: int, signed_no_go: int, needed: int
) -> Standing:
    """Where a launch stands.

    verdict: of the newest evaluation, None while it is under way. is_stale: its time is over or an input has
    changed. A signature against it closes the gate, whatever the items say.
    """
    if verdict is None:
        return Standing.PENDING
    if is_stale:
        return Standing.UNKNOWN
    if verdict is Verdict.FAIL or signed_no_go:
        return Standing.NO_GO
    if verdict is Verdict.UNKNOWN:
        return Standing.UNKNOWN
    return Standing.GO if signed_go >= needed else Standing.NEEDS_SIGNOFF
