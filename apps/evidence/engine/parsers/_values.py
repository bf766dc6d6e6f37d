"""What tools print where they know nothing, and how they write counts, quantities and sizes."""

from __future__ import annotations

import re

_UNKNOWN = frozenset(
    {
        "",
        "-",
        "n/a",
        "na",
        "not supported",
        "not available",
        "not found",
        "unknown",
        "unknown error",
        "insufficient permissions",
        "gpu requires reset",
        "gpu is lost",
        "requested functionality has been deprecated",
        "could not collect",
        "err!",
    }
)
_NUMBER = re.compile(r"(?P<number>[+-]?\d{1,20}(?:\.\d{1,20})?) ?(?P<unit>[^\d\s].{0,15})?")
# Drivers before 331 wrote MB and meant 2^20.
_BYTES = {"b": 1, "kib": 2**10, "mib": 2**20, "gib": 2**30, "mb": 2**20}


def known(text: str | None) -> str | None:
    """The text, or None where it is a word for unknown (N/A, [Not Supported], Could not collect …)."""
    if text is None:
        return None
    stripped = text.strip()
    return None if stripped.strip("[]").lower() in _UNKNOWN else stripped


def quantity(text: str | None, *units: str) -> float | None:
    """The number in front of one of `units` (empty: a bare number); None where it is anything else."""
    found = _NUMBER.fullmatch((text or "").strip())
    if found is None or (found["unit"] or "").strip().lower() not in {
        unit.lower() for unit in units or ("",)
    }:
        return None
    return float(found["number"])


def count(text: str | None, *units: str) -> int | None:
    """A whole number, likewise."""
    number = quantity(text, *units)
    return int(number) if number is not None and number.is_integer() else None


def size_bytes(text: str | None) -> int | None:
    """Bytes of a size such as 81559 MiB; None where no unit is given."""
    found = _NUMBER.fullmatch((text or "").strip())
    factor = _BYTES.get((found["unit"] or "").strip().lower()) if found else None
    return round(float(found["number"]) * factor) if found and factor else None


def yes_or_no(text: str | None) -> bool | None:
    """True for Yes, True, Enabled, Active; False for their opposites; None for anything else."""
    word = (text or "").strip().lower()
    if word in {"yes", "true", "enabled", "active"}:
        return True
    if word in {"no", "false", "disabled", "not active"}:
        return False
    return None
