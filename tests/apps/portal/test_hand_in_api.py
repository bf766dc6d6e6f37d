"""Handing files in over REST: bodies, forms, digests, and every way in which it is refused."""

from __future__ import annotations

import hashlib
import io
from datetime import timedelta

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from gunicorn.http.errors import ChunkMissingTerminator, InvalidChunkSize, NoMoreData

from apps.accounts.models import Token
from apps.core import clock
from apps.evidence.models import Evidence, Receipt, ReceiptState
from apps.health.engine.hysteresis import WINDOW
from tests import factories
from tests.support import corpus

pytestmark = pytest.mark.django_db
URL = "/api/v1/clusters/hall-1/evidence/"
RAW = "application/octet-stream"


@pytest.fixture
def node(cluster):
    return factories.node(cluster, "sn-n01", domain=factories.domain(cluster, "sn"), accelerators=8)


@pytest.fixture
def push(api, bo, node):
    """Send a body with a token of Bo that may write evidence."""
    client = api(factories.bearer(bo, "evidence:write", "read"))

    def pushed(
        data: bytes = corpus.read(corpus.XML), query: str = "?node=sn-n01", content_type: str = RAW, **more
    ):
        return client.generic("POST", URL + query, data, content_type=content_type, **more)

    return pushed


def test_a_body_becomes_a_receipt(push):
    answer = push(query="?node=sn-n01&file_name=smi.xml&collected_at=2026-05-01T08:00:00Z")
    body = answer.json()
    assert answer.status_code == 201
    assert answer["Location"] == body["url"] == f"/api/v1/evidence-receipts/{body['id']}/"
    assert (body["state"], body["kind"], body["node"]) == ("applied", "nvidia_smi_xml", "sn-n01")
    assert (body["file_name"], body["collected_at"]) == ("smi.xml", "2026-05-01T08:00:00Z")
    assert body["sha256"] == hashlib.sha256(corpus.read(corpus.XML)).hexdigest()
    assert body["html_url"] == f"http://testserver/evidence/receipts/{body['id']}/"
    assert (body["refusal"], body["job"], body["repeated"]) == (None, None, False)


def test_a_report_that_is_older_than_what_is_on_record_says_so(push, client_of, bo):
    push(query="?node=sn-n01&collected_at=2026-05-01T08:00:00Z")
    late = corpus.read(corpus.XML).replace(b"570.86.15", b"535.161.08")
    body = push(late, query="?node=sn-n01&collected_at=2026-04-01T08:00:00Z").json()
    assert (body["state"], body["older_than"]) == ("applied", "2026-05-01T08:00:00Z")
    assert push(late, query="?node=sn-n01&collected_at=2026-05-02T08:00:00Z").json()["older_than"] is None
    page = client_of(bo).get(body["html_url"]).content.decode()
    assert "Older than what is on record: it changes nothing" in page
    pages = page + client_of(bo).get("/evidence/").content.decode()
    assert pages.count('on record is that of: <time class="when" datetime="2026-05-01T08:00:00Z">') == 2
    assert ">2026-05-01T08:00" not in pages  # a time as a machine writes it


def test_text_is_taken_too(push):
    assert push(corpus.read(corpus.COLLECT_ENV), content_type="text/plain").status_code == 201


def test_a_form_with_one_file_is_taken(api, bo, node):
    client = api(factories.bearer(bo, "evidence:write"))
    file = SimpleUploadedFile("smi.xml", corpus.read(corpus.XML))
    answer = client.post(f"{URL}?node=sn-n01", {"file": file}, format="multipart")
    assert (answer.status_code, answer.json()["file_name"]) == (201, "smi.xml")


@pytest.mark.parametrize("count", [0, 2])
def test_a_form_with_none_or_two_files_is_refused(api, bo, node, count):
    files = {f"file{number}": SimpleUploadedFile("a.txt", b"x") for number in range(count)}
    client = api(factories.bearer(bo, "evidence:write"))
    answer = client.post(URL, files | {"note": "x"}, format="multipart")
    assert (answer.status_code, answer.json()["code"]) == (400, "files")
    assert not Receipt.objects.exists()


def test_a_session_hands_in_too_and_needs_the_csrf_token(client_of, bo, node):
    browser = client_of(bo)
    assert browser.generic("POST", f"{URL}?node=sn-n01", corpus.read(corpus.XML), RAW).status_code == 201
    browser.handler.enforce_csrf_checks = True
    answer = browser.generic("POST", f"{URL}?node=sn-n01", corpus.read(corpus.XML), RAW)
    assert (answer.status_code, answer.json()["code"]) == (403, "csrf")


def test_an_unknown_node_is_no_error(push):
    answer = push(query="?node=no-such-node")
    assert (answer.status_code, answer.json()["state"]) == (201, "unmatched")


def test_a_large_file_is_stored_and_its_job_is_named(push, settings, run_jobs, api, bo):
    settings.EVIDENCE_INLINE_BYTES = 1000
    body = push().json()
    assert body["state"] == "stored"
    client = api(factories.bearer(bo))
    assert client.get(body["job"]).json()["state"] == "queued"
    run_jobs("portal.read_receipt")
    assert client.get(body["job"]).json()["result"]["state"] == "applied"
    assert client.get(body["url"]).json()["reading"]["facts"]["driver_version"] == "570.86.15"


@pytest.mark.parametrize(
    ("data", "code"),
    [(b"", "empty"), (bytes(range(256)) * 50, "binary"), (b"apples and pears\n", "unrecognised")],
)
def test_what_is_refused_says_why_and_names_its_receipt(push, data, code):
    answer = push(data)
    problem = answer.json()
    assert (answer.status_code, problem["code"]) == (400, code)
    assert answer["Content-Type"] == "application/problem+json"
    receipt = Receipt.objects.get(pk=problem["receipt"])
    assert (receipt.state, receipt.refusal) == (ReceiptState.REFUSED, problem["detail"])
    assert not Evidence.objects.exists()


@pytest.mark.parametrize("as_form", [False, True])
def test_a_file_above_the_limit_is_413_with_its_receipt(push, api, bo, settings, evidence_dir, as_form):
    settings.EVIDENCE_LIMIT_BYTES = 2**20
    data = b"y" * (3 * 2**20)
    if as_form:
        client = api(factories.bearer(bo, "evidence:write"))
        answer = client.post(URL, {"file": SimpleUploadedFile("a.log", data)}, format="multipart")
    else:
        answer = push(data)
    assert (answer.status_code, answer.json()["code"]) == (413, "too_large")
    assert Receipt.objects.get(pk=answer.json()["receipt"]).refusal_code == "too_large"
    assert [path for path in evidence_dir.rglob("*") if path.is_file()] == []


def test_djangos_limit_of_bodies_does_not_bite(push, settings):
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 1000
    assert push().status_code == 201


@pytest.mark.parametrize(
    ("query", "code"),
    [
        ("?nod=sn-n01", "unknown_filter"),
        ("?collected_at=yesterday", "collected_at"),
        ("?kind=oracle", "unknown_kind"),
    ],
)
def test_odd_parameters_are_refused(push, query, code):
    answer = push(query=query)
    assert (answer.status_code, answer.json()["code"]) == (400, code)


@pytest.mark.parametrize(
    "content_type", ["application/json", "application/x-www-form-urlencoded", "image/png"]
)
def test_other_content_types_are_refused(push, content_type):
    assert push(content_type=content_type).status_code == 415


def test_a_compressed_body_is_refused(push):
    assert push(HTTP_CONTENT_ENCODING="gzip").status_code == 415


def test_a_chunked_body_is_read_where_the_server_ends_it(push):
    data = corpus.read(corpus.XML)
    chunked = {"HTTP_TRANSFER_ENCODING": "chunked", "CONTENT_LENGTH": ""}
    answer = push(b"", **chunked, **{"wsgi.input": io.BytesIO(data), "wsgi.input_terminated": True})
    assert (answer.status_code, answer.json().get("size_bytes")) == (201, len(data))
    answer = push(b"", **chunked, **{"wsgi.input": io.BytesIO(data)})
    assert (answer.status_code, answer.json()["code"]) == (400, "length_required")


@pytest.mark.parametrize("fault", [InvalidChunkSize(b"ZZ"), NoMoreData(), ChunkMissingTerminator(b"")])
def test_a_chunked_body_that_is_broken_is_not_taken_for_the_whole_file(push, fault):
    class Broken(io.BytesIO):
        def read(self, _size: int | None = None) -> bytes:
            raise fault

    broken = {"wsgi.input": Broken(b""), "wsgi.input_terminated": True}
    answer = push(b"", HTTP_TRANSFER_ENCODING="chunked", CONTENT_LENGTH="", **broken)
    assert (answer.status_code, answer.json()["code"]) == (400, "incomplete")


@pytest.mark.parametrize("content_type", [RAW, "multipart/form-data; boundary=cut"])
def test_an_upload_that_breaks_off_is_not_taken_for_the_whole_file(push, content_type):
    head = b'--cut\r\nContent-Disposition: form-data; name="file"; filename="a.xml"\r\n\r\n'
    data = (head if "cut" in content_type else b"") + corpus.read(corpus.XML)[:20_000]
    broken = {"CONTENT_LENGTH": str(len(data) + 5000), "wsgi.input": io.BytesIO(data)}
    answer = push(b"", content_type=content_type, **broken)
    assert (answer.status_code, answer.json()["code"]) == (400, "incomplete")
    assert not Receipt.objects.exists()


def test_an_expired_token_hands_in_nothing(api, bo, node):
    bearer = factories.bearer(bo, "evidence:write", expires_in=timedelta(seconds=-1))
    answer = api(bearer).generic("POST", URL, corpus.read(corpus.XML), content_type=RAW)
    assert (answer.status_code, answer["Content-Type"]) == (401, "application/problem+json")
    assert not Receipt.objects.exists()


@pytest.mark.parametrize("place", [URL, f"{URL}known/"])
def test_a_read_only_token_hands_in_nothing(api, bo, node, place):
    answer = api(factories.bearer(bo, "read")).generic("POST", place, b"x", content_type=RAW)
    assert (answer.status_code, answer.json()["code"]) == (403, "token_scope")
    assert not Receipt.objects.exists()


def test_a_token_of_other_clusters_does_not_see_this_one(api, ada, cluster, other_cluster):
    bearer = factories.bearer(ada, "evidence:write", clusters=[other_cluster.scope])
    answer = api(bearer).generic("POST", URL, corpus.read(corpus.XML), content_type=RAW)
    assert (answer.status_code, answer.json()["code"]) == (404, "missing")


def test_the_same_file_twice_is_two_receipts_of_the_same_bytes(push):
    first, second = push().json(), push().json()
    assert (first["repeated"], second["repeated"]) == (False, True)
    assert first["sha256"] == second["sha256"]
    assert Evidence.objects.count() == 1


def test_known_digests_need_not_be_sent_again(push, api, bo):
    digest = push().json()["sha256"]
    client = api(factories.bearer(bo, "evidence:write"))
    answer = client.post(f"{URL}known/", {"digests": [digest, "0" * 64]})
    assert answer.json() == {"known": [digest], "limit_bytes": 256 * 2**20}
    again = client.post(f"{URL}?node=sn-n01&sha256={digest}&collected_at=2026-05-02T08:00:00Z")
    assert (again.status_code, again.json()["state"], again.json()["repeated"]) == (201, "applied", True)
    unknown = client.post(f"{URL}?node=sn-n01&sha256={'0' * 64}")
    assert (unknown.status_code, unknown.json()["code"]) == (404, "unknown_digest")


def test_an_unchanged_report_is_counted_at_its_receipt(api, bo, node, count_queries):
    client = api(factories.bearer(bo, "evidence:write"))
    for _settling in range(WINDOW):
        whole = client.generic("POST", f"{URL}?node=sn-n01", corpus.read(corpus.XML), content_type=RAW)
    first = whole.json()
    alone = client.post(f"{URL}?node=sn-n01&sha256={first['sha256']}")
    reports = [
        {"sha256": first["sha256"], "node": "sn-n01"},
        {"sha256": "0" * 64, "node": "sn-n01", "file_name": "other"},
    ]
    together = client.post(f"{URL}unchanged/", {"reports": reports})
    assert (alone.status_code, alone.json()["id"], alone.json()["times"]) == (200, first["id"], 2)
    assert (together.status_code, together.json()) == (200, {"receipts": [first["id"], None]})
    assert Receipt.objects.get(pk=first["id"]).times == 3
    once_more = f"{URL}?node=sn-n01&sha256={first['sha256']}"
    assert count_queries(lambda: client.post(once_more)) <= 12  # a savepoint's two among them


def test_a_revoked_token_counts_nothing(push, api, bo):
    first = push().json()
    bearer = factories.bearer(bo, "evidence:write")
    Token.objects.update(revoked_at=clock.now())
    answer = api(bearer).post(f"{URL}?node=sn-n01&sha256={first['sha256']}")
    assert (answer.status_code, answer.json()["code"]) == (401, "token_revoked")
    assert Receipt.objects.get().times == 1


def test_an_unknown_parameter_is_answered_with_the_known_ones(push):
    answer = push(query="?nod=sn-n01")
    assert (answer.status_code, answer.json()["code"]) == (400, "unknown_filter")
    assert answer.json()["detail"].endswith("known: collected_at, file_name, kind, node, sha256")


def test_a_benchmark_without_its_collective_says_what_a_person_has_to_do(push):
    body = push(corpus.read(corpus.ALL_REDUCE), query="?node=sn").json()
    asked = next(one for one in body["effects"] if one["what"] == "benchmark_collective_needed")
    assert asked["html_url"] == f"http://testserver/benchmarks/{asked['run']}/"
    assert "state it" in asked["to_do"]


@pytest.mark.parametrize("digests", [[], ["ABC"], ["0" * 64] * 501, "text", None])
def test_odd_digests_are_refused(api, bo, cluster, digests):
    client = api(factories.bearer(bo, "evidence:write"))
    assert client.post(f"{URL}known/", {"digests": digests}).status_code == 400


def test_the_node_of_an_unmatched_delivery_can_be_said(push, api, bo):
    body = push(query="").json()
    assert body["state"] == "unmatched"
    client = api(factories.bearer(bo, "evidence:write"))
    answer = client.post(f"{body['url']}node/", {"node": "sn-n01"})
    assert (answer.status_code, answer.json()["state"]) == (200, "applied")
    assert client.post(f"{body['url']}node/", {"node": "sn-n01"}).status_code == 409


def test_the_client_is_handed_out_without_sign_in(client):
    answer = client.get("/client/snp.py")
    assert (answer.status_code, answer["Content-Type"]) == (200, "text/x-python; charset=utf-8")
    assert answer["ETag"].strip('"') == hashlib.sha256(answer.content).hexdigest()
    compile(answer.content, "snp.py", "exec")
