"""The hash chain: each event's hash covers its sequence number, the hash before it and its exact text."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from apps.core.texts import say

GENESIS = "0" * 64


@dataclass(frozen=True, slots=True)
class Link:
    """One event as it is stored; columns are what stands beside its text to search by."""

    seq: int
    prev_hash: str
    body: str
    hash: str
    columns: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Verification:
    """What a walk along the chain found. first_bad_seq is None where all of it holds."""

    count: int
    head_seq: int
    head_hash: str
    first_bad_seq: int | None = None
    reason: str = ""

    @property
    def intact(self) -> bool:
        return self.first_bad_seq is None


def event_hash(*, seq: int, prev_hash: str, body: str) -> str:
    """SHA-256 over "seq LF prev_hash LF body", in hex."""
    return hashlib.sha256(f"{seq}\n{prev_hash}\n{body}".encode()).hexdigest()


def columns_of(body: Mapping[str, Any]) -> dict[str, Any]:
    """What the columns beside an event's text must be. Raises KeyError and ValueError for a text of another shape."""
    return {
        "at": datetime.fromisoformat(body["at"]),
        "action": body["action"],
        "actor_id": body["actor"]["id"],
        "actor_label": body["actor"]["label"],
        "via": body["actor"]["via"],
        "object_type": body["object"]["type"],
        "object_id": body["object"]["id"],
        "object_label": body["object"]["label"],
        "scope_id": body["scope_id"],
        "request_id": body["request_id"],
    }


def verify(links: Iterable[Link], *, marks: Mapping[int, str] | None = None) -> Verification:
    """Walk the chain from its beginning; stops at the first event that does not fit.

    marks: sequence number to hash as checkpoints kept them; 0 stands for the empty trail. A trail that was
    rewritten whole is found at the first checkpoint that it contradicts, one that was shortened at its end.
    """
    marks = marks or {}
    count, seq, head = 0, 0, GENESIS
    for link in links:
        if fault := _fault(link, seq, head):
            return Verification(count, seq, head, seq + 1, fault)
        if marks.get(link.seq, link.hash) != link.hash:
            return Verification(
                count, seq, head, link.seq, say("it is not the event that the checkpoint saw")
            )
        count, seq, head = count + 1, link.seq, link.hash
    if marks and max(marks) > seq:
        return Verification(
            count, seq, head, seq + 1, say("the checkpoint saw events up to %(most)s", most=max(marks))
        )
    return Verification(count, seq, head)


def _fault(link: Link, seq: int, head: str) -> str:
    """What is wrong with the event that follows on seq; empty where nothing is."""
    if link.seq != seq + 1:
        return say("event %(seq)s is missing", seq=seq + 1)
    if link.prev_hash != head:
        return say("the hash before it does not match")
    return own_fault(link)


def own_fault(link: Link) -> str:
    """What is wrong with an event by itself, whatever stands before it; empty where its text fits hash and columns."""
    if event_hash(seq=link.seq, prev_hash=link.prev_hash, body=link.body) != link.hash:
        return say("its text does not match its hash")
    if link.columns:
        return _contradiction(link)
    return ""


def _contradiction(link: Link) -> str:
    try:
        meant = columns_of(json.loads(link.body))
    except (KeyError, TypeError, ValueError):
        return say("its text has another shape")
    wrong = sorted(name for name, value in link.columns.items() if meant.get(name) != value)
    return say("columns contradict its text: %(wrong)s", wrong=", ".join(wrong)) if wrong else ""
