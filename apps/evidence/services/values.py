"""Values as both databases can keep them, whatever a file holds."""

from __future__ import annotations

import math
from datetime import UTC, datetime
from typing import Any

from apps.core.errors import FieldError, Invalid
from apps.core.texts import say

WARNINGS_KEPT = 1000


def json_safe(value: Any) -> Any:
    """The value without NUL and halves of surrogate pairs in texts, without NaN, and with texts as keys."""
    if isinstance(value, str):
        return _storable(value)
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, dict):
        return {_storable(str(key)): json_safe(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [json_safe(item) for item in value]
    return value


def plain(text: str, limit: int) -> str:
    """One line of printable characters, cut."""
    return "".join(char for char in text if char.isprintable())[:limit]


def collected_at(raw: str) -> datetime | None:
    """The time at which a file was collected, ISO 8601 with offset; None for an empty text. Raises Invalid."""
    if not raw:
        return None
    try:
        at = datetime.fromisoformat(raw)
        if at.tzinfo is not None:
            return at.astimezone(UTC)  # the first and last days of the calendar overflow
    except (ValueError, OverflowError):
        pass
    message = say("%(raw)s: say an ISO 8601 time with offset, such as 2026-05-01T08:30:00Z", raw=raw[:40])
    raise Invalid(message, code="collected_at", errors=[FieldError(pointer="?collected_at", message=message)])


def _storable(text: str) -> str:
    return text.replace("\x00", "").encode("utf-8", "replace").decode()
