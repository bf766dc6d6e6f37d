"""Uploads that break off: a quiet answer, nothing taken in, and nothing left on the evidence volume."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest

from apps.evidence.models import Receipt
from apps.fleet.models import BulkImport
from tests import factories

pytestmark = pytest.mark.django_db
PAGE, EVIDENCE, IMPORTS = (
    "/clusters/hall-1/hand-in/",
    "/api/v1/clusters/hall-1/evidence/",
    "/api/v1/imports/",
)
FORM = "multipart/form-data; boundary=cut"
HEAD = '--cut\r\nContent-Disposition: form-data; name="file"; filename="nodes.csv"\r\n'


class Reset(io.BytesIO):
    """What the server reads of a connection that the client resets after these bytes."""

    def read(self, size: int | None = -1) -> bytes:
        data = super().read(size)
        if not data:
            raise ConnectionResetError
        return data


@pytest.fixture
def send(client_of, api, bo, cluster, evidence_dir: Path):
    """Send a form that is never whole; its answer."""

    def send(address: str, data: bytes) -> Any:
        caller = client_of(bo)
        if address != PAGE:
            caller = api(factories.bearer(bo, "evidence:write", "fleet:write"))
        broken = {"CONTENT_TYPE": FORM, "CONTENT_LENGTH": str(len(data) + 9000), "wsgi.input": Reset(data)}
        answer = caller.generic("POST", address, content_type=FORM, **broken)
        assert not Receipt.objects.exists()
        assert not BulkImport.objects.exists()
        return answer

    return send


@pytest.mark.parametrize("address", [PAGE, EVIDENCE, IMPORTS])
def test_a_connection_that_is_reset_is_told_as_an_upload_that_ended_early(
    address, send, evidence_dir, caplog
):
    answer = send(address, f"{HEAD}\r\n{'n1,' * 200_000}".encode())
    assert (answer.status_code, "ended early" in answer.content.decode()) == (400, True)
    assert [path for path in evidence_dir.rglob("*") if path.is_file()] == []
    assert not any(record.exc_info for record in caplog.records)


@pytest.mark.parametrize("address", [PAGE, EVIDENCE, IMPORTS])
def test_a_part_that_cannot_be_decoded_leaves_nothing_behind(address, send, evidence_dir):
    answer = send(address, f"{HEAD}Content-Transfer-Encoding: base64\r\n\r\n{'=n1,' * 30_000}".encode())
    assert answer.status_code == 400
    assert [path for path in evidence_dir.rglob("*") if path.is_file()] == []
