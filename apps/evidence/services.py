"""Taking evidence in: kept by digest, read, and settled. A delivery is no decision and makes no audit event."""

from __future__ import annotations

import math
from collections.abc import Iterable
from datetime import datetime
from typing import Any

from django.conf import settings
from django.db import transaction

from apps.core import clock
from apps.core.actor import Actor
from apps.core.errors import Invalid, PortalError, TooLarge
from apps.core.rights import Right, TokenScope
from apps.evidence import store
from apps.evidence.engine import registry
from apps.evidence.engine.reading import Reading, Unreadable
from apps.evidence.engine.source import Source
from apps.evidence.models import Evidence, EvidenceReading, Receipt, ReceiptState


def receive(
    *,
    actor: Actor,
    scope_id: int,
    chunks: Iterable[bytes],
    file_name: str = "",
    node_name: str = "",
    collected_at: datetime | None = None,
    kind: str = "",
) -> Receipt:
    """Take one file in and give back its receipt.

    Small files are read at once; files above EVIDENCE_INLINE_BYTES are kept and read by a job (state stored).
    What cannot be read is refused: the receipt says why, the bytes are not kept. The caller hands the reading
    to its owner and settles the receipt. Raises NotAllowed and Missing by role.
    """
    actor.require(Right.OPERATE, scope_id)
    actor.require_token_scope(TokenScope.EVIDENCE_WRITE)
    delivery = _delivery(actor, scope_id, file_name, node_name, collected_at)
    try:
        with store.spooled(chunks, limit_bytes=settings.EVIDENCE_LIMIT_BYTES) as upload:
            delivery |= {"sha256": upload.sha256, "size_bytes": upload.size_bytes}
            return _accept(upload, delivery, kind)
    except TooLarge as error:
        delivery |= {"sha256": "", "size_bytes": error.fields["limit_bytes"]}
        return _refused(delivery, error)


def _accept(upload: store.Spooled, delivery: dict[str, Any], kind: str) -> Receipt:
    source = Source(upload.open, name=delivery["file_name"], size_bytes=upload.size_bytes)
    reading = None
    try:
        kind = kind or registry.recognise(source)
        if upload.size_bytes <= settings.EVIDENCE_INLINE_BYTES:
            reading = registry.read(source, kind=kind)
    except Unreadable as error:
        return _refused(delivery | {"kind": kind}, error)
    store.keep(upload)
    with transaction.atomic():
        evidence, created = Evidence.objects.get_or_create(
            sha256=upload.sha256,
            defaults={"size_bytes": upload.size_bytes, "stored_at": clock.now()},
        )
        return Receipt.objects.create(
            **delivery,
            kind=kind,
            evidence=evidence,
            repeated=not created,
            state=ReceiptState.STORED,
            reading=_keep_reading(evidence, reading) if reading else None,
        )


def read_receipt(*, receipt_id: int) -> Receipt:
    """Read the kept bytes of a delivery that has no reading yet; refuse it where they cannot be read."""
    receipt = Receipt.objects.select_related("evidence", "reading").get(pk=receipt_id)
    if receipt.reading is not None or receipt.evidence is None:
        return receipt
    sha256 = receipt.evidence.sha256
    source = Source(lambda: store.open_bytes(sha256), name=receipt.file_name, size_bytes=receipt.size_bytes)
    try:
        reading = registry.read(source, kind=receipt.kind)
    except Unreadable as error:
        return _refuse_kept(receipt, error)
    with transaction.atomic():
        receipt.reading = _keep_reading(receipt.evidence, reading)
        receipt.save(update_fields=["reading"])
    return receipt


def settle(*, receipt_id: int, state: ReceiptState, effects: list[dict[str, str]]) -> Receipt:
    """Write down what became of a delivery, in the transaction that applies its reading."""
    Receipt.objects.filter(pk=receipt_id).update(state=state, effects=effects)
    return Receipt.objects.select_related("evidence", "reading").get(pk=receipt_id)


def refuse(*, receipt_id: int, error: PortalError) -> Receipt:
    """Refuse a delivery that could be read, but not applied."""
    return _refuse_kept(Receipt.objects.select_related("evidence").get(pk=receipt_id), error)


def pin(digests: Iterable[str]) -> None:
    """A decision rests on these bytes: they are kept for good. Called inside of that decision."""
    Evidence.objects.filter(sha256__in=list(digests), pinned=False).update(pinned=True)


def sweep() -> int:
    """Remove kept bytes that no row names, once they are older than an hour. Returns how many."""
    removed = 0
    for sha256 in store.older_than_an_hour():
        if not Evidence.objects.filter(sha256=sha256, thinned_at__isnull=True).exists():
            store.discard(sha256)
            removed += 1
    return removed


def _delivery(
    actor: Actor, scope_id: int, file_name: str, node_name: str, collected_at: datetime | None
) -> dict[str, Any]:
    return {
        "scope_id": scope_id,
        "received_at": clock.now(),
        "file_name": _plain(file_name, 255),
        "node_name": _plain(node_name, 255),
        "collected_at": collected_at,
        "person_id": actor.person_id,
        "via": actor.via.value,
        "by_label": actor.label[:200],
    }


def _refused(delivery: dict[str, Any], error: PortalError) -> Receipt:
    return Receipt.objects.create(
        **delivery,
        state=ReceiptState.REFUSED,
        refusal_code=error.code,
        refusal=_plain(error.message, 500),
    )


def _refuse_kept(receipt: Receipt, error: PortalError) -> Receipt:
    """Refuse after the bytes were kept. The row goes unless another delivery was accepted with them; the bytes
    go with the next sweep, because a delivery of the same bytes may be under way at this moment."""
    evidence = receipt.evidence
    with transaction.atomic():
        receipt.state, receipt.evidence, receipt.reading = ReceiptState.REFUSED, None, None
        receipt.refusal_code, receipt.refusal = error.code, _plain(error.message, 500)
        receipt.save()
        unused = evidence is not None and not Receipt.objects.filter(evidence=evidence).exists()
        if evidence is not None and unused:
            evidence.delete()
    return receipt


def _keep_reading(evidence: Evidence, reading: Reading) -> EvidenceReading:
    row, _created = EvidenceReading.objects.get_or_create(
        evidence=evidence,
        kind=reading.kind,
        parser_version=reading.parser_version,
        defaults={
            "facts": json_safe(reading.facts),
            "warnings": [
                {
                    "code": w.code,
                    "message": _plain(w.message, 500),
                    "line": w.line,
                    "text": _plain(w.text, 200),
                }
                for w in reading.warnings[:1000]
            ],
            "read_at": clock.now(),
        },
    )
    return row


def json_safe(value: Any) -> Any:
    """The value as both databases can keep it: no NUL in texts, no NaN, texts as keys."""
    if isinstance(value, str):
        return value.replace("\x00", "")
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, dict):
        return {str(key).replace("\x00", ""): json_safe(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [json_safe(item) for item in value]
    return value


def _plain(text: str, limit: int) -> str:
    return "".join(char for char in text if char.isprintable())[:limit]


def parse_collected_at(raw: str) -> datetime | None:
    """The time at which a file was collected, ISO 8601 with offset. Raises Invalid."""
    if not raw:
        return None
    try:
        at = datetime.fromisoformat(raw)
    except ValueError as error:
        raise Invalid(
            f"collected_at={raw[:40]!r}: say an ISO 8601 time with offset", code="collected_at"
        ) from error
    if at.tzinfo is None:
        raise Invalid(f"collected_at={raw[:40]!r}: the offset is missing", code="collected_at")
    return at
