"""The intake of any file: kept and read by evidence, then handed to the apps that own what it says."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from django.db import transaction

from apps.core.actor import Actor
from apps.evidence import queries as evidence_queries
from apps.evidence import services as evidence
from apps.evidence.models import Receipt, ReceiptState
from apps.fleet.models import Cluster
from apps.fleet.queries import cluster_of_scope
from apps.jobs.services import enqueue
from apps.portal.services import owners


def take_in(
    *,
    actor: Actor,
    cluster: Cluster,
    chunks: Iterable[bytes],
    file_name: str = "",
    node_name: str = "",
    collected_at: datetime | None = None,
    kind: str = "",
) -> Receipt:
    """Take one file in for a cluster and, where it was read at once, apply it.

    Gives back the receipt: applied, unmatched (its node does not exist yet), refused (and why), or stored,
    where the file is large and a job reads it.
    """
    receipt = evidence.receive(
        actor=actor,
        scope_id=cluster.scope_id,
        chunks=chunks,
        file_name=file_name,
        node_name=node_name,
        collected_at=collected_at,
        kind=kind,
    )
    if receipt.state == ReceiptState.REFUSED:
        return receipt
    if receipt.reading is not None:
        return apply_receipt(receipt_id=receipt.pk)
    with transaction.atomic():
        enqueue("portal.read_receipt", actor=actor, scope_id=cluster.scope_id, receipt_id=receipt.pk)
    return receipt


@transaction.atomic
def apply_receipt(*, receipt_id: int) -> Receipt:
    """Hand a reading to its owners and settle the receipt, all in one transaction. Safe to repeat."""
    receipt = Receipt.objects.select_related("reading", "evidence").get(pk=receipt_id)
    if receipt.reading is None or receipt.state == ReceiptState.APPLIED:
        return receipt
    delivery = owners.Delivery.of(receipt, cluster_of_scope(receipt.scope_id))
    effects = [effect for owner in owners.OWNERS for effect in owner(delivery)]
    state = ReceiptState.UNMATCHED if delivery.lacks_node and not effects else ReceiptState.APPLIED
    return evidence.settle(receipt_id=receipt_id, state=state, effects=effects)


def attach_unmatched(*, cluster: Cluster, names: list[str]) -> int:
    """Apply what waited for nodes that now exist. Returns how many deliveries were applied."""
    waiting = evidence_queries.unmatched(scope_id=cluster.scope_id, node_names=names)
    return sum(apply_receipt(receipt_id=receipt.pk).state == ReceiptState.APPLIED for receipt in waiting)
