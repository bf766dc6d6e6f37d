"""Numbers as people and clients say them: ids, versions and places in addresses and forms, figures in JSON."""

from __future__ import annotations

import math
import re
from typing import Any

from apps.core.texts import say

NO_NUMBER = say("must be a finite number in plain digits; a whole one has 64 bits at most")
_DIGITS = re.compile(r"[+-]?[0-9]{1,400}(\.[0-9]{0,400})?([eE][+-]?[0-9]{1,4})?")
_MOST_DIGITS = 18  # what every integer column holds


def whole_number(text: str) -> int | None:
    """The number that a text of digits says; None for any other text, and for more digits than an id can have."""
    return int(text) if text.isdecimal() and len(text) <= _MOST_DIGITS else None


def is_number(value: Any, *, whole: bool = False) -> bool:
    """Whether JSON says a number, or a text of one in plain digits; what is neither is left to the field.

    Python reads true as 1, and texts such as "nan", "1_000" and digits of other scripts as numbers.
    """
    if isinstance(value, bool):
        return False
    if isinstance(value, str) and value:
        if not _DIGITS.fullmatch(value):
            return False
        value = float(value)
    if not isinstance(value, float):
        return True
    return math.isfinite(value) and (not whole or abs(value) < 2**63)
