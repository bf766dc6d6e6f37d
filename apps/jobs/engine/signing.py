"""Signatures of outgoing messages, as the Standard Webhooks specification describes them.

Source: standardwebhooks.com, version 1: HMAC-SHA256 in base64 over "id.timestamp.body".
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
from collections.abc import Sequence

PREFIX = "whsec_"


def secret_text(key: bytes) -> str:
    """A secret as people copy it: whsec_ and the key in base64."""
    return PREFIX + base64.b64encode(key).decode()


def key_of(secret: str) -> bytes:
    """The key of a secret text. Raises ValueError for another form."""
    if not secret.startswith(PREFIX):
        raise ValueError("a secret starts with whsec_")
    try:
        return base64.b64decode(secret.removeprefix(PREFIX), validate=True)
    except binascii.Error as error:
        raise ValueError("a secret is base64 after whsec_") from error


def signature(*, secret: str, message_id: str, timestamp_s: int, body: str) -> str:
    """One signature, "v1," and base64. timestamp_s: seconds since 1970 of this attempt."""
    signed = f"{message_id}.{timestamp_s}.{body}".encode()
    return "v1," + base64.b64encode(hmac.new(key_of(secret), signed, hashlib.sha256).digest()).decode()


def headers(*, secrets: Sequence[str], message_id: str, timestamp_s: int, body: str) -> dict[str, str]:
    """The headers of one attempt; several secrets while one is being replaced give several signatures."""
    signatures = [
        signature(secret=secret, message_id=message_id, timestamp_s=timestamp_s, body=body)
        for secret in secrets
    ]
    return {
        "webhook-id": message_id,
        "webhook-timestamp": str(timestamp_s),
        "webhook-signature": " ".join(signatures),
    }
