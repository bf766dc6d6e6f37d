"""Triggers are there after a migration, and come back after one that rebuilds tables."""

from __future__ import annotations

import re

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


KEPT = {guard.table: guard.message for guard in triggers.all_guards() if guard.event == "DELETE"}


@pytest.mark.parametrize("event", ["REPLACE", "TRUNCATE"])
def test_each_table_whose_rows_are_kept_refuses_what_passes_by_the_triggers_of_delete(event: str) -> None:
    assert KEPT.keys() == {guard.table for guard in triggers.all_guards() if guard.event == event}


def test_what_was_decided_and_the_trail_are_kept() -> None:
    assert KEPT.keys() >= {
        "audit_auditevent",
        "audit_audithead",
        "changes_approval",
        "changes_changeeditor",
        "changes_snapshot",
        "environments_matrixentry",
        "environments_matrixversion",
        "environments_observedversion",
        "launches_answer",
        "launches_evaluation",
        "launches_signoff",
        "launches_waiver",
    }


@pytest.mark.postgres
@pytest.mark.django_db
@pytest.mark.parametrize("table", sorted(KEPT))
def test_no_table_whose_rows_are_kept_is_emptied(table: str) -> None:
    with pytest.raises(DatabaseError, match=re.escape(KEPT[table])), connection.cursor() as cursor:
        cursor.execute(f"TRUNCATE {table} CASCADE")


@pytest.mark.postgres
@pytest.mark.django_db
def test_no_kept_table_is_emptied_along_with_what_it_refers_to() -> None:
    with pytest.raises(DatabaseError, match=r"kept|stays"), connection.cursor() as cursor:
        cursor.execute("TRUNCATE fleet_cluster CASCADE")
