"""Two of three: a state changes when two of the last three observations agree, so that it does not flap."""

from __future__ import annotations

from collections.abc import Sequence

from apps.core.verdicts import Verdict

NEEDED = 2
WINDOW = 3


def settled(current: Verdict, newest_last: Sequence[Verdict]) -> Verdict:
    """The state after the newest observation.

    current: the state so far; unknown before the first decision. newest_last: observations, oldest first.
    A fail needs NEEDED fails among the last WINDOW observations; a warn needs as many that are warn or
    worse; a pass as many passes. Unknown (a time-out) counts for nothing: it is neither failure nor health,
    but a window full of it is unknown. Where nothing is decided, the state stays.
    """
    recent = list(newest_last)[-WINDOW:]
    if recent.count(Verdict.FAIL) >= NEEDED:
        return Verdict.FAIL
    if recent.count(Verdict.FAIL) + recent.count(Verdict.WARN) >= NEEDED:
        return Verdict.WARN
    if recent.count(Verdict.PASS) >= NEEDED:
        return Verdict.PASS
    if len(recent) >= WINDOW and all(verdict is Verdict.UNKNOWN for verdict in recent):
        return Verdict.UNKNOWN
    return current
