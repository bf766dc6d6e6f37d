"""Digests: the canonical text of a value, and its SHA-256."""

from __future__ import annotations

import hashlib
import json
from typing import Any


def canonical(value: Any) -> str:
    """The one JSON text of a value: sorted keys, no blanks, UTF-8, no NaN.

    Raises ValueError for NaN and infinities, TypeError for what JSON cannot hold.
    """
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def of_text(text: str) -> str:
    """SHA-256 of a text, in hex."""
    return hashlib.sha256(text.encode()).hexdigest()


def of_value(value: Any) -> str:
    """SHA-256 of the canonical text of a value, in hex."""
    return of_text(canonical(value))
