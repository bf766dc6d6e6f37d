"""Triggers are there after a migration, and come back after one that rebuilds tables."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from django.core.management import call_command
from django.db import DatabaseError, connection, transaction
from django.db.models import Model

from apps.accounts.models import Person
from apps.audit import services as audit
from apps.audit.models import AuditEvent
from apps.core import triggers
from apps.environments.models import Matrix, MatrixVersion
from apps.fleet.models import Cluster
from tests import factories
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


@pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite has no switch for triggers")
@pytest.mark.django_db
def test_a_trigger_that_is_switched_off_is_missing_until_the_next_migrate() -> None:
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE changes_approval DISABLE TRIGGER changes_four_eyes")
    switched_off = triggers.missing()

    triggers.put_in_place(using="default")

    assert (switched_off, triggers.missing()) == (["changes_four_eyes"], [])


@pytest.mark.django_db
def test_a_trigger_that_refuses_nothing_any_more_is_missing_until_the_next_migrate() -> None:
    hollow = {
        "sqlite": [
            "DROP TRIGGER changes_four_eyes",
            "CREATE TRIGGER changes_four_eyes BEFORE INSERT ON changes_approval BEGIN SELECT 1; END",
        ],
        "postgresql": [
            "CREATE OR REPLACE FUNCTION changes_four_eyes() RETURNS trigger LANGUAGE plpgsql AS "
            "'BEGIN RETURN NEW; END'"
        ],
    }[connection.vendor]
    with connection.cursor() as cursor:
        for statement in hollow:
            cursor.execute(statement)
    emptied = triggers.missing()

    triggers.put_in_place(using="default")

    assert (emptied, triggers.missing()) == (["changes_four_eyes"], [])


@pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite keeps a trigger whole, as one text")
@pytest.mark.django_db
@pytest.mark.parametrize(
    "asked",
    [
        "BEFORE INSERT ON evidence_receipt FOR EACH ROW",
        "AFTER UPDATE OF sha256, scope_id, evidence_id ON evidence_receipt FOR EACH ROW",
        "BEFORE UPDATE OF id ON evidence_receipt FOR EACH ROW",
        "BEFORE UPDATE ON evidence_receipt FOR EACH STATEMENT",
        "BEFORE UPDATE ON evidence_evidence FOR EACH ROW",
    ],
)
def test_a_trigger_that_is_asked_at_another_time_is_missing_until_the_next_migrate(asked: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute("DROP TRIGGER evidence_delivery ON evidence_receipt")
        cursor.execute(f"CREATE TRIGGER evidence_delivery {asked} EXECUTE FUNCTION evidence_delivery()")
    elsewhere = triggers.missing()

    triggers.put_in_place(using="default")

    assert (elsewhere, triggers.missing()) == (["evidence_delivery"], [])


REPLACING = pytest.mark.skipif(connection.vendor != "sqlite", reason="REPLACE is SQLite's own")


@REPLACING
@pytest.mark.django_db
@pytest.mark.parametrize("key", ["id", "seq", "hash"])
def test_no_row_of_the_trail_is_replaced_by_another_with_its_key(ada: Person, key: str) -> None:
    with audit.deciding():
        audit.record(actor=actor_for(ada), action="test.done", on=ada)
    columns = [field.column for field in AuditEvent._meta.local_concrete_fields]
    said = {"id": "id + 1", "seq": "seq + 1", "hash": "'h'", "prev_hash": "'p'", "action": "'test.undone'"}
    del said[key]
    values = ", ".join(said.get(column, column) for column in columns)
    statement = f"REPLACE INTO audit_auditevent ({', '.join(columns)}) SELECT {values} FROM audit_auditevent"

    with pytest.raises(DatabaseError, match="append-only"), connection.cursor() as cursor:
        cursor.execute(statement)


@pytest.fixture
def locked_and_draft(cluster: Cluster) -> tuple[MatrixVersion, MatrixVersion]:
    locked = factories.locked_matrix(factories.domain(cluster, "sn"))
    draft = MatrixVersion.objects.create(matrix=locked.matrix, number=2, created_at=locked.created_at)
    return locked, draft


@REPLACING
@pytest.mark.parametrize("said", ["id = {kept}", "number = 1", "state = 'locked'"])
def test_no_kept_row_is_replaced_by_changing_another_to_its_key(
    locked_and_draft: tuple[MatrixVersion, MatrixVersion], said: str
) -> None:
    locked, draft = locked_and_draft
    change = said.format(kept=locked.pk)

    with (
        pytest.raises(DatabaseError, match="locked matrix stays"),
        transaction.atomic(),
        connection.cursor() as cursor,
    ):
        cursor.execute(f"UPDATE OR REPLACE environments_matrixversion SET {change} WHERE id = {draft.pk}")
    assert MatrixVersion.objects.count() == 2


@REPLACING
def test_no_locked_version_is_replaced_by_a_new_one_that_is_locked(
    locked_and_draft: tuple[MatrixVersion, MatrixVersion],
) -> None:
    columns = [field.column for field in MatrixVersion._meta.local_concrete_fields]
    values = ", ".join({"id": "id + 9", "number": "9"}.get(column, column) for column in columns)
    statement = f"REPLACE INTO environments_matrixversion ({', '.join(columns)}) SELECT {values} "

    with pytest.raises(DatabaseError, match="locked matrix stays"), connection.cursor() as cursor:
        cursor.execute(f"{statement} FROM environments_matrixversion WHERE state = 'locked'")


@REPLACING
@pytest.mark.parametrize("name", ["rowid", "oid", "_rowid_"])
def test_no_locked_version_is_renumbered_by_another_name_of_its_key(
    name: str, locked_and_draft: tuple[MatrixVersion, MatrixVersion]
) -> None:
    locked, _draft = locked_and_draft

    with pytest.raises(DatabaseError, match="locked matrix stays"), connection.cursor() as cursor:
        cursor.execute(f"UPDATE environments_matrixversion SET {name} = 99 WHERE id = {locked.pk}")


@REPLACING
def test_no_cluster_is_replaced_by_a_demonstration(cluster: Cluster) -> None:
    columns = [field.column for field in Cluster._meta.local_concrete_fields]
    values = ", ".join({"is_demo": "1"}.get(column, column) for column in columns)
    statement = f"REPLACE INTO fleet_cluster ({', '.join(columns)}) SELECT {values} FROM fleet_cluster"

    with pytest.raises(DatabaseError, match="nothing else becomes one"), connection.cursor() as cursor:
        cursor.execute(statement)


def test_no_cluster_takes_the_number_of_another(cluster: Cluster) -> None:
    with pytest.raises(DatabaseError, match="nothing else becomes one"), transaction.atomic():
        Cluster.objects.filter(pk=cluster.pk).update(id=cluster.pk + 9)


def test_no_locked_version_goes_to_a_demonstration_with_its_matrix(
    locked_and_draft: tuple[MatrixVersion, MatrixVersion],
) -> None:
    matrix = locked_and_draft[0].matrix
    with pytest.raises(DatabaseError, match="a matrix stays in its cluster"), transaction.atomic():
        type(matrix).objects.filter(pk=matrix.pk).update(cluster=factories.cluster("elsewhere"))


@pytest.mark.parametrize("model", [Cluster, Matrix])
def test_nothing_goes_away_beneath_a_locked_version(
    locked_and_draft: tuple[MatrixVersion, MatrixVersion], model: type[Model]
) -> None:
    with pytest.raises(DatabaseError, match="stays"), transaction.atomic():
        model._base_manager.all()._raw_delete("default")
    assert model._base_manager.exists()


def test_what_is_known_to_be_good_is_not_forgotten_to_be_changed(cluster: Cluster) -> None:
    good = factories.locked_matrix(factories.domain(cluster, "sn"), known_good=True)
    rows = MatrixVersion.objects.filter(pk=good.pk)
    for at in (None, datetime(2020, 1, 1, tzinfo=UTC)):
        with pytest.raises(DatabaseError, match="locked matrix stays"), transaction.atomic():
            rows.update(known_good_at=at)
    assert rows.update(state="retired") == 1


def test_a_draft_of_a_matrix_is_edited_and_locked_as_ever(
    locked_and_draft: tuple[MatrixVersion, MatrixVersion],
) -> None:
    locked, draft = locked_and_draft
    draft.note = "edited"
    draft.save()
    MatrixVersion.objects.filter(pk=locked.pk).update(state="retired")
    MatrixVersion.objects.filter(pk=draft.pk).update(state="locked")

    assert MatrixVersion.objects.get(state="locked").note == "edited"


def test_a_row_of_a_table_whose_rows_are_kept_keeps_its_number(
    locked_and_draft: tuple[MatrixVersion, MatrixVersion],
) -> None:
    _locked, draft = locked_and_draft

    with pytest.raises(DatabaseError, match="locked matrix stays"), transaction.atomic():
        MatrixVersion.objects.filter(pk=draft.pk).update(id=draft.pk + 9)


@pytest.mark.django_db
def test_a_trigger_that_says_something_else_than_its_guard_is_replaced() -> None:
    guard = next(triggers.all_guards())
    older = replace(guard, when="1 = 2")
    with connection.cursor() as cursor:
        for statement in older.statements(connection.vendor):
            cursor.execute(statement)

    triggers.put_in_place(using="default")

    with connection.cursor() as cursor:
        cursor.execute(DEFINITION[connection.vendor], [guard.name])
        assert "1 = 2" not in cursor.fetchone()[0]


DEFINITION = {
    "sqlite": "SELECT sql FROM sqlite_master WHERE name = %s",
    "postgresql": "SELECT prosrc FROM pg_proc WHERE proname = %s",
}


KEPT = {guard.table: guard.message for guard in triggers.all_guards() if guard.event == "DELETE"}


@pytest.mark.parametrize("way", ["no_renumber", "no_replace", "no_replace_by_update", "no_truncate"])
def test_each_table_whose_rows_are_kept_refuses_what_passes_by_the_triggers_of_delete(way: str) -> None:
    assert {f"{table}_{way}" for table in KEPT} <= {guard.name for guard in triggers.all_guards()}


def test_what_was_decided_and_the_trail_are_kept() -> None:
    assert KEPT.keys() >= {
        "audit_auditevent",
        "audit_audithead",
        "changes_approval",
        "changes_change",
        "changes_changeeditor",
        "changes_snapshot",
        "environments_matrix",
        "environments_matrixentry",
        "environments_matrixversion",
        "environments_observedversion",
        "fleet_cluster",
        "launches_answer",
        "launches_evaluation",
        "launches_launch",
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
