"""What was decided on stays written down, whoever has the database in their hands."""

from __future__ import annotations

import pytest
from django.db import DatabaseError, connection, transaction

from apps.launches import services
from apps.launches.models import Evaluation
from tests.callers import actor_for


@pytest.mark.skipif(connection.vendor != "sqlite", reason="REPLACE is SQLite's own")
def test_no_done_evaluation_is_replaced_by_one_that_is_not_done(answered, evaluated, bo):
    done = evaluated(answered())
    undone = services.request_evaluation(actor=actor_for(bo), launch_id=done.launch_id, anew=True)

    with (
        pytest.raises(DatabaseError, match="kept as they are"),
        transaction.atomic(),
        connection.cursor() as cursor,
    ):
        cursor.execute(
            "UPDATE OR REPLACE launches_evaluation SET id = %s WHERE id = %s", [done.pk.hex, undone.pk.hex]
        )
    assert {row.pk for row in Evaluation.objects.all()} == {done.pk, undone.pk}
