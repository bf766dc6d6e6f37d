"""Pages of evidence: what they say of each delivery, and where their links lead."""

from __future__ import annotations

import gzip
import inspect
import re

import pytest

from apps.core import clock
from apps.evidence import excerpts, store
from apps.evidence.engine import registry
from apps.evidence.models import Evidence, Receipt, ReceiptState
from apps.evidence.words import EFFECTS, KINDS
from apps.portal.services import intake, owners
from tests import factories
from tests.callers import actor_for
from tests.support import corpus

pytestmark = pytest.mark.django_db


@pytest.fixture
def node(cluster):
    return factories.node(cluster, "sn-n01", domain=factories.domain(cluster, "sn"), accelerators=8)


@pytest.fixture
def send(cluster, bo):
    def sent(data: bytes = corpus.read(corpus.XML), node_name: str = "", **fields) -> Receipt:
        return intake.take_in(
            actor=actor_for(bo), cluster=cluster, chunks=[data], node_name=node_name, **fields
        )

    return sent


def page(client, address: str) -> str:
    answer = client.get(address)
    assert answer.status_code == 200
    return answer.content.decode()


def test_the_list_shows_each_delivery_and_why_one_was_refused(send, node, client_of, vic):
    send(node_name="sn-n01", file_name="smi.xml")
    send(b"", file_name="nothing.txt")
    send(node_name="sn-n77", file_name="later.xml")
    text = page(client_of(vic), "/evidence/")
    assert "the file is empty" in text
    assert "There is no node sn-n77 in this cluster." in text
    assert "nvidia-smi -q -x" in text
    assert f'<a href="/clusters/hall-1/nodes/{node.pk}/">sn-n01</a>' in text


def test_the_list_counts_the_warnings_of_a_reading_and_leads_to_them(send, node, client_of, vic):
    receipt = send(corpus.read(corpus.XML)[:20_000], node_name="sn-n01", file_name="cut.xml")
    text = page(client_of(vic), "/evidence/")
    assert f'href="/evidence/receipts/{receipt.pk}/#warnings"' in text
    assert f"{len(receipt.reading.warnings)} warnings" in text
    assert 'id="warnings"' in page(client_of(vic), f"/evidence/receipts/{receipt.pk}/")


def test_beside_a_demonstration_no_page_calls_what_is_real_made_up(send, client_of, vic, ada):
    demo = factories.cluster("shown", is_demo=True)
    receipt = send(corpus.read(corpus.XML), node_name="sn-n01")
    said = {
        path: [
            words
            for words in ("Nothing on this page comes", "Part of what is shown")
            if words in page(client_of(ada), path)
        ]
        for path in (f"/evidence/receipts/{receipt.pk}/", "/evidence/", f"/evidence/?cluster={demo.slug}")
    }
    assert list(said.values()) == [[], ["Part of what is shown"], ["Nothing on this page comes"]]


def test_a_list_that_is_filtered_empty_says_so(send, client_of, vic):
    send()
    assert "Clear the filters" in page(client_of(vic), "/evidence/?node=no-such")
    assert client_of(vic).get("/evidence/?nodes=x").status_code == 400


def test_of_a_cluster_the_list_has_its_tabs_and_the_way_to_hand_in(cluster, client_of, bo, vic):
    text = page(client_of(bo), "/evidence/?cluster=hall-1")
    assert 'href="/clusters/hall-1/topology/"' in text
    assert '<a href="/evidence/?cluster=hall-1" aria-current="page">' in text
    assert 'href="/clusters/hall-1/hand-in/"' in text
    assert 'href="/clusters/hall-1/hand-in/"' not in page(client_of(vic), "/evidence/?cluster=hall-1")


def test_the_list_needs_as_many_queries_for_many_rows(send, node, client_of, vic, assert_constant_queries):
    client = client_of(vic)
    send(node_name="sn-n01")

    def grow() -> None:
        for number in range(5):
            send(corpus.read(corpus.COLLECT_ENV), node_name=f"other-{number}")

    assert_constant_queries(lambda: client.get("/evidence/"), grow)


def test_a_delivery_shows_facts_warnings_with_their_lines_and_the_raw_text(send, node, client_of, vic):
    receipt = send(corpus.read(corpus.XML)[:20_000], node_name="sn-n01", file_name="smi.xml")
    text = page(client_of(vic), f"/evidence/receipts/{receipt.pk}/")
    assert re.search(r"<dt>driver_version</dt><dd>570\.86\.15", text)
    assert 'href="#L457"' in text
    assert re.search(r'<li id="L457" class="is-warned"><a href="#L457">457</a>', text)
    assert "&lt;nvidia_smi_log&gt;" in text
    assert receipt.sha256 in text
    assert "new versions recorded" in text


def test_raw_text_cannot_become_markup(send, client_of, vic):
    data = corpus.read(corpus.COLLECT_ENV) + b"\n<script>alert(1)</script>\n"
    receipt = send(data, file_name="<script>alert(2)</script>", node_name='"><script>alert(3)</script>')
    text = page(client_of(vic), f"/evidence/receipts/{receipt.pk}/") + page(client_of(vic), "/evidence/")
    assert "<script>alert" not in text
    answer = client_of(vic).get(f"/evidence/receipts/{receipt.pk}/raw/")
    assert answer["Content-Disposition"] == 'attachment; filename="scriptalert2script"'
    assert b"".join(answer.streaming_content) == data


def test_of_a_long_file_the_first_lines_are_shown_and_it_is_said(send, client_of, vic):
    receipt = send(corpus.read(corpus.KERNEL_LOG) + b"[1.0] usb 1-1: device\n" * 3000)
    text = page(client_of(vic), f"/evidence/receipts/{receipt.pk}/")
    assert 'id="L2000"' in text
    assert 'id="L2001"' not in text
    assert "The first 2000 lines" in text


def test_a_refused_delivery_says_why_and_has_no_raw_file(send, client_of, vic):
    receipt = send(b"apples and pears\n")
    text = page(client_of(vic), f"/evidence/receipts/{receipt.pk}/")
    assert "this is not the output of a tool that the portal knows" in text
    assert "/raw/" not in text
    assert client_of(vic).get(f"/evidence/receipts/{receipt.pk}/raw/").status_code == 404


def test_an_unmatched_delivery_asks_those_who_may_operate_for_its_node(send, client_of, bo, vic, node):
    receipt = send()
    form = f'action="/evidence/receipts/{receipt.pk}/node/"'
    assert form in page(client_of(bo), f"/evidence/receipts/{receipt.pk}/")
    assert form not in page(client_of(vic), f"/evidence/receipts/{receipt.pk}/")
    client_of(bo).post(f"/evidence/receipts/{receipt.pk}/node/", {"node": "sn-n01"})
    receipt.refresh_from_db()
    assert receipt.state == ReceiptState.APPLIED


def test_a_large_file_shows_how_far_its_job_is(send, node, settings, client_of, bo, run_jobs):
    settings.EVIDENCE_INLINE_BYTES = 1000
    receipt = send(node_name="sn-n01")
    client = client_of(bo)
    text = page(client, f"/evidence/receipts/{receipt.pk}/")
    assert f'data-poll="/jobs/{receipt.job_id}/fragment/"' in text
    run_jobs("portal.read_receipt")
    assert "570.86.15" in page(client, f"/evidence/receipts/{receipt.pk}/")


def test_bytes_that_were_removed_by_age_leave_the_reading(send, node, client_of, vic):
    receipt = send(node_name="sn-n01")
    store.discard(receipt.sha256)
    Evidence.objects.update(thinned_at=clock.now())
    text = page(client_of(vic), f"/evidence/receipts/{receipt.pk}/")
    assert "570.86.15" in text
    assert "removed by age" in text
    assert "Raw text" not in text


def test_bytes_that_are_lost_do_not_break_the_page(send, client_of, vic):
    receipt = send()
    store.discard(receipt.sha256)
    text = page(client_of(vic), f"/evidence/receipts/{receipt.pk}/")
    assert "570.86.15" in text
    assert "gone from the volume" in text
    assert excerpts.excerpt(receipt.evidence, []) is None


def test_bytes_that_are_not_those_that_arrived_are_said_and_not_shown(send, client_of, vic):
    receipt = send()
    address = f"/evidence/receipts/{receipt.pk}/"
    assert "not those that arrived" not in page(client_of(vic), address)

    store.path_of(receipt.sha256).write_bytes(gzip.compress(b"forged 570.99.99"))
    text = page(client_of(vic), address)

    assert "not those that arrived" in text
    assert "570.86.15" in text
    assert "570.99.99" not in text
    assert f"{address}raw/" not in text


def test_every_kind_and_effect_has_a_name():
    assert set(KINDS) == set(registry.all_parsers())
    written = set(re.findall(r'"(?:what": |what = )"?(\w+)"', inspect.getsource(owners)))
    assert written <= set(EFFECTS)
    assert len(written) >= 4
