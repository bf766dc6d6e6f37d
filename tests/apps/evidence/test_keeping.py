"""How long raw bytes stay: pinned, thinned by age, swept where no row names them."""

from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta

import pytest
from django.db import DatabaseError, connection, transaction

from apps.audit.models import AuditEvent
from apps.core import clock
from apps.core.errors import Invalid, NotAllowed, Stale
from apps.evidence import services, store
from apps.evidence.models import Evidence, EvidenceReading, Receipt, ReceiptState
from tests.support import corpus

pytestmark = pytest.mark.django_db

DAY = timedelta(days=1)


def settled(receipt: Receipt) -> None:
    services.settle(receipt_id=receipt.pk, state=ReceiptState.APPLIED, effects=[])


@pytest.fixture
def send(cluster, bo, actor_for, monkeypatch):
    """Hand a file in for a node, so many days ago."""

    def sent(name: str, node: str = "sn-n01", days_ago: int = 0, hand_over=settled) -> Receipt:
        then = clock.now() - days_ago * DAY
        with monkeypatch.context() as past:
            past.setattr(clock, "now", lambda: then)
            receipt = services.receive(
                actor=actor_for(bo),
                scope_id=cluster.scope_id,
                chunks=[corpus.read(name)],
                node_name=node,
                hand_over=hand_over,
            )
        Evidence.objects.filter(pk=receipt.evidence_id).update(stored_at=then)
        return receipt

    return sent


def make_old(*digests: str) -> None:
    for digest in digests:
        os.utime(store.path_of(digest), (0, 0))


OLD_XML, OTHER_XML = corpus.XML, "nvidia-smi-xml/p100x1.xml"


def test_the_sweep_takes_only_old_bytes_that_no_row_names(send, evidence_dir):
    kept = send(OLD_XML)
    orphan, young = "ab" + "0" * 62, "cd" + "0" * 62
    for digest in (orphan, young):
        store.path_of(digest).parent.mkdir(exist_ok=True)
        store.path_of(digest).write_bytes(b"")
    make_old(kept.sha256, orphan)
    assert services.sweep() == 1
    assert [store.path_of(digest).exists() for digest in (kept.sha256, orphan, young)] == [True, False, True]
    assert Evidence.objects.count() == 1


def test_the_sweep_takes_what_killed_uploads_left(evidence_dir):
    left, running = store.incoming() / "tmp-left", store.incoming() / "tmp-running"
    left.write_bytes(b"half")
    running.write_bytes(b"half")
    os.utime(left, (0, 0))
    assert services.sweep() == 1
    assert (left.exists(), running.exists()) == (False, True)


def test_a_folder_among_the_bytes_is_left_to_people_and_stops_no_sweep(evidence_dir):
    orphan, folders = store.path_of("cd" + "0" * 62), [store.path_of("ab" + "0" * 62), store.incoming() / "x"]
    for folder in folders:
        folder.mkdir(parents=True)
        os.utime(folder, (0, 0))
    orphan.parent.mkdir()
    orphan.write_bytes(b"")
    os.utime(orphan, (0, 0))
    assert services.sweep() == 1
    assert [path.exists() for path in (orphan, *folders)] == [False, True, True]
    store.discard("ab" + "0" * 62)


def test_bytes_swept_in_the_middle_of_a_delivery_are_put_back(send, monkeypatch):
    keep, calls = store.keep, []

    def swept_after_the_first(upload):
        keep(upload)
        calls.append(upload.sha256)
        if len(calls) == 1:
            make_old(upload.sha256)
            services.sweep()
            assert not store.path_of(upload.sha256).exists()

    monkeypatch.setattr(store, "keep", swept_after_the_first)
    receipt = send(OLD_XML)
    assert store.path_of(receipt.sha256).exists()


def test_keeping_what_lies_there_makes_it_young_and_never_makes_an_empty_file(send, evidence_dir):
    receipt = send(OLD_XML)
    make_old(receipt.sha256)
    send(OLD_XML)
    assert list(store.not_young()) == []
    assert store.open_bytes(receipt.sha256).read() == corpus.read(OLD_XML)


def test_thinning_takes_old_bytes_and_leaves_the_reading(send, settings):
    settings.EVIDENCE_KEEP_DAYS = 30
    old, newest = send(OLD_XML, days_ago=60), send(OTHER_XML, days_ago=50)
    assert services.thin() == 1
    old.evidence.refresh_from_db()
    assert old.evidence.thinned_at is not None
    assert EvidenceReading.objects.filter(evidence=old.evidence).exists()
    assert (store.path_of(old.sha256).exists(), store.path_of(newest.sha256).exists()) == (False, True)
    assert services.thin() == 0


@pytest.mark.parametrize("days", [30, 0])
def test_what_is_young_or_kept_for_good_is_not_thinned(send, settings, days):
    settings.EVIDENCE_KEEP_DAYS = days
    send(OLD_XML, days_ago=60 if days == 0 else 29)
    send(OTHER_XML)
    assert services.thin() == 0


def test_what_a_decision_rests_on_is_not_thinned(send, settings):
    settings.EVIDENCE_KEEP_DAYS = 30
    old = send(OLD_XML, days_ago=60)
    send(OTHER_XML)
    services.pin([old.sha256])
    assert services.thin() == 0
    assert store.path_of(old.sha256).exists()


def test_the_newest_of_another_node_is_not_thinned(send, settings):
    settings.EVIDENCE_KEEP_DAYS = 30
    send(OLD_XML, days_ago=60)
    send(OLD_XML, node="sn-n02", days_ago=60)
    send(OTHER_XML)
    assert services.thin() == 0


def test_what_waits_for_its_node_is_not_thinned(send, settings):
    settings.EVIDENCE_KEEP_DAYS = 30

    def unmatched(receipt: Receipt) -> None:
        services.settle(receipt_id=receipt.pk, state=ReceiptState.UNMATCHED, effects=[])

    send(OLD_XML, days_ago=60, hand_over=unmatched)
    send(OTHER_XML)
    assert services.thin() == 0


def test_thinned_bytes_come_back_when_they_are_delivered_again(send, settings):
    settings.EVIDENCE_KEEP_DAYS = 30
    old = send(OLD_XML, days_ago=60)
    send(OTHER_XML, days_ago=50)
    services.thin()
    again = send(OLD_XML)
    assert again.evidence == old.evidence
    assert again.evidence.thinned_at is None
    make_old(again.sha256)
    assert services.sweep() == 0
    assert store.open_bytes(again.sha256).read() == corpus.read(OLD_XML)


def test_killed_between_mark_and_removal_the_sweep_ends_the_thinning(send, settings, monkeypatch):
    settings.EVIDENCE_KEEP_DAYS = 30
    old = send(OLD_XML, days_ago=60)
    send(OTHER_XML, days_ago=50)

    def killed(sha256: str) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as broken:
        broken.setattr(store, "discard", killed)
        with pytest.raises(KeyboardInterrupt):
            services.thin()
    assert store.path_of(old.sha256).exists()
    make_old(old.sha256)
    assert services.sweep() == 1
    assert not store.path_of(old.sha256).exists()


def test_many_digests_are_pinned(send):
    receipt = send(OLD_XML)
    services.pin([f"{number:064x}" for number in range(2500)] + [receipt.sha256])
    receipt.evidence.refresh_from_db()
    assert receipt.evidence.pinned


def test_both_are_due_again_and_again(run_jobs):
    from apps.core import actor as actors
    from apps.jobs.registry import recurring
    from apps.jobs.services import enqueue

    assert (recurring()["evidence.sweep"], recurring()["evidence.thin"]) == (3600, 86400)
    for kind in ("evidence.sweep", "evidence.thin"):
        enqueue(kind, actor=actors.system())
    assert [job.result for job in run_jobs()] == [{"removed": 0}, {"thinned": 0}]


def test_each_cluster_keeps_each_kind_for_its_own_time(send, cluster, ada, actor_for, settings):
    settings.EVIDENCE_KEEP_DAYS = 30
    xml = [send(OLD_XML, days_ago=10), send(OTHER_XML, days_ago=9)]
    text = [send(corpus.COLLECT_ENV, days_ago=60), send("collect-env/a800x1-conda.txt", days_ago=50)]
    services.set_keep_policy(
        actor=actor_for(ada),
        scope_id=cluster.scope_id,
        expected_version=0,
        keep_days=0,
        kinds={"nvidia_smi_xml": 5},
    )
    assert services.thin() == 1
    assert [store.path_of(receipt.sha256).exists() for receipt in xml + text] == [False, True, True, True]


def test_a_counted_report_keeps_its_bytes(send, settings):
    settings.EVIDENCE_KEEP_DAYS = 30
    old, _ = send(OLD_XML, days_ago=40), send(OTHER_XML, days_ago=35)
    Receipt.objects.filter(pk=old.pk).update(last_received_at=clock.now())
    assert services.thin() == 0


def test_bytes_of_two_clusters_stay_as_long_as_one_of_them_wants(
    send, cluster, other_cluster, ada, actor_for, settings
):
    settings.EVIDENCE_KEEP_DAYS = 30
    old, newer = send(OLD_XML, days_ago=40), send(OTHER_XML, days_ago=35)
    shared = Receipt.objects.get(pk=old.pk)
    shared.pk, shared.scope_id = None, other_cluster.scope_id
    shared.save()
    newest = Receipt.objects.get(pk=newer.pk)
    newest.pk, newest.scope_id = None, other_cluster.scope_id
    newest.save()
    keep = {"actor": actor_for(ada), "scope_id": other_cluster.scope_id, "kinds": {}}
    services.set_keep_policy(expected_version=0, keep_days=90, **keep)
    assert services.thin() == 0
    services.set_keep_policy(expected_version=1, keep_days=None, **keep)
    assert services.thin() == 1


def test_a_policy_is_audited_and_never_overwritten_unseen(cluster, ada, bo, actor_for):
    keep = {"scope_id": cluster.scope_id, "keep_days": 90, "kinds": {"dmi": 0}}
    set_by_ada = services.set_keep_policy(actor=actor_for(ada), expected_version=0, **keep)
    event = AuditEvent.objects.get(action="evidence.keep_policy_set")
    assert (set_by_ada.version, event.object_type) == (1, "evidence.keeppolicy")
    with pytest.raises(Stale):
        services.set_keep_policy(actor=actor_for(ada), expected_version=0, **keep)
    with pytest.raises(NotAllowed):
        services.set_keep_policy(actor=actor_for(bo), expected_version=1, **keep)
    with pytest.raises(Invalid) as refusal:
        services.set_keep_policy(
            actor=actor_for(ada),
            scope_id=cluster.scope_id,
            expected_version=1,
            keep_days=-1,
            kinds={"no_such_kind": 3},
        )
    assert [one.pointer for one in refusal.value.errors] == ["/keep_days", "/kinds/no_such_kind"]


@pytest.mark.parametrize(
    "said", [{"sha256": "0" * 64}, {"size_bytes": 1}, {"pinned": False}, {"thinned_at": datetime.now(UTC)}]
)
def test_the_database_itself_refuses_to_rewrite_evidence(send, said):
    receipt = send(OLD_XML)
    services.pin([receipt.sha256])
    with pytest.raises(DatabaseError, match="kept as they came"), transaction.atomic():
        Evidence.objects.update(**said)
    assert Evidence.objects.get().sha256 == receipt.sha256


def test_the_database_itself_refuses_to_rewrite_what_was_read(send):
    send(OLD_XML)
    with pytest.raises(DatabaseError, match="kept as they came"), transaction.atomic():
        EvidenceReading.objects.update(facts={})
    assert EvidenceReading.objects.get().facts


@pytest.mark.parametrize("model", [Receipt, EvidenceReading, Evidence])
def test_the_database_itself_refuses_to_remove_what_was_delivered(send, model):
    send(OLD_XML)
    with pytest.raises(DatabaseError, match="kept as they came"), transaction.atomic():
        connection.cursor().execute(f"DELETE FROM {model._meta.db_table}")
    assert model.objects.count() == 1


OTHERWISE = {
    "received_at": datetime(2020, 1, 1, tzinfo=UTC),
    "file_name": "other.txt",
    "node_name": "sn-n99",
    "collected_at": datetime(2020, 1, 1, tzinfo=UTC),
    "sha256": "0" * 64,
    "size_bytes": 1,
    "kind": "dmi",
    "person": None,
    "via": "system",
    "by_label": "somebody else",
    "repeated": True,
    "state": "unmatched",
    "evidence": None,
    "reading": None,
    "effects": [{"what": "node_versions", "label": "sn-n99", "node": "9"}],
    "refusal": "it was refused",
}


@pytest.mark.parametrize("said", [{name: value} for name, value in OTHERWISE.items()], ids=list(OTHERWISE))
def test_the_database_itself_refuses_to_rewrite_a_delivery(send, said):
    send(OLD_XML)
    with pytest.raises(DatabaseError, match="kept as they came"), transaction.atomic():
        Receipt.objects.update(**said)
