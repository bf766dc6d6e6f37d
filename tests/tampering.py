"""What somebody does who has the database in their hands."""

from __future__ import annotations

from django.db import connection

from apps.core import triggers


def without_triggers(*statements: str) -> None:
    """Run the statements on the audit trail and its head with their triggers switched off."""
    if connection.vendor == "sqlite":
        tables = {"audit_auditevent", "audit_audithead"}
        names = {guard.name for guard in triggers.all_guards() if guard.table in tables}
        off = [f"DROP TRIGGER IF EXISTS {name}" for name in sorted(names)]
    else:
        off = [
            "ALTER TABLE audit_auditevent DISABLE TRIGGER USER",
            "ALTER TABLE audit_audithead DISABLE TRIGGER USER",
        ]
    with connection.cursor() as cursor:
        for statement in [*off, *statements]:
            cursor.execute(statement)
