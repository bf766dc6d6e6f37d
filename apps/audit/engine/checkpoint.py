"""A checkpoint: where the chain stood at a time, kept outside of the database, with a keyed hash.

Only who knows the secret can check the HMAC; an Ed25519 signature can be checked by anybody with the public key.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from apps.core import digest
from apps.core.errors import Invalid
from apps.core.texts import say

FORMAT = "supernode-portal-audit-checkpoint/1"
_HEX = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpoint:
    """seq: the newest event; count: events so far; head_hash: that event's hash; at: ISO 8601 in UTC.

    hmac_sha256: hex. signature, public_key: Ed25519, base64, both empty where no key is set up.
    """

    seq: int
    count: int
    head_hash: str
    at: str
    hmac_sha256: str = ""
    signature: str = ""
    public_key: str = ""

    def signed_text(self) -> str:
        """The text that the HMAC and the signature are over."""
        return digest.canonical(
            {
                "format": FORMAT,
                "seq": self.seq,
                "count": self.count,
                "head_hash": self.head_hash,
                "at": self.at,
            }
        )

    def document(self) -> dict[str, Any]:
        """The checkpoint as JSON values."""
        values: dict[str, Any] = {**json.loads(self.signed_text()), "hmac_sha256": self.hmac_sha256}
        if self.signature:
            values["ed25519"] = {"signature": self.signature, "public_key": self.public_key}
        return values


def mac(checkpoint: Checkpoint, *, secret: str) -> str:
    """HMAC-SHA256 of the checkpoint under the secret, in hex."""
    return hmac.new(secret.encode(), checkpoint.signed_text().encode(), hashlib.sha256).hexdigest()


def mac_holds(checkpoint: Checkpoint, *, secret: str) -> bool:
    return hmac.compare_digest(checkpoint.hmac_sha256, mac(checkpoint, secret=secret))


def read(text: str) -> Checkpoint:
    """The checkpoint in a text. Raises Invalid (checkpoint) that names what is odd."""
    try:
        values = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise Invalid(say("the checkpoint is no JSON: %(error)s", error=error), code="checkpoint") from error
    if not isinstance(values, dict) or values.get("format") != FORMAT:
        raise Invalid(say("no checkpoint: the format should be %(format)s", format=FORMAT), code="checkpoint")
    for name in ("seq", "count"):
        if type(values.get(name)) is not int or values[name] < 0:
            raise Invalid(
                say("the checkpoint's %(name)s should be a whole number", name=name), code="checkpoint"
            )
    for name in ("head_hash", "hmac_sha256"):
        if not isinstance(values.get(name), str) or not _HEX.fullmatch(values[name]):
            raise Invalid(
                say("the checkpoint's %(name)s should be 64 hex digits", name=name), code="checkpoint"
            )
    return _built(values)


def _built(values: Mapping[str, Any]) -> Checkpoint:
    signed = values.get("ed25519") or {}
    if not isinstance(signed, dict) or not isinstance(values.get("at"), str):
        raise Invalid(say("the checkpoint's at or ed25519 has another shape"), code="checkpoint")
    return Checkpoint(
        seq=values["seq"],
        count=values["count"],
        head_hash=values["head_hash"],
        at=values["at"],
        hmac_sha256=values["hmac_sha256"],
        signature=str(signed.get("signature", "")),
        public_key=str(signed.get("public_key", "")),
    )
