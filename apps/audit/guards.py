"""The audit trail is only ever added to."""

from __future__ import annotations

from apps.core.triggers import Guard

GUARDS = [
    Guard(
        name=f"audit_event_no_{event.lower()}",
        table="audit_auditevent",
        event=event,
        message="the audit trail is append-only",
    )
    for event in ("UPDATE", "DELETE", "TRUNCATE")
]
