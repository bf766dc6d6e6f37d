"""When a message that was not taken is sent again."""

from __future__ import annotations

WAITS_S = (5, 30, 300, 1800, 7200, 21600)


def wait_s(attempt: int) -> int | None:
    """Seconds until the next attempt after `attempt` (1 is the first) failed; None: it is given up."""
    return WAITS_S[attempt - 1] if attempt <= len(WAITS_S) else None
