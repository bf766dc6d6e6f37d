"""The client that runs on nodes and in CI: one file, handed out as it is."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path


@cache
def source() -> bytes:
    """The client's text."""
    return (Path(__file__).parent / "snp.py").read_bytes()


@cache
def sha256() -> str:
    """The digest of the client's text, in hex, for people who check what they run as root."""
    return hashlib.sha256(source()).hexdigest()
