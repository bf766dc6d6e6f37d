"""Work of the intake that a worker does."""

from __future__ import annotations

from typing import Any

from apps.evidence import services as evidence
from apps.evidence.models import ReceiptState
from apps.jobs.registry import job
from apps.jobs.running import RunningJob
from apps.portal.services import intake


@job("portal.read_receipt")
def read_receipt(run: RunningJob) -> dict[str, Any]:
    """Read a large file that was kept, and apply it."""
    run.progress(0, 2, "reading")
    receipt = evidence.read_receipt(receipt_id=run.arguments["receipt_id"])
    run.progress(1, 2, "applying")
    with run.finishing() as outcome:
        if receipt.state != ReceiptState.REFUSED:
            receipt = intake.apply_receipt(receipt_id=receipt.pk)
        outcome.result = {"receipt": receipt.pk, "state": receipt.state, "refusal": receipt.refusal}
    return outcome.result
