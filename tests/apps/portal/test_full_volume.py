"""Files for a volume that takes none: every address says so alike, and nothing of them stays."""

from __future__ import annotations

import os
import tempfile
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from apps.evidence.models import Receipt
from apps.fleet.models import BulkImport
from tests import factories

pytestmark = pytest.mark.django_db
EVIDENCE, IMPORTS = "/api/v1/clusters/hall-1/evidence/", "/api/v1/imports/"
PAGES = {
    "/clusters/hall-1/hand-in/": "files",
    "/clusters/hall-1/imports/": "file",
    "/clusters/hall-1/environment/draft/file/": "file",
    "/plans/new/": "config_file",
    "/health/diagnose/": "file",
}
FIELDS = {"cluster": "hall-1", "mode": "upsert", "table": "nodes"}
BYTES = [9, 200_000]  # a few stay in a buffer until the file ends


@pytest.fixture
def full(monkeypatch: Any, evidence_dir: Path) -> None:
    """Files are made, and what is written to them finds no room."""

    def without_room(descriptor: int) -> None:
        with Path("/dev/full").open("wb", buffering=0) as device:
            os.dup2(device.fileno(), descriptor)

    def made(**options: Any) -> Any:
        file = named(**options)
        without_room(file.fileno())
        return file

    def made_by_the_store(**options: Any) -> tuple[int, str]:
        descriptor, name = temporary(**options)
        without_room(descriptor)
        return descriptor, name

    named, temporary = tempfile.NamedTemporaryFile, tempfile.mkstemp
    monkeypatch.setattr(tempfile, "NamedTemporaryFile", made)
    monkeypatch.setattr(tempfile, "mkstemp", made_by_the_store)


@pytest.fixture
def read_only(monkeypatch: Any, evidence_dir: Path) -> None:
    """No file can be made."""

    def refused(**options: Any) -> Any:
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr(tempfile, "NamedTemporaryFile", refused)
    monkeypatch.setattr(tempfile, "mkstemp", refused)


@pytest.fixture(params=["full", "read_only"])
def sentence(request: pytest.FixtureRequest) -> str:
    request.getfixturevalue(request.param)
    return {"full": "has no room", "read_only": "does not take the file"}[request.param]


def file(size_bytes: int) -> SimpleUploadedFile:
    return SimpleUploadedFile("nodes.csv", b"name\nn1\n" + b"#" * (size_bytes - 8))


@pytest.mark.parametrize(("address", "size_bytes"), list(product(PAGES, BYTES)))
def test_every_page_with_a_file_says_it(address, size_bytes, sentence, cluster, bo, client_of, evidence_dir):
    browser = client_of(bo)
    browser.handler.enforce_csrf_checks = True  # which looks at the form first
    answer = browser.post(address, FIELDS | {PAGES[address]: file(size_bytes)})
    assert (answer.status_code, sentence in answer.content.decode()) == (503, True)
    assert left_over(evidence_dir) == []


@pytest.mark.parametrize(("address", "size_bytes"), list(product([EVIDENCE, IMPORTS], BYTES)))
def test_a_form_over_rest_is_answered_so(address, size_bytes, sentence, cluster, bo, api, evidence_dir):
    caller = api(factories.bearer(bo, "evidence:write", "fleet:write"))
    refused(caller.post(address, FIELDS | {"file": file(size_bytes)}, format="multipart"), sentence)
    assert left_over(evidence_dir) == []


def test_a_body_over_rest_is_answered_so(sentence, cluster, bo, api, evidence_dir):
    caller = api(factories.bearer(bo, "evidence:write"))
    refused(caller.generic("POST", EVIDENCE, b"x" * 9000, content_type="text/plain"), sentence)
    assert left_over(evidence_dir) == []


def refused(answer: Any, sentence: str) -> None:
    assert (answer.status_code, answer["Content-Type"]) == (503, "application/problem+json")
    assert sentence in answer.json()["detail"]


def left_over(folder: Path) -> list[Any]:
    files = [path for path in folder.rglob("*") if path.is_file()]
    return [*files, *Receipt.objects.all(), *BulkImport.objects.all()]
