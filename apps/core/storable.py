"""Values that a database and UTF-8 can hold."""

from __future__ import annotations

import math
import re
from typing import Any

from apps.core.errors import Invalid
from apps.core.texts import say

_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


def require_storable(text: str) -> None:
    """Raises Invalid (unstorable) for a text that a database or UTF-8 cannot hold."""
    if _UNSTORABLE.search(text):
        raise Invalid(say("a text holds NUL or half of a surrogate pair"), code="unstorable")


def require_storable_value(value: Any) -> None:
    """The same for each text in a value of lists and mappings, names included, and numbers of 64 bits."""
    if isinstance(value, str):
        require_storable(value)
    elif isinstance(value, dict):
        for key, item in value.items():
            require_storable(key)
            require_storable_value(item)
    elif isinstance(value, list):
        for item in value:
            require_storable_value(item)
    elif _is_beyond_64_bits(value):
        raise Invalid(say("a number is beyond 64 bits"), code="unstorable")


def _is_beyond_64_bits(value: Any) -> bool:
    if isinstance(value, float):
        return not math.isfinite(value)  # 1e400 is read as infinity
    return isinstance(value, int) and not -(2**63) <= value < 2**63
