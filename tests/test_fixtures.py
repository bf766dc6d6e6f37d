"""The fixtures themselves: people by name, clients, and a database in which commits are real."""

from __future__ import annotations

import threading

from django.db import connection

from apps.accounts.models import Person
from apps.audit import services as audit
from apps.core.rights import Right
from tests import factories


def test_people_hold_their_roles_in_their_cluster_only(ada, bo, eve, cluster, other_cluster, actor_for):
    assert actor_for(bo).may(Right.OPERATE, cluster.scope_id)
    assert not actor_for(bo).may(Right.READ, other_cluster.scope_id)
    assert not actor_for(eve).may(Right.READ, cluster.scope_id)
    assert actor_for(ada).may(Right.ADMIN, None)


def test_a_bearer_text_is_known_to_the_api(bo, api):
    answer = api(factories.bearer(bo)).get("/api/v1/no-such-thing/")
    assert answer.status_code == 404
    assert api("snp_" + "a" * 12 + "." + "b" * 40).get("/api/v1/no-such-thing/").status_code == 401


def test_commits_are_seen_by_other_threads_and_gone_in_the_next_test(committed_database, ada, actor_for):
    @audit.decision
    def rename() -> None:
        audit.record(actor=actor_for(ada), action="test.done", on=ada)

    rename()
    seen = []

    def look() -> None:
        seen.append(Person.objects.count())
        connection.close()

    thread = threading.Thread(target=look)
    thread.start()
    thread.join()
    assert seen == [1]


def test_nothing_is_left_of_a_test_that_committed(database):
    assert Person.objects.count() == 0
