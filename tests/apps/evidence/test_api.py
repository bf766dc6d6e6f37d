"""Deliveries over REST: lists, filters, one with its reading, raw bytes, and who sees what."""

from __future__ import annotations

import gzip

import pytest

from apps.core import clock
from apps.evidence import services, store
from apps.evidence.models import Evidence, Receipt
from tests import factories
from tests.callers import actor_for
from tests.support import corpus

pytestmark = pytest.mark.django_db
URL = "/api/v1/evidence-receipts/"


@pytest.fixture
def send(cluster, bo):
    def sent(data: bytes = corpus.read(corpus.XML), **fields) -> Receipt:
        return services.receive(
            actor=actor_for(bo),
            scope_id=cluster.scope_id,
            chunks=[data],
            hand_over=lambda receipt: None,
            **fields,
        )

    return sent


def test_one_delivery_shows_what_was_read_and_warned_of(send, api, bo):
    receipt = send(corpus.read(corpus.XML)[:20_000], node_name="sn-n01")
    body = api(factories.bearer(bo)).get(f"{URL}{receipt.pk}/").json()
    assert body["cluster"] == "hall-1"
    assert body["reading"]["facts"]["driver_version"] == "570.86.15"
    assert {"code": "cut_off", "line": 457} in [
        {"code": warning["code"], "line": warning["line"]} for warning in body["reading"]["warnings"]
    ]


def test_a_refused_one_says_why(send, api, bo):
    receipt = send(b"")
    body = api(factories.bearer(bo)).get(f"{URL}{receipt.pk}/").json()
    assert (body["state"], body["reading"]) == ("refused", None)
    assert body["refusal"] == {"code": "empty", "detail": "the file is empty"}


@pytest.mark.parametrize(
    ("query", "count"),
    [
        ("", 3),
        ("?state=refused", 1),
        ("?kind=nvidia_smi_xml", 1),
        ("?node=SN-N01", 1),
        ("?cluster=hall-1", 3),
        ("?cluster=hall-2", 0),
        ("?cluster=hall-1&state=stored&kind=collect_env", 1),
    ],
)
def test_the_list_is_filtered(send, api, bo, query, count):
    send(node_name="sn-n01")
    send(corpus.read(corpus.COLLECT_ENV))
    send(b"")
    assert len(api(factories.bearer(bo)).get(URL + query).json()["results"]) == count


@pytest.mark.parametrize("query", ["?nodes=sn-n01", "?state=lost", "?kind=oracle", "?limit=0"])
def test_odd_filters_are_refused(api, bo, query):
    assert api(factories.bearer(bo)).get(URL + query).status_code == 400


def test_the_list_needs_as_many_queries_for_many_rows(send, api, bo, assert_constant_queries):
    client = api(bo)
    send()

    def grow() -> None:
        for _ in range(5):
            send(corpus.read(corpus.COLLECT_ENV))

    assert_constant_queries(lambda: client.get(URL), grow)


def test_raw_bytes_come_back_as_they_arrived_and_never_as_a_page(send, api, bo):
    data = b"\xef\xbb\xbf" + corpus.read(corpus.COLLECT_ENV)
    receipt = send(data)
    answer = api(factories.bearer(bo)).get(f"/api/v1/evidence/{receipt.sha256}/raw/")
    assert b"".join(answer.streaming_content) == data
    assert answer["Content-Length"] == str(len(data))
    assert answer["Content-Type"] == "application/octet-stream"
    assert answer["Content-Disposition"].startswith("attachment")


def test_raw_bytes_that_are_gone_are_404_with_the_reason(send, api, bo):
    receipt = send()
    client = api(factories.bearer(bo))
    store.discard(receipt.sha256)
    assert client.get(f"/api/v1/evidence/{receipt.sha256}/raw/").json()["code"] == "bytes_gone"
    Evidence.objects.update(thinned_at=clock.now())
    answer = client.get(f"/api/v1/evidence/{receipt.sha256}/raw/")
    assert (answer.status_code, answer.json()["code"]) == (404, "thinned")


DAMAGED = {
    "empty": b"",
    "overwritten": b"no gzip",
    "exchanged": gzip.compress(b"other words"),
    "cut": gzip.compress(corpus.read(corpus.XML))[:-9],
}


@pytest.mark.parametrize("damaged", DAMAGED.values(), ids=DAMAGED)
def test_raw_bytes_that_are_no_longer_those_that_arrived_are_not_given_out(send, api, bo, client_of, damaged):
    receipt = send()
    store.path_of(receipt.sha256).write_bytes(damaged)
    answer = api(factories.bearer(bo)).get(f"/api/v1/evidence/{receipt.sha256}/raw/")
    assert (answer.status_code, answer.json()["code"]) == (404, "bytes_damaged")
    assert client_of(bo).get(f"/evidence/receipts/{receipt.pk}/").status_code == 200
    send()
    assert api(factories.bearer(bo)).get(f"/api/v1/evidence/{receipt.sha256}/raw/").status_code == 200


def test_another_cluster_does_not_exist(send, api, eve, other_cluster):
    receipt = send()
    client = api(factories.bearer(eve))
    assert client.get(URL).json()["results"] == []
    assert client.get(f"{URL}{receipt.pk}/").status_code == 404
    assert client.get(f"/api/v1/evidence/{receipt.sha256}/raw/").status_code == 404


def test_bytes_of_two_clusters_are_seen_in_each_by_its_own_deliveries(send, api, eve, other_cluster):
    receipt = send()
    services.receive(
        actor=actor_for(eve),
        scope_id=other_cluster.scope_id,
        chunks=[corpus.read(corpus.XML)],
        hand_over=lambda receipt: None,
    )
    client = api(factories.bearer(eve))
    assert client.get(f"/api/v1/evidence/{receipt.sha256}/raw/").status_code == 200
    assert [row["cluster"] for row in client.get(URL).json()["results"]] == ["hall-2"]
