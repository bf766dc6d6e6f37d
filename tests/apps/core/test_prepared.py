"""Statements whose text is made once say the same as the queryset that they are made from."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from django.db.models import F

from apps.accounts.models import RateWindow, RoleGrant
from apps.core.prepared import Given, Prepared, PreparedUpdate
from apps.core.rights import Role
from apps.fleet.models import Node
from tests import factories

AT = datetime(2026, 3, 1, 12, 30, 0, 250, tzinfo=UTC)
REPORTED = Prepared(
    lambda names, since: (
        Node.objects.filter(name__in=names, last_reported_at__gte=since)
        .annotate(place=F("domain__cluster__slug"))
        .order_by("name")
    )
)
MOVE = PreparedUpdate(lambda pk, at: Node.objects.filter(pk=pk), last_reported_at=Given("at"))
COUNT = PreparedUpdate(
    lambda bucket: RateWindow.objects.filter(bucket=bucket, count__lt=2), count=F("count") + 1
)


@pytest.fixture
def nodes(cluster):
    domain = factories.domain(cluster)
    return [factories.node(cluster, name, domain=domain) for name in ("n1", "n2", "n3")]


def test_each_call_is_answered_for_its_own_values(nodes):
    for hours, node in enumerate(nodes):
        assert MOVE(pk=node.pk, at=AT + timedelta(hours=hours)) == 1
    since_two = REPORTED.objects(names=["n1", "n2", "n3"], since=AT + timedelta(hours=1))
    assert [(row.name, row.last_reported_at, row.place) for row in since_two] == [
        ("n2", AT + timedelta(hours=1), "hall-1"),
        ("n3", AT + timedelta(hours=2), "hall-1"),
    ]
    assert REPORTED.objects(names=["n1"], since=AT) == [nodes[0]]
    assert REPORTED.objects(names=["n1"], since=AT + timedelta(microseconds=1)) == []


def test_rows_are_what_the_values_list_says(ada, bo, cluster):
    roles = Prepared(
        lambda person_id: RoleGrant.objects.filter(person=person_id).values_list("role", "scope_id")
    )
    assert roles.rows(person_id=bo.pk) == [(Role.OPERATOR, cluster.scope_id)]
    assert roles.rows(person_id=ada.pk) == [(Role.ADMIN, None)]
    assert roles.rows(person_id=0) == []


def test_an_update_counts_the_rows_that_it_moved(db):
    RateWindow.objects.create(bucket="b", window=1, count=1)
    assert [COUNT(bucket="b"), COUNT(bucket="b"), COUNT(bucket="c")] == [1, 0, 0]
    assert RateWindow.objects.get().count == 2


def test_the_text_is_made_once_for_each_length_of_list(nodes, monkeypatch):
    made = []
    query = Prepared(lambda names: made.append(len(names)) or Node.objects.filter(name__in=names))
    found = [
        len(query.objects(names=names)) for names in (["n1"], ["n2"], ["n1", "n2"], ["n9"], ["n2", "n3"])
    ]
    assert (found, made) == ([1, 1, 2, 0, 2], [1, 2])
