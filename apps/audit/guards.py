"""The audit trail is only ever added to."""

from __future__ import annotations

from apps.core.triggers import Guard, refusal

_SQLITE, _POSTGRESQL = refusal("the audit trail is append-only")
_TABLE = "audit_auditevent"

GUARDS = [
    Guard(
        name="audit_event_no_update",
        table=_TABLE,
        sqlite=f"BEFORE UPDATE ON {_TABLE} BEGIN {_SQLITE} END",
        event="BEFORE UPDATE",
        body=_POSTGRESQL,
    ),
    Guard(
        name="audit_event_no_delete",
        table=_TABLE,
        sqlite=f"BEFORE DELETE ON {_TABLE} BEGIN {_SQLITE} END",
        event="BEFORE DELETE",
        body=_POSTGRESQL,
    ),
    Guard(
        name="audit_event_no_truncate",
        table=_TABLE,
        sqlite="",
        event="BEFORE TRUNCATE",
        body=_POSTGRESQL,
        each="STATEMENT",
    ),
]
