"""One delivery: kept, read and handed over whole, or refused and nothing kept."""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime

import pytest
from django.db import connection

from apps.audit.models import AuditEvent
from apps.core.errors import Busy, Conflict, Invalid, Missing, NotAllowed
from apps.core.rights import TokenScope
from apps.evidence import queries, services, store
from apps.evidence.models import Evidence, EvidenceReading, Receipt, ReceiptState
from apps.evidence.services import values
from tests.support import corpus

pytestmark = pytest.mark.django_db


def nobody(receipt: Receipt) -> None:
    """Takes over nothing."""


@pytest.fixture
def send(cluster, bo, actor_for):
    def sent(data: bytes, hand_over=nobody, **fields):
        actor = fields.pop("actor", None) or actor_for(bo)
        return services.receive(
            actor=actor, scope_id=cluster.scope_id, chunks=[data], hand_over=hand_over, **fields
        )

    return sent


def files_in(folder) -> list[str]:
    return sorted(path.name for path in folder.rglob("*") if path.is_file())


def test_a_file_is_kept_by_its_digest_and_read(send, evidence_dir):
    data = corpus.read(corpus.XML)
    receipt = send(data, file_name="smi.xml", node_name="sn-n01")
    digest = hashlib.sha256(data).hexdigest()
    assert (receipt.state, receipt.kind, receipt.sha256) == (ReceiptState.STORED, "nvidia_smi_xml", digest)
    assert receipt.reading.facts["driver_version"] == "570.86.15"
    assert store.open_bytes(digest).read() == data
    assert files_in(evidence_dir) == [f"{digest}.gz"]


def test_a_delivery_is_no_decision(send):
    send(corpus.read(corpus.XML))
    assert not AuditEvent.objects.exists()


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"", "empty"),
        (b"\n\n  \t\n", "empty"),
        (b"\x7fELF\x02\x01\x01" + bytes(range(256)) * 40, "binary"),
        (b"Hello, this is a shopping list.\nbread\nmilk\n", "unrecognised"),
    ],
    ids=["empty", "blank", "binary", "another tool"],
)
def test_what_cannot_be_read_is_refused_and_leaves_only_its_receipt(send, evidence_dir, data, code):
    receipt = send(data, file_name="odd")
    assert receipt.state == ReceiptState.REFUSED
    assert receipt.refusal
    assert (receipt.evidence, receipt.reading, receipt.sha256) == (
        None,
        None,
        hashlib.sha256(data).hexdigest(),
    )
    assert not Evidence.objects.exists()
    assert files_in(evidence_dir) == []
    assert receipt.refusal_code == code


def test_a_truncated_xml_is_read_up_to_the_break_and_says_so(send):
    receipt = send(corpus.read(corpus.XML)[:20_000])
    codes = {warning["code"]: warning["line"] for warning in receipt.reading.warnings}
    assert receipt.reading.facts["driver_version"] == "570.86.15"
    assert codes["cut_off"] == 457
    assert "gpus_missing" in codes


def test_entities_of_an_xml_are_refused_before_they_expand(send):
    bomb = b'<?xml version="1.0"?><!DOCTYPE nvidia_smi_log [<!ENTITY a "ha">'
    for name, inner in zip("bcdefghij", "abcdefghi", strict=True):
        bomb += f'<!ENTITY {name} "{f"&{inner};" * 10}">'.encode()
    bomb += b"]><nvidia_smi_log><timestamp>&j;</timestamp><driver_version>1</driver_version></nvidia_smi_log>"
    receipt = send(bomb)
    assert receipt.state == ReceiptState.REFUSED
    assert "entit" in receipt.refusal.lower()


def test_a_file_above_the_limit_is_refused_and_not_kept(send, settings, evidence_dir):
    settings.EVIDENCE_LIMIT_BYTES = 2**20
    receipt = send(b"x" * (2**20 + 1))
    assert (receipt.state, receipt.refusal_code) == (ReceiptState.REFUSED, "too_large")
    assert (receipt.sha256, receipt.size_bytes) == ("", 2**20)
    assert files_in(evidence_dir) == []


def test_utf_16_of_a_windows_shell_is_read(send):
    text = corpus.read(corpus.COLLECT_ENV).decode()
    receipt = send(b"\xff\xfe" + text.encode("utf-16-le"))
    assert receipt.reading.facts["torch_version"] == "2.4.0+cu121"


def test_bytes_that_are_no_utf_8_are_read_with_replacements(send):
    receipt = send(corpus.read(corpus.COLLECT_ENV).replace(b"GCC version", b"GCC ver\xffsion", 1))
    assert receipt.state == ReceiptState.STORED
    assert receipt.reading.facts["torch_version"] == "2.4.0+cu121"


def test_nul_bytes_never_reach_the_database(send):
    data = corpus.read(corpus.COLLECT_ENV).replace(b"PyTorch version: ", b"PyTorch version: \x00", 1)
    receipt = send(data, file_name="a\x00b\n.txt", node_name="no\x00de", kind="collect_env\x00")
    assert (receipt.file_name, receipt.node_name, receipt.kind) == ("ab.txt", "node", "collect_env")
    assert "\x00" not in str(receipt.reading.facts)
    assert values.json_safe({"a\x00": ["\x00b", float("nan"), {"c": "\ud800"}]}) == {
        "a": ["b", None, {"c": "?"}]
    }


def test_a_kind_that_is_not_known_is_refused_whatever_its_length(send):
    receipt = send(corpus.read(corpus.XML), kind="k" * 200)
    assert (receipt.state, receipt.refusal_code) == (ReceiptState.REFUSED, "unknown_kind")


def test_a_large_file_of_a_kind_that_is_not_known_is_refused_at_once(send, settings):
    settings.EVIDENCE_INLINE_BYTES = 10
    assert send(corpus.read(corpus.XML), kind="oracle").refusal_code == "unknown_kind"


def test_the_same_file_twice_is_kept_once_and_delivered_twice(send, evidence_dir):
    first, second = send(corpus.read(corpus.XML)), send(corpus.read(corpus.XML))
    assert (first.repeated, second.repeated) == (False, True)
    assert first.evidence == second.evidence
    assert EvidenceReading.objects.count() == 1
    assert len(files_in(evidence_dir)) == 1


def test_where_what_follows_fails_nothing_is_half_written(send, evidence_dir):
    def stumble(receipt: Receipt) -> None:
        raise RuntimeError("killed between the receipt and its effects")

    with pytest.raises(RuntimeError):
        send(corpus.read(corpus.XML), stumble)
    assert not Receipt.objects.exists()
    assert not Evidence.objects.exists()
    assert not EvidenceReading.objects.exists()


def test_killed_between_file_and_row_leaves_an_orphan_and_no_row(send, evidence_dir, monkeypatch):
    def killed(*args, **kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr(Evidence.objects, "select_for_update", killed)
    with pytest.raises(KeyboardInterrupt):
        send(corpus.read(corpus.XML))
    assert not Evidence.objects.exists()
    assert len(files_in(evidence_dir)) == 1


def test_killed_before_the_file_is_in_place_leaves_nothing_that_counts(send, evidence_dir, monkeypatch):
    def killed(**kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr(store.gzip, "GzipFile", killed)
    with pytest.raises(KeyboardInterrupt):
        send(corpus.read(corpus.XML))
    assert files_in(evidence_dir) == []
    assert not Receipt.objects.exists()


def test_a_full_volume_is_said_and_leaves_nothing(send, evidence_dir, monkeypatch):
    def full(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(store.os, "fsync", full)
    with pytest.raises(Busy) as refused:
        send(corpus.read(corpus.XML))
    assert refused.value.code == "disk_full"
    assert files_in(evidence_dir) == []
    assert not Receipt.objects.exists()


@pytest.mark.parametrize("kept_before", [False, True])
def test_a_place_that_no_file_can_take_is_said(kept_before, send):
    data = corpus.read(corpus.XML)
    place = store.path_of(hashlib.sha256(data).hexdigest())
    if kept_before:
        send(data)
        place.unlink()
    place.mkdir(parents=True)
    with pytest.raises(Busy) as refused:
        send(data)
    assert (refused.value.code, Receipt.objects.count()) == ("volume", int(kept_before))
    assert list(store.incoming().iterdir()) == []


def test_what_its_owner_refuses_is_refused_with_the_owners_reason(send, evidence_dir):
    def refuse(receipt: Receipt) -> None:
        raise Conflict("the run is sealed", code="sealed")

    receipt = send(corpus.read(corpus.XML), refuse)
    assert (receipt.state, receipt.refusal_code, receipt.evidence) == (ReceiptState.REFUSED, "sealed", None)
    assert Receipt.objects.count() == 1


def test_a_viewer_may_not_hand_in_and_a_stranger_does_not_see_the_cluster(send, vic, eve, actor_for):
    with pytest.raises(NotAllowed):
        send(b"x", actor=actor_for(vic))
    with pytest.raises(Missing):
        send(b"x", actor=actor_for(eve))
    assert not Receipt.objects.exists()


def test_a_token_needs_its_scope(send, bo, actor_for):
    with pytest.raises(NotAllowed) as refused:
        send(b"x", actor=actor_for(bo, token_scopes=frozenset({TokenScope.READ})))
    assert refused.value.code == "token_scope"


def test_known_bytes_are_delivered_by_their_digest(send, cluster, bo, actor_for):
    first = send(corpus.read(corpus.COLLECT_ENV), node_name="sn-n01")
    at = datetime(2026, 5, 1, 8, tzinfo=UTC)
    again = services.receive_known(
        actor=actor_for(bo),
        scope_id=cluster.scope_id,
        sha256=first.sha256,
        node_name="sn-n02",
        collected_at=at,
        hand_over=nobody,
    )
    assert (again.reading, again.evidence) == (first.reading, first.evidence)
    assert (again.node_name, again.collected_at, again.repeated) == ("sn-n02", at, True)


def test_bytes_that_are_damaged_or_gone_are_not_known_by_their_digest(send, cluster, bo, actor_for):
    first = send(corpus.read(corpus.COLLECT_ENV))
    for spoil in (lambda: store.path_of(first.sha256).write_bytes(b"x"), lambda: store.discard(first.sha256)):
        spoil()
        with pytest.raises(Missing) as refused:
            services.receive_known(
                actor=actor_for(bo), scope_id=cluster.scope_id, sha256=first.sha256, hand_over=nobody
            )
        assert refused.value.code == "unknown_digest"
        send(corpus.read(corpus.COLLECT_ENV))
        assert store.is_whole(first.sha256)


def test_while_a_decision_is_written_kept_bytes_are_not_read_again(send, monkeypatch):
    send(corpus.read(corpus.XML))
    outside, depths, whole = len(connection.savepoint_ids), [], store.is_whole

    def is_whole(sha256):
        depths.append(len(connection.savepoint_ids))
        return whole(sha256)

    monkeypatch.setattr(store, "is_whole", is_whole)
    send(corpus.read(corpus.XML))
    assert depths == [outside]


def test_bytes_of_another_cluster_are_not_known_here(send, cluster, other_cluster, ada, actor_for):
    first = send(corpus.read(corpus.COLLECT_ENV))
    with pytest.raises(Missing) as refused:
        services.receive_known(
            actor=actor_for(ada), scope_id=other_cluster.scope_id, sha256=first.sha256, hand_over=nobody
        )
    assert refused.value.code == "unknown_digest"
    known = queries.known_digests(actor_for(ada), [first.sha256], scope_id=cluster.scope_id)
    assert known == {first.sha256}
    assert queries.known_digests(actor_for(ada), [first.sha256], scope_id=other_cluster.scope_id) == set()


def test_bytes_that_a_decision_rests_on_may_be_refused_of_another_delivery(send):
    first, second = send(corpus.read(corpus.XML)), send(corpus.read(corpus.XML))
    services.pin([first.sha256])
    services.refuse(receipt_id=second.pk, error=Invalid("no kernel log", code="no_kernel_log"))
    second.refresh_from_db()
    assert (second.state, second.evidence, Evidence.objects.get().pinned) == ("refused", None, True)


def test_refusing_kept_bytes_leaves_those_that_another_delivery_rests_on(send):
    first, second = send(corpus.read(corpus.XML)), send(corpus.read(corpus.XML))
    services.refuse(receipt_id=second.pk, error=Invalid("not applicable", code="odd"))
    assert Evidence.objects.count() == 1
    services.refuse(receipt_id=first.pk, error=Invalid("not applicable", code="odd"))
    assert not Evidence.objects.exists()
    assert set(Receipt.objects.values_list("state", "refusal_code")) == {("refused", "odd")}


@pytest.mark.parametrize("raw", ["yesterday", "2026-05-01T08:00:00", "0001-01-01T00:00:00+14:00", "1" * 300])
def test_a_time_without_offset_or_sense_is_refused(raw):
    with pytest.raises(Invalid) as refused:
        services.parse_collected_at(raw)
    assert refused.value.code == "collected_at"


def test_a_time_with_offset_is_taken():
    assert services.parse_collected_at("2026-05-01T08:30:00Z") == datetime(2026, 5, 1, 8, 30, tzinfo=UTC)
    assert services.parse_collected_at("") is None
