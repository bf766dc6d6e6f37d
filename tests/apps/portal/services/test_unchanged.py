"""Unchanged reports: counted where nothing follows from them, taken in whole where something may."""

from __future__ import annotations

import threading
from datetime import timedelta

import pytest
from django.db import connection

from apps.changes import services as changes
from apps.changes.services import Content, Wish
from apps.core import clock
from apps.core.errors import Missing, NotAllowed
from apps.environments.models import NodeFact, NodeReport
from apps.evidence import store
from apps.evidence.models import Evidence, Receipt
from apps.evidence.services import Said
from apps.evidence.services.repeats import COUNTED_FOR
from apps.fleet.models import Node, NodeAlias
from apps.health.engine.hysteresis import WINDOW
from apps.portal.services import intake
from apps.portal.services.unchanged import count_unchanged
from tests import factories
from tests.callers import actor_for
from tests.support import corpus


@pytest.fixture
def node(database, cluster):
    return factories.node(cluster, "sn-n01", domain=factories.domain(cluster, "sn"), accelerators=8)


def settled(person, cluster, name: str) -> Receipt:
    """A node's report with all its bytes, so often that health is settled on it; the newest delivery."""
    for _turn in range(WINDOW):
        receipt = intake.take_in(
            actor=actor_for(person), cluster=cluster, chunks=[corpus.read(corpus.XML)], node_name=name
        )
    return receipt


@pytest.fixture
def first(cluster, bo, node) -> Receipt:
    return settled(bo, cluster, "sn-n01")


@pytest.fixture
def again(cluster, bo, first):
    def said(*, person=bo, node_name="sn-n01", **more) -> Receipt:
        return intake.take_in_known(
            actor=actor_for(person), cluster=cluster, sha256=first.sha256, node_name=node_name, **more
        )

    return said


def test_what_is_gone_from_the_volume_is_asked_for_once_more(first, again):
    store.discard(first.sha256)
    with pytest.raises(Missing) as refused:
        again()
    assert refused.value.code == "unknown_digest"


def test_the_same_report_is_counted_and_makes_no_row(first, again, node):
    before, rows = NodeReport.objects.get(node=node), Receipt.objects.count()

    counted = again()

    report = NodeReport.objects.get(node=node)
    assert (counted.pk, counted.times, Receipt.objects.count()) == (first.pk, 2, rows)
    assert report.reported_at > before.reported_at
    assert Node.objects.get(pk=node.pk).last_reported_at == report.received_at
    assert NodeFact.objects.filter(sha256=first.sha256).count() == NodeFact.objects.count()


def test_many_reports_are_counted_in_as_many_queries_as_two(cluster, bo, first, node, count_queries):
    names = ["sn-n01"] + [f"sn-n{place:02}" for place in range(2, 6)]
    for name in names[1:]:
        factories.node(cluster, name, domain=node.domain, accelerators=8)
        settled(bo, cluster, name)
    actor = actor_for(bo)

    def count(some: list[str]) -> None:
        reports = [Said(sha256=first.sha256, node_name=name) for name in some]
        assert None not in count_unchanged(actor=actor, cluster=cluster, reports=reports)

    assert count_queries(lambda: count(names)) == count_queries(lambda: count(names[:2])) <= 10
    assert count_queries(lambda: count(names[:1])) <= 9


def test_what_a_killed_client_sends_again_is_taken_once(cluster, bo, node):
    now = clock.now()
    times = [now - timedelta(seconds=seconds) for seconds in (50, 40, 30, 20, 10)]

    def whole(at) -> Receipt:
        chunks = [corpus.read(corpus.XML)]
        return intake.take_in(
            actor=actor_for(bo), cluster=cluster, chunks=chunks, node_name="sn-n01", collected_at=at
        )

    rows = [whole(at) for at in times[:WINDOW]]
    assert [whole(at) for at in times[:WINDOW]] == rows
    reports = [Said(sha256=rows[0].sha256, node_name="sn-n01", collected_at=at) for at in times[WINDOW:]]
    for _sent in range(2):
        answers = count_unchanged(actor=actor_for(bo), cluster=cluster, reports=reports)
        assert answers == [rows[-1], rows[-1]]
    assert (Receipt.objects.count(), Receipt.objects.get(pk=rows[-1].pk).times) == (WINDOW, 3)


def test_of_one_file_none_is_counted_after_one_that_is_not(cluster, bo, first):
    changed = Said(sha256="0" * 64, node_name="sn-n01")
    same = Said(sha256=first.sha256, node_name="sn-n01")

    counted = count_unchanged(actor=actor_for(bo), cluster=cluster, reports=[same, changed, same])

    assert [receipt and receipt.times for receipt in counted] == [2, None, None]


def test_the_same_report_twice_in_one_request_is_counted_twice(cluster, bo, first):
    same = Said(sha256=first.sha256, node_name="sn-n01")

    count_unchanged(actor=actor_for(bo), cluster=cluster, reports=[same, same])

    assert Receipt.objects.get(pk=first.pk).times == 3


def test_when_it_was_said_last_is_kept(again):
    at = clock.now() - timedelta(seconds=0.01)

    kept = Receipt.objects.get(pk=again(collected_at=at).pk)

    assert (kept.last_said_at, kept.collected_at) == (at, None)
    assert kept.last_received_at > at


def test_a_report_older_than_the_one_on_record_is_not_counted(first, again):
    older = again(collected_at=clock.now() - timedelta(hours=1))

    assert older.pk != first.pk
    assert {effect["what"] for effect in older.effects} & {"node_versions_older", "outdated"}


def test_a_node_that_was_silent_for_too_long_is_taken_in_whole(first, again, node):
    NodeReport.objects.filter(node=node).update(reported_at=clock.now() - timedelta(days=2))

    assert again().pk != first.pk


def test_after_a_day_a_report_is_taken_in_whole_again(first, again, monkeypatch):
    tomorrow = clock.now() + COUNTED_FOR
    NodeReport.objects.update(reported_at=tomorrow)  # the node was not silent
    monkeypatch.setattr(clock, "now", lambda: tomorrow)

    whole = again()

    assert whole.pk != first.pk
    assert again().pk == whole.pk


def test_what_changed_back_is_taken_in_whole(cluster, bo, first, again):
    other = corpus.read(corpus.XML).replace(b"570.86.15", b"570.86.16")
    intake.take_in(actor=actor_for(bo), cluster=cluster, chunks=[other], node_name="sn-n01")

    assert again().pk != first.pk


def test_another_caller_has_a_receipt_of_their_own(first, again, ada):
    assert again(person=ada).pk != first.pk


def test_a_name_that_means_another_node_by_now_is_taken_in_whole(cluster, first, again, node):
    other = factories.node(cluster, "sn-n02", domain=node.domain, accelerators=8)
    Node.objects.filter(pk=node.pk).update(name="sn-n09")
    NodeAlias.objects.create(cluster=cluster, node=other, name="sn-n01")

    assert {effect["node"] for effect in again().effects} == {str(other.pk)}


def test_a_change_under_way_sees_every_report(first, again, node, bo, chen, actor_for):
    version = NodeFact.objects.get(component="gpu_driver", until__isnull=True, node=node).value
    wish = Wish(component="gpu_driver", values=(version,))
    drafted = changes.draft_change(
        actor=actor_for(bo),
        domain_id=node.domain_id,
        kind="driver",
        content=Content(title="driver", reason="test", wishes=(wish,)),
    )
    moved = changes.submit_change(actor=actor_for(bo), change_id=drafted.pk, expected_version=drafted.version)
    moved = changes.approve_change(actor=actor_for(chen), change_id=moved.pk, expected_version=moved.version)
    changes.start_change(actor=actor_for(bo), change_id=moved.pk, expected_version=moved.version)

    assert again().pk != first.pk


def test_who_may_not_hand_in_counts_nothing(first, again, vic, eve):
    with pytest.raises(NotAllowed):
        again(person=vic)
    with pytest.raises(Missing):
        again(person=eve)
    assert set(Receipt.objects.values_list("times", flat=True)) == {1}


def test_thinned_bytes_must_be_sent(first, again):
    Evidence.objects.update(thinned_at=clock.now())

    with pytest.raises(Missing) as refusal:
        again()
    assert refusal.value.code == "unknown_digest"


def test_reports_at_the_same_moment_are_each_counted(committed_database, first, again):
    gate = threading.Barrier(4)

    def report() -> None:
        gate.wait()
        try:
            again()
        finally:
            connection.close()

    threads = [threading.Thread(target=report) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert Receipt.objects.get(pk=first.pk).times == 5
