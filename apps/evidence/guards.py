"""What arrived is kept as it came: deliveries, digests, readings, and that a decision rests on it."""

from __future__ import annotations

from apps.core.triggers import Guard

_KEPT = "evidence and what was read from it are kept as they came"

_DELIVERED = "EXISTS (SELECT 1 FROM evidence_receipt WHERE evidence_id = {})"

# A file that its job cannot read is refused, and its bytes are let go where no decision rests on them.
_OTHER_DELIVERY = """NEW.sha256 <> OLD.sha256 OR NEW.scope_id <> OLD.scope_id OR NEW.evidence_id <> OLD.evidence_id
    OR (OLD.evidence_id IS NOT NULL AND NEW.evidence_id IS NULL AND (NEW.state <> 'refused'
        OR (SELECT pinned FROM evidence_evidence WHERE id = OLD.evidence_id)))"""

GUARDS = [
    Guard(
        name="evidence_bytes",
        table="evidence_evidence",
        event="UPDATE",
        when="NEW.sha256 <> OLD.sha256 OR NEW.size_bytes <> OLD.size_bytes OR (OLD.pinned AND NOT NEW.pinned)",
        message=_KEPT,
    ),
    Guard(name="evidence_read", table="evidence_evidencereading", event="UPDATE", message=_KEPT),
    Guard(
        name="evidence_delivery",
        table="evidence_receipt",
        event="UPDATE OF sha256, scope_id, evidence_id",
        when=_OTHER_DELIVERY,
        message=_KEPT,
    ),
    Guard(
        name="evidence_delivery_stays",
        table="evidence_receipt",
        event="DELETE",
        when="(SELECT is_demo FROM fleet_cluster WHERE scope_id = OLD.scope_id) IS NOT TRUE",
        message=_KEPT,
    ),
    *(
        Guard(name=f"{table}_stays", table=table, event="DELETE", when=_DELIVERED.format(key), message=_KEPT)
        for table, key in (("evidence_evidence", "OLD.id"), ("evidence_evidencereading", "OLD.evidence_id"))
    ),
]
