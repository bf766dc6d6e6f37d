"""One delivery, from the first byte to what became of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import datetime
from typing import Any

from django.conf import settings
from django.db import transaction

from apps.audit.services import deciding, decision, record
from apps.core import clock
from apps.core.actor import Actor
from apps.core.errors import Conflict, Invalid, Missing, PortalError, TooLarge
from apps.core.rights import Right, TokenScope
from apps.core.texts import kept, say, word
from apps.evidence import queries, store
from apps.evidence.engine import registry
from apps.evidence.engine.reading import Reading, Unreadable
from apps.evidence.engine.source import Source
from apps.evidence.models import Evidence, EvidenceReading, Receipt, ReceiptState
from apps.evidence.services import values

HandOver = Callable[[Receipt], None]
parse_collected_at = values.collected_at


def receive(
    *,
    actor: Actor,
    scope_id: int,
    chunks: Iterable[bytes],
    hand_over: HandOver,
    file_name: str = "",
    node_name: str = "",
    collected_at: datetime | None = None,
    kind: str = "",
) -> Receipt:
    """Take one file in and give back its receipt.

    The bytes are kept first; then the receipt, its reading and whatever `hand_over(receipt)` does with it are
    one transaction, so that a delivery is there whole or not at all. A file above EVIDENCE_INLINE_BYTES has no
    reading yet: hand_over asks for a job. What cannot be read (or that hand_over refuses with Invalid or
    Conflict) is refused: the receipt says why, and the bytes are not kept.
    Raises NotAllowed and Missing by role and token scope, Busy (disk_full, volume).
    """
    delivery = _delivery(actor, scope_id, file_name, node_name, collected_at, kind)
    try:
        with store.spooled(chunks, limit_bytes=settings.EVIDENCE_LIMIT_BYTES) as upload:
            delivery |= {"sha256": upload.sha256, "size_bytes": upload.size_bytes}
            return _accepted_or_refused(upload, delivery, hand_over)
    except TooLarge as error:
        delivery |= {"sha256": "", "size_bytes": error.fields["limit_bytes"]}
        return _refused(delivery, error)


def receive_known(
    *,
    actor: Actor,
    scope_id: int,
    sha256: str,
    hand_over: HandOver,
    file_name: str = "",
    node_name: str = "",
    collected_at: datetime | None = None,
) -> Receipt:
    """Take in again what was accepted in this scope before, by its digest instead of its bytes.

    So that a node whose output is the same as yesterday still reports today. Raises Missing (unknown_digest)
    where the bytes must be sent, and as `receive`.
    """
    delivery = _delivery(actor, scope_id, file_name, node_name, collected_at, "")
    earlier = queries.accepted_before(scope_id=scope_id, sha256=sha256)
    if earlier is None or not store.is_whole(sha256):
        raise Missing(say("these bytes are not here; send them"), code="unknown_digest")
    delivery |= {"sha256": sha256, "size_bytes": earlier.size_bytes, "kind": earlier.kind}
    try:
        with deciding():
            evidence = Evidence.objects.select_for_update().filter(sha256=sha256).first()
            if evidence is None or evidence.thinned_at is not None:
                raise Missing(say("these bytes are not here; send them"), code="unknown_digest")
            return _written(delivery, evidence, earlier.reading, hand_over, repeated=True)
    except (Invalid, Conflict) as error:
        return _refused(delivery, error)


def _accepted_or_refused(upload: store.Spooled, delivery: dict[str, Any], hand_over: HandOver) -> Receipt:
    try:
        return _accept(upload, delivery, hand_over)
    except (Invalid, Conflict) as error:
        return _refused(delivery, error)


def _accept(upload: store.Spooled, delivery: dict[str, Any], hand_over: HandOver) -> Receipt:
    source = Source(upload.open, name=delivery["file_name"], size_bytes=upload.size_bytes)
    reading = _first_look(source, upload.size_bytes, delivery)
    store.keep(upload)
    with deciding():
        evidence, created = Evidence.objects.select_for_update().get_or_create(
            sha256=upload.sha256,
            defaults={"size_bytes": upload.size_bytes, "stored_at": clock.now()},
        )
        if evidence.thinned_at is not None:
            evidence.thinned_at, evidence.stored_at = None, clock.now()
            evidence.save(update_fields=["thinned_at", "stored_at"])
        store.keep_on(upload)  # a sweep may have taken the bytes before our row held it off
        row = _keep_reading(evidence, reading) if reading else None
        return _written(delivery, evidence, row, hand_over, repeated=not created)


def _first_look(source: Source, size_bytes: int, delivery: dict[str, Any]) -> Reading | None:
    """Recognise the file, and read it where it is small. Raises Unreadable."""
    delivery["kind"] = delivery["kind"] or registry.recognise(source)
    if size_bytes <= settings.EVIDENCE_INLINE_BYTES:
        return registry.read(source, kind=delivery["kind"])
    if delivery["kind"] not in registry.all_parsers() or not source.encoding:
        raise Unreadable(say("unknown kind %(kind)s", kind=f"{delivery['kind']!r}"), code="unknown_kind")
    return None


def _written(
    delivery: dict[str, Any],
    evidence: Evidence,
    reading: EvidenceReading | None,
    hand_over: HandOver,
    *,
    repeated: bool,
) -> Receipt:
    """The receipt with what follows from it; the earlier one where this is the same delivery sent once more."""
    if (sent_before := queries.sent_before(delivery)) is not None:
        return queries.receipt(sent_before.pk)
    receipt = Receipt.objects.create(
        **delivery, evidence=evidence, reading=reading, repeated=repeated, state=ReceiptState.STORED
    )
    hand_over(receipt)
    return queries.receipt(receipt.pk)


def read_receipt(*, receipt_id: int, progress: Callable[[int], None]) -> Receipt:
    """Read the kept bytes of a delivery that has no reading yet; refuse it where they cannot be read.

    progress: told how many bytes were read, about every 4 MiB. Raises Missing where the bytes are gone or damaged.
    """
    receipt = queries.receipt(receipt_id)
    if receipt.reading is not None or receipt.evidence is None:
        return receipt
    sha256 = receipt.evidence.sha256

    def opener() -> Any:
        return store.watched(store.open_bytes(sha256), progress)

    source = Source(opener, name=receipt.file_name, size_bytes=receipt.size_bytes)
    try:
        reading = registry.read(source, kind=receipt.kind)
    except Unreadable as error:
        return refuse(receipt_id=receipt_id, error=error)
    except FileNotFoundError as error:
        raise Missing(say("the kept bytes are gone from the volume"), code="bytes_gone") from error
    except store.DAMAGED as error:
        raise Missing(
            say("the kept bytes on the volume are not those that arrived"), code="bytes_damaged"
        ) from error
    with transaction.atomic():
        receipt.reading = _keep_reading(receipt.evidence, reading)
        receipt.save(update_fields=["reading"])
    return receipt


def settle(*, receipt_id: int, state: ReceiptState, effects: list[dict[str, str]]) -> None:
    """Write down what became of a delivery, in the transaction that applies its reading."""
    Receipt.objects.filter(pk=receipt_id).update(state=state, effects=effects)


@transaction.atomic
def refuse(*, receipt_id: int, error: PortalError) -> Receipt:
    """Refuse a delivery whose bytes were kept already, because they cannot be read or applied.

    The row of the bytes goes unless another delivery was accepted with them; the bytes go with the next sweep.
    """
    receipt = Receipt.objects.select_for_update().get(pk=receipt_id)
    evidence = Evidence.objects.select_for_update().filter(pk=receipt.evidence_id).first()
    receipt.state, receipt.evidence, receipt.reading = ReceiptState.REFUSED, None, None
    receipt.refusal_code, receipt.refusal = error.code, values.plain(str(error.message), 500)
    receipt.refusal_kept = values.json_safe(kept(error.message))
    receipt.save(update_fields=["state", "evidence", "reading", "refusal_code", "refusal", "refusal_kept"])
    if evidence is not None and not Receipt.objects.filter(evidence=evidence).exists():
        evidence.delete()
    return queries.receipt(receipt_id)


@decision
def assign_node(*, actor: Actor, receipt_id: int, node_name: str, hand_over: HandOver) -> Receipt:
    """Somebody says which node (or domain) an unmatched delivery is about.

    Raises Missing, NotAllowed (role), Invalid (node) and Conflict (receipt_state) where it is not unmatched.
    """
    actor.require_token_scope(TokenScope.EVIDENCE_WRITE)
    actor.require(Right.OPERATE, queries.receipt_for(actor, receipt_id).scope_id)
    name = values.plain(node_name.strip(), 255)
    if not name:
        raise Invalid(say("say the node or the domain"), code="node")
    receipt = Receipt.objects.select_for_update().get(pk=receipt_id)
    if receipt.state != ReceiptState.UNMATCHED:
        raise Conflict(
            say("the delivery is %(state)s, not unmatched", state=word(receipt.state)), code="receipt_state"
        )
    before = receipt.node_name
    receipt.node_name = name
    receipt.save(update_fields=["node_name"])
    record(
        actor=actor,
        action="evidence.node_assigned",
        on=receipt,
        scope_id=receipt.scope_id,
        before={"node": before},
        after={"node": name, "sha256": receipt.sha256},
    )
    hand_over(receipt)
    return queries.receipt(receipt_id)


def _delivery(
    actor: Actor,
    scope_id: int,
    file_name: str,
    node_name: str,
    collected_at: datetime | None,
    kind: str,
) -> dict[str, Any]:
    """The columns of a receipt that are known before the first byte. Raises NotAllowed and Missing."""
    actor.require(Right.OPERATE, scope_id)
    actor.require_token_scope(TokenScope.EVIDENCE_WRITE)
    return {
        "scope_id": scope_id,
        "received_at": clock.now(),
        "file_name": values.plain(file_name, 255),
        "node_name": values.plain(node_name.strip(), 255),
        "collected_at": collected_at,
        "kind": values.plain(kind, 40),
        "person_id": actor.person_id,
        "via": actor.via.value,
        "by_label": actor.label[:200],
    }


def _refused(delivery: dict[str, Any], error: PortalError) -> Receipt:
    made = Receipt.objects.create(
        **delivery,
        state=ReceiptState.REFUSED,
        refusal_code=error.code,
        refusal=values.plain(str(error.message), 500),
        refusal_kept=values.json_safe(kept(error.message)),
    )
    return queries.receipt(made.pk)


def _keep_reading(evidence: Evidence, reading: Reading) -> EvidenceReading:
    row, _created = EvidenceReading.objects.get_or_create(
        evidence=evidence,
        kind=reading.kind,
        parser_version=reading.parser_version,
        defaults={
            "facts": values.json_safe(reading.facts),
            "warnings": [
                {
                    "code": warning.code,
                    "message": values.plain(warning.message, 500),
                    "line": warning.line,
                    "text": values.plain(warning.text, 200),
                    **values.json_safe(kept(warning.message)),
                }
                for warning in reading.warnings[: values.WARNINGS_KEPT]
            ],
            "read_at": clock.now(),
        },
    )
    return row
