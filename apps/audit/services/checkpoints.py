"""Checkpoints of the chain: written outside of the database, and compared with the trail."""

from __future__ import annotations

import base64
import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import cast

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from django.conf import settings

from apps.audit import queries
from apps.audit.engine import chain, checkpoint
from apps.audit.engine.checkpoint import Checkpoint
from apps.core import clock, digest
from apps.core.errors import Conflict, Invalid, Missing
from apps.core.texts import say


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """What a verification found, and with how many checkpoints the trail was compared."""

    verification: chain.Verification
    checkpoints: int

    @property
    def compared(self) -> bool:
        return self.checkpoints > 0

    def require_intact(self) -> chain.Verification:
        """What was found. Raises Conflict (audit_broken, with first_bad_seq) where the trail does not hold."""
        found = self.verification
        if not found.intact:
            raise Conflict(
                say(
                    "the audit trail is broken at event %(first_bad_seq)s: %(reason)s",
                    first_bad_seq=found.first_bad_seq,
                    reason=found.reason,
                ),
                code="audit_broken",
                first_bad_seq=found.first_bad_seq,
            )
        return found


def write_checkpoint(*, checked: Comparison | None = None) -> Path:
    """Keep where the trail stands in a file of the checkpoint folder; gives its path. Verifies it unless checked.

    Raises Conflict (audit_broken) where the trail does not hold: that is not to be confirmed.
    """
    found = (checked or compare(kept())).require_intact()
    made = seal(
        Checkpoint(
            seq=found.head_seq, count=found.count, head_hash=found.head_hash, at=clock.now().isoformat()
        )
    )
    path = Path(settings.CHECKPOINT_DIR) / f"checkpoint-{made.seq:012d}.json"
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o750)
    _write(path, digest.canonical(made.document()) + "\n")
    return path


def seal(made: Checkpoint) -> Checkpoint:
    """The checkpoint with its HMAC and, where a key file is set up, its signature."""
    made = replace(made, hmac_sha256=checkpoint.mac(made, secret=settings.CHECKPOINT_SECRET))
    key = _private_key()
    if key is None:
        return made
    signature = base64.b64encode(key.sign(made.signed_text().encode())).decode()
    return replace(made, signature=signature, public_key=public_key_text())


def kept() -> list[Path]:
    """The files of the checkpoint folder, oldest first."""
    return sorted(Path(settings.CHECKPOINT_DIR).glob("checkpoint-*.json"))


def compare(paths: list[Path], *, report: queries.Report | None = None) -> Comparison:
    """Walk the trail and compare it with checkpoints. Raises Missing and Invalid for files that cannot be used."""
    marks: dict[int, str] = {}
    for path in paths:
        made = load(path)
        if marks.setdefault(made.seq, made.head_hash) != made.head_hash:
            raise Invalid(
                say(
                    "%(name)s: another checkpoint of event %(seq)s says otherwise",
                    name=path.name,
                    seq=made.seq,
                ),
                code="checkpoint",
            )
    if marks.pop(0, chain.GENESIS) != chain.GENESIS:
        raise Invalid(
            say("a checkpoint of the empty trail does not start at the beginning"), code="checkpoint"
        )
    return Comparison(verification=queries.verify(marks=marks, report=report), checkpoints=len(paths))


def load(path: Path) -> Checkpoint:
    """A checkpoint file whose HMAC (and signature) holds.

    Raises Missing where there is no such file, Invalid (checkpoint, checkpoint_hmac, checkpoint_signature).
    """
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError as error:
        raise Missing(say("%(path)s: there is no such checkpoint", path=path)) from error
    except (OSError, UnicodeDecodeError) as error:
        raise Invalid(
            say("%(path)s: cannot be read: %(error)s", path=path, error=error), code="checkpoint"
        ) from error
    made = checkpoint.read(text)
    if not checkpoint.mac_holds(made, secret=settings.CHECKPOINT_SECRET):
        message = say(
            "%(name)s: its HMAC does not hold: it was changed, or made under another secret", name=path.name
        )
        raise Invalid(message, code="checkpoint_hmac")
    if made.signature and not _signature_holds(made):
        raise Invalid(
            say("%(name)s: its signature does not hold", name=path.name), code="checkpoint_signature"
        )
    return made


def public_key_text() -> str:
    """The public key of the signatures in base64; empty where no key is set up."""
    key = _private_key()
    if key is None:
        return ""
    raw = key.public_key().public_bytes(serialization.Encoding.Raw, serialization.PublicFormat.Raw)
    return base64.b64encode(raw).decode()


def _signature_holds(made: Checkpoint) -> bool:
    try:
        key = Ed25519PublicKey.from_public_bytes(base64.b64decode(made.public_key, validate=True))
        key.verify(base64.b64decode(made.signature, validate=True), made.signed_text().encode())
    except (InvalidSignature, ValueError):
        return False
    return True


def _private_key() -> Ed25519PrivateKey | None:
    if not settings.CHECKPOINT_KEY:
        return None
    return cast(
        Ed25519PrivateKey, serialization.load_pem_private_key(settings.CHECKPOINT_KEY.encode(), password=None)
    )


def _write(path: Path, text: str) -> None:
    """The file is there whole or not at all."""
    partial = path.with_suffix(f".{os.getpid()}.partial")
    with partial.open("w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    partial.chmod(0o640)
    partial.replace(path)
