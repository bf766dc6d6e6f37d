"""Writing the trail: in the decision's transaction, or not at all."""

from __future__ import annotations

import pytest
from django.db import DatabaseError, connection, transaction

from apps.accounts.models import Person
from apps.audit import queries
from apps.audit import services as audit
from apps.audit.models import AuditEvent, AuditHead
from apps.audit.services.trail import TrailBroken
from apps.audit.services.verification import verify
from tests import factories
from tests.tampering import without_triggers

pytestmark = pytest.mark.django_db


@audit.decision
def rename(person: Person, name: str, *, actor, fail: bool = False) -> None:
    before = {"length": len(person.name)}
    person.name = name
    person.save()
    audit.record(actor=actor, action="person.renamed", on=person, before=before, after={"length": len(name)})
    if fail:
        raise ValueError("in the middle of the decision")


def test_a_decision_leaves_one_event_with_what_was_before_and_after(ada, actor_for):
    rename(ada, "Ada L.", actor=actor_for(ada), fail=False)
    event = AuditEvent.objects.get()
    assert (event.seq, event.action, event.actor_id) == (1, "person.renamed", ada.pk)
    shown = queries.event(1, actor=actor_for(ada))
    assert [(change.key, change.old, change.new) for change in shown.changes] == [("length", "3", "6")]
    assert shown.actor == "Ada L."


def test_the_trail_holds_no_names_of_people(ada, actor_for):
    rename(ada, "Zebediah", actor=actor_for(ada))
    event = AuditEvent.objects.get()
    stored = " ".join(str(getattr(event, field.name)) for field in AuditEvent._meta.fields)
    assert "Zebediah" not in stored
    assert "Ada" not in stored


def test_a_decision_that_fails_leaves_neither_change_nor_event(ada, actor_for):
    with pytest.raises(ValueError, match="in the middle"):
        rename(ada, "Ada L.", actor=actor_for(ada), fail=True)
    ada.refresh_from_db()
    assert ada.name == "Ada"
    assert not AuditEvent.objects.exists()
    rename(ada, "Ada B.", actor=actor_for(ada))
    assert AuditEvent.objects.count() == 1


def test_an_inner_decision_that_fails_takes_its_event_with_it(ada, actor_for):
    @audit.decision
    def outer() -> None:
        audit.record(actor=actor_for(ada), action="test.outer", on=ada)
        with pytest.raises(ValueError):
            rename(ada, "Ada L.", actor=actor_for(ada), fail=True)
        rename(ada, "Ada M.", actor=actor_for(ada))

    outer()
    actions = list(AuditEvent.objects.order_by("seq").values_list("action", flat=True))
    assert actions == ["test.outer", "person.renamed"]
    assert queries.verify().intact


def test_an_event_that_cannot_be_written_undoes_the_change(ada, actor_for, monkeypatch):
    def refuse(rows):
        raise DatabaseError("the disk is full")

    monkeypatch.setattr(AuditEvent.objects, "bulk_create", refuse)
    with pytest.raises(DatabaseError):
        rename(ada, "Ada L.", actor=actor_for(ada))
    ada.refresh_from_db()
    assert ada.name == "Ada"
    assert AuditHead.objects.get().seq == 0


def test_the_object_is_noted_as_it_was_when_it_was_recorded(ada, actor_for):
    scope = factories.scope("old", "Old name")
    pk = scope.pk

    @audit.decision
    def remove() -> None:
        audit.record(actor=actor_for(ada), action="scope.removed", on=scope)
        scope.name = "Another name"
        scope.delete()

    remove()
    event = AuditEvent.objects.get()
    assert (event.object_id, event.object_label) == (str(pk), "Old name")


def test_recording_outside_of_a_decision_is_a_mistake(ada, actor_for):
    with pytest.raises(RuntimeError, match="outside of a decision"):
        audit.record(actor=actor_for(ada), action="test.done", on=ada)


def test_what_is_no_json_fails_where_it_is_recorded(ada, actor_for):
    with pytest.raises(TypeError), audit.deciding():
        audit.record(actor=actor_for(ada), action="test.done", on=ada, after={"when": object()})
    with pytest.raises(ValueError), audit.deciding():
        audit.record(actor=actor_for(ada), action="test.done", on=ada, after={"share": float("nan")})


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE audit_auditevent SET action = 'other'",
        "DELETE FROM audit_auditevent",
        pytest.param("TRUNCATE audit_auditevent", marks=pytest.mark.postgres),
    ],
)
def test_the_database_refuses_to_change_the_trail(ada, actor_for, statement):
    rename(ada, "Ada L.", actor=actor_for(ada))
    with pytest.raises(DatabaseError, match="append-only"), transaction.atomic():
        connection.cursor().execute(statement)
    assert AuditEvent.objects.get().action == "person.renamed"


def forged(**said: str) -> str:
    """The SQL that adds a copy of the newest event at the next number, otherwise as said."""
    columns = [one.column for one in AuditEvent._meta.local_concrete_fields if one.column != "id"]
    values = {"seq": "seq + 1", "prev_hash": "hash", "hash": "'forged'"} | said
    newest = "FROM audit_auditevent ORDER BY seq DESC LIMIT 1"
    copied = ", ".join(values.get(one, one) for one in columns)
    return f"INSERT INTO audit_auditevent ({', '.join(columns)}) SELECT {copied} {newest}"


@pytest.mark.parametrize("said", [{"seq": "seq + 2"}, {"prev_hash": "'other'"}])
def test_the_database_refuses_an_event_that_does_not_follow_the_newest(ada, actor_for, said):
    rename(ada, "Ada L.", actor=actor_for(ada))
    with pytest.raises(DatabaseError, match="append-only"), transaction.atomic():
        connection.cursor().execute(forged(**said))
    rename(ada, "Ada M.", actor=actor_for(ada))
    assert queries.verify().intact


@pytest.mark.parametrize("touched", [forged(), "DELETE FROM audit_audithead"], ids=["event added", "no head"])
def test_a_trail_that_somebody_touched_takes_no_decision_and_says_why(ada, actor_for, touched, caplog):
    rename(ada, "Ada L.", actor=actor_for(ada))
    without_triggers(touched)
    with pytest.raises(TrailBroken, match="audit_verify says where") as refused:
        rename(ada, "Ada M.", actor=actor_for(ada))
    ada.refresh_from_db()
    assert (ada.name, refused.value.status, refused.value.code) == ("Ada L.", 409, "audit_broken")
    assert "changed past the portal" in caplog.text
    assert verify(actor=actor_for(ada)).verification.first_bad_seq == 2


@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM audit_audithead",
        "UPDATE audit_audithead SET seq = seq - 1",
        "UPDATE audit_audithead SET seq = seq + 1",
        "UPDATE audit_audithead SET id = 2",
        "INSERT INTO audit_audithead (id, seq, hash) VALUES (2, 9, 'h')",
        "UPDATE audit_audithead SET hash = 'h'",
        "UPDATE audit_audithead SET seq = 1, hash = (SELECT hash FROM audit_auditevent WHERE seq = 1)",
        pytest.param("TRUNCATE audit_audithead", marks=pytest.mark.postgres),
        pytest.param(
            "REPLACE INTO audit_audithead (id, seq, hash) VALUES (1, 0, 'h')",
            marks=pytest.mark.skipif(connection.vendor != "sqlite", reason="REPLACE is SQLite's own"),
        ),
    ],
)
def test_the_database_refuses_to_remove_or_turn_back_the_head(ada, actor_for, statement):
    for name in ("Ada L.", "Ada M."):
        rename(ada, name, actor=actor_for(ada))
    with pytest.raises(DatabaseError, match="only goes forward"), transaction.atomic():
        connection.cursor().execute(statement)
    rename(ada, "Ada N.", actor=actor_for(ada))
    assert queries.verify().intact
    assert AuditHead.objects.get().seq == 3
