"""The page on which people hand output in: files, pasted text, what came of each."""

from __future__ import annotations

import re

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.utils.html import strip_tags

from apps.core import clock
from apps.evidence.models import Receipt, ReceiptState
from apps.fleet.models import Domain, Node
from tests import factories
from tests.support import corpus

pytestmark = pytest.mark.django_db
URL = "/clusters/hall-1/hand-in/"


@pytest.fixture
def node(cluster):
    return factories.node(cluster, "sn-n01", domain=factories.domain(cluster, "sn"), accelerators=8)


@pytest.fixture
def browser(client_of, bo, node):
    return client_of(bo)


def file(name: str, data: bytes) -> SimpleUploadedFile:
    return SimpleUploadedFile(name, data)


def sent(browser, **fields) -> str:
    """Send the form; the page that it leads to."""
    answer = browser.post(URL, fields)
    assert answer.status_code == 302, answer.content.decode()[:3000]
    return browser.get(answer["Location"]).content.decode()


def test_the_form_works_without_a_script_and_names_the_places(browser):
    text = browser.get(URL).content.decode()
    assert re.search(r'<form[^>]*method="post"[^>]*enctype="multipart/form-data"', text)
    assert re.search(r'<input type="file" name="files"[^>]* multiple', text)
    for place in ("sn", "sn-n01"):
        assert f'<option value="{place}">' in text


def test_the_line_for_a_domain_names_a_domain_and_never_a_node(browser, node):
    text = browser.get(URL).content.decode()
    assert "--node sn all_reduce.log" in strip_tags(text)
    assert 'href="/tokens/"' in text.partition("The token needs the scope")[2]
    Node.objects.filter(pk=node.pk).update(domain=None)
    Domain.objects.update(retired_at=clock.now())
    assert "--node DOMAIN all_reduce.log" in strip_tags(browser.get(URL).content.decode())


def test_several_files_at_once_show_what_became_of_each(browser):
    page = sent(
        browser,
        node="sn-n01",
        files=[
            file("smi.xml", corpus.read(corpus.XML)),
            file("env.txt", corpus.read(corpus.COLLECT_ENV)),
            file("empty.txt", b""),
            file("notes.txt", b"apples and pears\n"),
        ],
    )
    assert Receipt.objects.filter(state=ReceiptState.APPLIED, node_name="sn-n01").count() == 2
    assert "2 files were refused" in page
    for name in ("smi.xml", "env.txt", "empty.txt", "notes.txt"):
        assert name in page
    assert "the file is empty" in page
    assert "new versions recorded" in page


def test_pasted_text_is_taken_as_it_is(browser):
    page = sent(browser, node="sn-n01", text=corpus.read(corpus.COLLECT_ENV).decode())
    receipt = Receipt.objects.get()
    assert (receipt.state, receipt.kind, receipt.file_name) == ("applied", "collect_env", "pasted.txt")
    assert "pasted.txt" in page


def test_a_typed_node_that_does_not_exist_waits(browser):
    page = sent(browser, node="sn-n99", files=[file("smi.xml", corpus.read(corpus.XML))])
    assert "There is no node sn-n99 in this cluster." in page


def test_nothing_at_all_is_said_at_the_field(browser):
    answer = browser.post(URL, {"node": "sn-n01", "text": "  \n"})
    assert answer.status_code == 200
    assert "Choose a file, or paste the output." in answer.content.decode()
    assert not Receipt.objects.exists()


def test_a_large_file_shows_its_progress(browser, settings, run_jobs):
    settings.EVIDENCE_INLINE_BYTES = 1000
    page = sent(browser, node="sn-n01", files=[file("smi.xml", corpus.read(corpus.XML))])
    receipt = Receipt.objects.get()
    address = f"/evidence/receipts/{receipt.pk}/reading/"
    assert f'data-poll="{address}"' in page
    assert browser.get(address).status_code == 200
    run_jobs("portal.read_receipt")
    over = browser.get(address)
    assert over.status_code == 286
    assert "applied" in over.content.decode()


def test_a_file_above_the_limit_is_refused_and_the_others_are_taken(browser, settings, evidence_dir):
    settings.EVIDENCE_LIMIT_BYTES = 2**20
    files = [file("big.log", b"z" * (2**20 + 1)), file("smi.xml", corpus.read(corpus.XML))]
    page = sent(browser, node="sn-n01", files=files)
    assert "the file is above 1 MiB" in page
    states = dict(Receipt.objects.values_list("file_name", "state"))
    assert states == {"big.log": "refused", "smi.xml": "applied"}
    assert len([path for path in evidence_dir.rglob("*") if path.is_file()]) == 1


def test_what_was_sent_is_shown_to_those_of_the_cluster_only(browser, client_of, eve, other_cluster):
    sent(browser, node="sn-n01", files=[file("smi.xml", corpus.read(corpus.XML))])
    receipt = Receipt.objects.get()
    other = client_of(eve).get(f"/clusters/hall-2/hand-in/?sent={receipt.pk}").content.decode()
    assert "What became of it" not in other
    assert browser.get(f"{URL}?sent=x.1e9.-4.{'9' * 40}").status_code == 200


def test_a_stranger_writes_no_byte_to_the_disk(client, cluster, evidence_dir):
    answer = client.post("/sign-in/", {"email": "a", "file": file("a.bin", b"x" * 5000)})
    assert answer.status_code in (200, 400)
    assert not evidence_dir.exists() or list(evidence_dir.rglob("*.upload")) == []


def test_the_client_and_its_commands_are_shown(browser):
    text = re.sub("</?span[^>]*>", "", browser.get(URL).content.decode())
    digest = re.search(r"([0-9a-f]{64})  snp\.py", text).group(1)
    assert browser.get("/client/snp.py")["ETag"] == f'"{digest}"'
    assert "--cluster hall-1" in text


def test_a_file_about_the_fleet_leads_to_its_comparison(browser):
    tree = b"SwitchName=leaf-1 Nodes=sn-n01\n"
    page = sent(browser, files=file("topology.conf", tree))
    receipt = Receipt.objects.get()
    address = f"/clusters/hall-1/topology-files/{receipt.pk}/"
    assert address in page
    assert address in browser.get(f"/evidence/receipts/{receipt.pk}/").content.decode()
    assert address in browser.get(f"/api/v1/evidence-receipts/{receipt.pk}/").json()["effects"][0]["html_url"]
    assert browser.get(address).status_code == 200
