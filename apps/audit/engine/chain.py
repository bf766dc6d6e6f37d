"""The hash chain: each event's hash covers its sequence number, the hash before it and its exact text."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass

GENESIS = "0" * 64


@dataclass(frozen=True, slots=True)
class Link:
    """One event as it is stored."""

    seq: int
    prev_hash: str
    body: str
    hash: str


@dataclass(frozen=True, slots=True)
class Verification:
    """What a walk along the chain found. first_bad_seq is None where all of it holds."""

    count: int
    head_seq: int
    head_hash: str
    first_bad_seq: int | None = None
    reason: str = ""


def event_hash(*, seq: int, prev_hash: str, body: str) -> str:
    """SHA-256 over "seq LF prev_hash LF body", in hex."""
    return hashlib.sha256(f"{seq}\n{prev_hash}\n{body}".encode()).hexdigest()


def verify(links: Iterable[Link]) -> Verification:
    """Walk the chain from its beginning; stops at the first event that does not fit."""
    count, seq, head = 0, 0, GENESIS
    for link in links:
        if link.seq != seq + 1:
            return Verification(count, seq, head, seq + 1, f"event {seq + 1} is missing")
        if link.prev_hash != head:
            return Verification(count, seq, head, link.seq, "the hash before it does not match")
        if event_hash(seq=link.seq, prev_hash=link.prev_hash, body=link.body) != link.hash:
            return Verification(count, seq, head, link.seq, "its text does not match its hash")
        count, seq, head = count + 1, link.seq, link.hash
    return Verification(count, seq, head)
