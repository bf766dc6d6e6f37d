"""Many decisions at once make one chain."""

from __future__ import annotations

import threading

import pytest
from django.db import connection

from apps.audit import queries
from apps.audit import services as audit
from apps.audit.models import AuditEvent
from tests.callers import actor_for

WRITERS, EACH = 20, 5


def write_in_parallel(ada, writers: int) -> None:
    faults: list[BaseException] = []
    ready = threading.Barrier(writers)

    def write() -> None:
        try:
            ready.wait(timeout=30)
            for number in range(EACH):
                with audit.deciding():
                    audit.record(actor=actor_for(ada), action="test.done", on=ada, after={"n": number})
                    audit.record(actor=actor_for(ada), action="test.also", on=ada)
        except BaseException as fault:
            faults.append(fault)
        finally:
            connection.close()

    threads = [threading.Thread(target=write) for _ in range(writers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert faults == []


@pytest.mark.postgres
def test_twenty_writers_on_postgresql_make_one_chain_that_holds(committed_database, ada):
    write_in_parallel(ada, WRITERS)
    found = queries.verify()
    assert (found.intact, found.count) == (True, WRITERS * EACH * 2)


def test_four_writers_on_either_engine_make_one_chain_that_holds(committed_database, ada):
    write_in_parallel(ada, 4)
    found = queries.verify()
    assert (found.intact, found.count) == (True, 4 * EACH * 2)
    pairs = AuditEvent.objects.order_by("seq").values_list("action", flat=True)
    assert list(pairs) == ["test.done", "test.also"] * (4 * EACH)
