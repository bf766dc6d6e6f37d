"""What somebody let pass stays told, whoever has the database in their hands."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db import DatabaseError, transaction

from apps.core import clock
from apps.launches import services
from apps.launches.models import Waiver
from tests.apps.launches.test_gate import waived
from tests.callers import actor_for


@pytest.fixture
def waiver(answered, bo, sun) -> Waiver:
    """Bo asked for it, Sun approved it."""
    return waived(answered(), "no_drift", bo, sun)


@pytest.mark.parametrize("column", ["requested_by", "approved_by"])
def test_the_database_itself_refuses_other_people_of_a_waiver(waiver, column, ada):
    with pytest.raises(DatabaseError, match="kept as they are"), transaction.atomic():
        Waiver.objects.update(**{column: ada})
    assert getattr(Waiver.objects.get(), column) != ada


@pytest.mark.parametrize(
    "said", [{"item": "hardware"}, {"reason": "fine"}, {"approved_by": None}, {"approved_at": None}]
)
def test_the_database_itself_refuses_to_rewrite_a_waiver(waiver, said):
    with pytest.raises(DatabaseError, match="kept as they are"), transaction.atomic():
        Waiver.objects.update(**said)


def test_the_database_itself_refuses_to_lengthen_revive_or_remove_a_waiver(waiver, sun):
    services.revoke_waiver(actor=actor_for(sun), waiver_id=waiver.pk, reason="not harmless")
    for call in (
        lambda: Waiver.objects.update(expires_at=clock.now() + timedelta(days=9)),
        lambda: Waiver.objects.update(revoked_at=None),
        lambda: Waiver.objects.update(revoked_at=clock.now() + timedelta(days=9)),
        lambda: Waiver.objects.all()._raw_delete("default"),
    ):
        with pytest.raises(DatabaseError, match="kept as they are"), transaction.atomic():
            call()
    assert Waiver.objects.get().revoked_at is not None


def test_the_database_itself_refuses_who_asked_for_a_waiver_as_its_approver(waiver, bo):
    columns = {field.attname: getattr(waiver, field.attname) for field in Waiver._meta.local_concrete_fields}
    with pytest.raises(DatabaseError, match="four eyes"), transaction.atomic():
        Waiver.objects.create(**columns | {"id": None, "approved_by_id": bo.pk})
    asked = Waiver.objects.create(**columns | {"id": None, "approved_by_id": None, "approved_at": None})
    with pytest.raises(DatabaseError, match="four eyes"), transaction.atomic():
        Waiver.objects.filter(pk=asked.pk).update(approved_by=bo)
