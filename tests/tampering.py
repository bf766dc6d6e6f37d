"""What somebody does who has the database in their hands."""

from __future__ import annotations

from django.db import connection


def without_triggers(*statements: str) -> None:
    """Run the statements on the audit trail with its triggers switched off."""
    if connection.vendor == "sqlite":
        off = ["DROP TRIGGER audit_event_no_update", "DROP TRIGGER audit_event_no_delete"]
    else:
        off = ["ALTER TABLE audit_auditevent DISABLE TRIGGER USER"]
    with connection.cursor() as cursor:
        for statement in [*off, *statements]:
            cursor.execute(statement)
