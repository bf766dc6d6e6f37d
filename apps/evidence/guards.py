"""What arrived is kept as it came: its digest, what was read from it, and that a decision rests on it."""

from __future__ import annotations

from apps.core.triggers import Guard

_KEPT = "evidence and what was read from it are kept as they came"

GUARDS = [
    Guard(
        name="evidence_bytes",
        table="evidence_evidence",
        event="UPDATE",
        when="NEW.sha256 <> OLD.sha256 OR NEW.size_bytes <> OLD.size_bytes OR (OLD.pinned AND NOT NEW.pinned)",
        message=_KEPT,
    ),
    Guard(name="evidence_read", table="evidence_evidencereading", event="UPDATE", message=_KEPT),
]
