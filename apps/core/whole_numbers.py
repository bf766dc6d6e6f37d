"""Whole numbers in addresses and forms: ids, versions, places in a list."""

from __future__ import annotations

_MOST_DIGITS = 18  # what every integer column holds


def whole_number(text: str) -> int | None:
    """The number that a text of digits says; None for any other text, and for more digits than an id can have."""
    return int(text) if text.isdecimal() and len(text) <= _MOST_DIGITS else None
