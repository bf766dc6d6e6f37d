"""Work of the intake that a worker does."""

from __future__ import annotations

from typing import Any

from django.urls import reverse

from apps.core import clock
from apps.core.errors import Conflict, Invalid
from apps.evidence import queries, services
from apps.evidence.models import Receipt, ReceiptState
from apps.health.queries import metrics_sources
from apps.jobs.registry import job
from apps.jobs.running import Outcome, RunningJob
from apps.portal.queries.waiting import attachable
from apps.portal.services import intake, metrics

_MIB = 2**20
_ATTACH_AT_ONCE = 500


@job("portal.read_receipt")
def read_receipt(run: RunningJob) -> dict[str, Any]:
    """Read a large file that was kept, and apply it; where it cannot be read or applied, refuse it."""
    receipt_id = run.arguments["receipt_id"]
    receipt = queries.receipt(receipt_id)
    total = max(1, receipt.size_bytes // _MIB)
    run.progress(0, total, "MiB")
    receipt = services.read_receipt(
        receipt_id=receipt_id, progress=lambda done: run.progress(min(done // _MIB, total), total, "MiB")
    )
    run.progress(total, total, "MiB")
    try:
        with run.finishing() as outcome:
            if receipt.state != ReceiptState.REFUSED:
                receipt = intake.apply_receipt(receipt_id=receipt_id)
            _tell(outcome, receipt)
    except (Invalid, Conflict) as error:
        with run.finishing() as outcome:
            _tell(outcome, services.refuse(receipt_id=receipt_id, error=error))
    return dict(outcome.result)


@job("portal.attach_unmatched", every_s=300)
def attach_unmatched(run: RunningJob) -> dict[str, int]:
    """Apply deliveries whose node did not exist when they came, and exists now."""
    found = list(attachable().values_list("pk", flat=True)[:_ATTACH_AT_ONCE])
    attached = 0
    for done, receipt_id in enumerate(found):
        run.progress(done, len(found))
        attached += intake.attach(receipt_id=receipt_id)
    return {"attached": attached, "waiting": queries.unmatched().count()}


@job("portal.fetch_metrics", every_s=60)
def fetch_metrics(run: RunningJob) -> dict[str, int]:
    """Ask the Prometheus server of each cluster whose time has come; one that fails does not stop the rest.

    With `cluster_id` among its arguments, that of one cluster, at once.
    """
    sources = metrics_sources(due_at=clock.now(), cluster_id=run.arguments.get("cluster_id"))
    nodes = failed = 0
    for done, source in enumerate(sources):
        run.progress(done, len(sources))
        try:
            nodes += metrics.take_in_metrics(source)
        except Invalid:  # the source's row says why
            failed += 1
    return {"nodes": nodes, "failed": failed}


def _tell(outcome: Outcome, receipt: Receipt) -> None:
    outcome.result = {"receipt": receipt.pk, "state": receipt.state, "refusal": receipt.refusal}
    outcome.url = reverse("evidence:receipt", args=[receipt.pk])
