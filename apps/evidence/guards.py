"""What arrived is kept as it came: deliveries, digests, readings, and that a decision rests on it."""

from __future__ import annotations

from collections.abc import Sequence

from apps.core.triggers import Guard

_KEPT = "evidence and what was read from it are kept as they came"

_DELIVERED = "EXISTS (SELECT 1 FROM evidence_receipt WHERE evidence_id = {})"

_SAID_ON_ARRIVAL = (
    *("scope_id", "received_at", "file_name", "collected_at", "sha256", "size_bytes", "kind"),
    *("person_id", "via", "by_label", "repeated"),
)
_WHAT_BECAME_OF_IT = (
    *("state", "evidence_id", "reading_id", "effects"),
    *("refusal_code", "refusal", "refusal_kept"),
)
_OF_A_DELIVERY = ", ".join((*_SAID_ON_ARRIVAL, *_WHAT_BECAME_OF_IT, "node_name"))


def _changed(columns: Sequence[str]) -> str:
    """Whether any of the columns changes, to nothing or from nothing too."""
    return " OR ".join(
        f"NEW.{one} <> OLD.{one} OR (NEW.{one} IS NULL) <> (OLD.{one} IS NULL)" for one in columns
    )


# Somebody says of which node an unmatched one is. A file that its job cannot read is refused, and its bytes are let
# go where no decision rests on them; another delivery of the same bytes keeps them.
_OTHER_DELIVERY = f"""{_changed(_SAID_ON_ARRIVAL)}
    OR (OLD.state <> 'unmatched' AND NEW.node_name <> OLD.node_name)
    OR (OLD.state IN ('applied', 'refused') AND ({_changed(_WHAT_BECAME_OF_IT)}))
    OR NEW.evidence_id <> OLD.evidence_id OR NEW.reading_id <> OLD.reading_id
    OR (OLD.reading_id IS NOT NULL AND NEW.reading_id IS NULL AND NEW.state <> 'refused')
    OR (OLD.evidence_id IS NOT NULL AND NEW.evidence_id IS NULL AND (NEW.state <> 'refused'
        OR ((SELECT pinned FROM evidence_evidence WHERE id = OLD.evidence_id) AND NOT EXISTS
            (SELECT 1 FROM evidence_receipt WHERE evidence_id = OLD.evidence_id AND id <> OLD.id))))"""

_OTHER_BYTES = """NEW.sha256 <> OLD.sha256 OR NEW.size_bytes <> OLD.size_bytes OR (OLD.pinned AND NOT NEW.pinned)
    OR (OLD.pinned AND OLD.thinned_at IS NULL AND NEW.thinned_at IS NOT NULL)"""

GUARDS = [
    Guard(
        name="evidence_bytes",
        table="evidence_evidence",
        event="UPDATE",
        when=_OTHER_BYTES,
        message=_KEPT,
    ),
    Guard(name="evidence_read", table="evidence_evidencereading", event="UPDATE", message=_KEPT),
    Guard(
        name="evidence_delivery",
        table="evidence_receipt",
        event=f"UPDATE OF {_OF_A_DELIVERY}",
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
