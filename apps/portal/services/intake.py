"""The intake of any file: kept and read by evidence, then handed to the apps that own what it says."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from functools import partial

from apps.audit.services import deciding
from apps.core.actor import Actor
from apps.evidence import queries as evidence_queries
from apps.evidence import services as evidence
from apps.evidence.models import Receipt, ReceiptState
from apps.evidence.services import Said
from apps.fleet.models import Cluster
from apps.fleet.queries import cluster_of_scope
from apps.jobs.services import enqueue
from apps.portal.services import owners
from apps.portal.services.unchanged import count_unchanged


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
    where the file is large and a job reads it. Raises as `evidence.services.receive`.
    """
    return evidence.receive(
        actor=actor,
        scope_id=cluster.scope_id,
        chunks=chunks,
        file_name=file_name,
        node_name=node_name,
        collected_at=collected_at,
        kind=kind,
        hand_over=partial(_hand_over, actor=actor),
    )


def take_in_known(
    *,
    actor: Actor,
    cluster: Cluster,
    sha256: str,
    file_name: str = "",
    node_name: str = "",
    collected_at: datetime | None = None,
) -> Receipt:
    """The same for bytes that the cluster handed in before, named by their digest. Raises Missing (unknown_digest).

    Where nothing follows from it the report is counted, and the receipt is that of the delivery that it repeats.
    """
    said = Said(sha256=sha256, node_name=node_name, file_name=file_name, collected_at=collected_at)
    counted = count_unchanged(actor=actor, cluster=cluster, reports=[said])
    return counted[0] or evidence.receive_known(
        actor=actor,
        scope_id=cluster.scope_id,
        sha256=sha256,
        file_name=file_name,
        node_name=node_name,
        collected_at=collected_at,
        hand_over=partial(_hand_over, actor=actor),
    )


def assign_node(*, actor: Actor, receipt_id: int, node_name: str) -> Receipt:
    """Somebody says which node or domain an unmatched delivery is about; it is applied where that exists."""
    return evidence.assign_node(
        actor=actor, receipt_id=receipt_id, node_name=node_name, hand_over=partial(_hand_over, actor=actor)
    )


def apply_receipt(*, receipt_id: int) -> Receipt:
    """Hand a reading to its owners and settle the receipt, all in one transaction. Safe to repeat."""
    with deciding():
        _apply(Receipt.objects.select_for_update().get(pk=receipt_id))
        return evidence_queries.receipt(receipt_id)


def attach(*, receipt_id: int) -> bool:
    """Apply an unmatched delivery if its node (or domain) exists by now. Returns whether it was applied."""
    receipt = evidence_queries.receipt(receipt_id)
    if receipt.state != ReceiptState.UNMATCHED or not _delivery(receipt).has_home:
        return False
    return apply_receipt(receipt_id=receipt_id).state == ReceiptState.APPLIED


def _hand_over(receipt: Receipt, *, actor: Actor) -> None:
    """What follows a delivery, in its transaction: its owners take it, or a job reads it first."""
    if receipt.reading_id is not None:
        _apply(receipt)
        return
    receipt.job = enqueue(
        "portal.read_receipt", actor=actor, scope_id=receipt.scope_id, receipt_id=receipt.pk
    )
    receipt.save(update_fields=["job"])


def _apply(receipt: Receipt) -> None:
    if receipt.reading is None or receipt.state in (ReceiptState.APPLIED, ReceiptState.REFUSED):
        return
    delivery = _delivery(receipt)
    effects = [effect for owner in owners.OWNERS for effect in owner(delivery)]
    effects = owners.outdated(delivery, effects)
    state = ReceiptState.UNMATCHED if delivery.lacks_home and not effects else ReceiptState.APPLIED
    evidence.settle(receipt_id=receipt.pk, state=state, effects=effects + owners.to_compare(delivery))


def _delivery(receipt: Receipt) -> owners.Delivery:
    return owners.Delivery.of(receipt, cluster_of_scope(receipt.scope_id))
