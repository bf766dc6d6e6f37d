"""Triggers are there after a migration, and come back after one that rebuilds tables."""

from __future__ import annotations

import pytest
from django.core.management import call_command
from django.db import DatabaseError, connection

from apps.accounts.models import Person
from apps.audit import services as audit
from apps.audit.models import AuditEvent
from apps.core import triggers
from tests.callers import actor_for


@pytest.mark.django_db
def test_no_trigger_is_missing_after_the_migrations() -> None:
    assert triggers.missing() == []
    assert len(list(triggers.all_guards())) > 20


def test_triggers_come_back_after_a_migration_lifted_them(committed_database: str) -> None:
    triggers.lift(using="default", plan=["something changes"])
    lifted = triggers.missing()

    call_command("migrate", verbosity=0)

    assert triggers.missing() == []
    assert bool(lifted) is (connection.vendor == "sqlite")


@pytest.mark.django_db
def test_a_migration_that_changes_nothing_leaves_triggers_alone() -> None:
    triggers.lift(using="default", plan=[])

    assert triggers.missing() == []


@pytest.mark.skipif(connection.vendor != "sqlite", reason="REPLACE is SQLite's own")
@pytest.mark.django_db
@pytest.mark.parametrize("key", ["id", "seq", "hash"])
def test_no_row_of_the_trail_is_replaced_by_another_with_its_key(ada: Person, key: str) -> None:
    with audit.deciding():
        audit.record(actor=actor_for(ada), action="test.done", on=ada)
    columns = [field.column for field in AuditEvent._meta.local_concrete_fields]
    said = {"id": "id + 1", "seq": "seq + 1", "hash": "'h'", "prev_hash": "'p'", "action": "'test.undone'"}
    del said[key]
    values = ", ".join(said.get(column, column) for column in columns)
    replace = f"REPLACE INTO audit_auditevent ({', '.join(columns)}) SELECT {values} FROM audit_auditevent"

    with pytest.raises(DatabaseError, match="append-only"), connection.cursor() as cursor:
        cursor.execute(replace)


def test_each_table_whose_rows_are_kept_refuses_replacing_too() -> None:
    guards = list(triggers.all_guards())
    kept = {guard.table for guard in guards if guard.event == "DELETE"}
    assert kept == {guard.table for guard in guards if guard.event == "REPLACE"}
    assert len(kept) > 5
