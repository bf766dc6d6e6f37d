"""Questions about evidence: what came in, and what was read from it."""

from __future__ import annotations

from datetime import datetime

from django.db.models import Exists, OuterRef, Q, QuerySet
from django.db.models.functions import Coalesce, Least

from apps.core.actor import Actor
from apps.core.errors import Missing
from apps.core.rights import Right
from apps.evidence.models import Evidence, Receipt, ReceiptState


def receipts_visible(actor: Actor) -> QuerySet[Receipt]:
    """Deliveries in the scopes that the actor may read, newest first, with what a list shows."""
    rows = Receipt.objects.select_related("scope", "evidence", "person", "job")
    scopes = actor.scope_ids(Right.READ)
    return rows if scopes is None else rows.filter(scope_id__in=scopes)


def receipt_for(actor: Actor, receipt_id: int) -> Receipt:
    """One delivery. Raises Missing."""
    receipt = receipts_visible(actor).select_related("reading").filter(pk=receipt_id).first()
    if receipt is None:
        raise Missing("there is no such delivery, or you may not see it")
    return receipt


def evidence_for(actor: Actor, sha256: str) -> Evidence:
    """Evidence of which the actor may see at least one delivery. Raises Missing."""
    if not receipts_visible(actor).filter(sha256=sha256, evidence__isnull=False).exists():
        raise Missing("there is no such evidence, or you may not see it")
    return Evidence.objects.get(sha256=sha256)


def known_digests(actor: Actor, digests: list[str], *, scope_id: int) -> set[str]:
    """Those digests whose bytes were accepted before in this scope, so that they need not be sent again."""
    accepted = receipts_visible(actor).filter(scope_id=scope_id, sha256__in=digests, reading__isnull=False)
    return set(accepted.filter(evidence__thinned_at__isnull=True).values_list("sha256", flat=True))


def unmatched() -> QuerySet[Receipt]:
    """Read deliveries that wait for their node to appear, oldest first."""
    return Receipt.objects.filter(state=ReceiptState.UNMATCHED).order_by("id")


def receipt(receipt_id: int) -> Receipt:
    """One delivery as it is now, with what services look at."""
    return Receipt.objects.select_related("evidence", "reading", "job").get(pk=receipt_id)


def accepted_before(*, scope_id: int, sha256: str) -> Receipt | None:
    """The newest delivery of these bytes in the scope that was read, where the bytes are still here."""
    rows = Receipt.objects.filter(scope_id=scope_id, sha256=sha256, reading__isnull=False)
    return rows.filter(evidence__thinned_at__isnull=True).select_related("reading").order_by("-id").first()


def is_outdated(receipt: Receipt) -> bool:
    """Whether something newer of the same kind was applied for the same name already.

    Nothing was collected after it arrived: a node whose clock runs ahead would outdate all that follows.
    """
    same = Receipt.objects.filter(scope_id=receipt.scope_id, kind=receipt.kind, state=ReceiptState.APPLIED)
    said_at = Coalesce(Least("collected_at", "received_at"), "received_at")
    newer = same.filter(node_name=receipt.node_name).annotate(said_at=said_at).exclude(pk=receipt.pk)
    own = min(receipt.collected_at or receipt.received_at, receipt.received_at)
    return newer.filter(said_at__gt=own).exists()


def was_applied_before(receipt: Receipt) -> bool:
    """Whether the same bytes were applied for the same name by an earlier delivery."""
    same = Receipt.objects.filter(scope_id=receipt.scope_id, sha256=receipt.sha256, pk__lt=receipt.pk)
    return same.filter(node_name=receipt.node_name, state=ReceiptState.APPLIED).exists()


def thinnable(*, before: datetime) -> QuerySet[Evidence]:
    """Evidence whose raw bytes nothing rests on: all its deliveries are older than `before`, none of them waits
    or is the newest of its kind for its node, and no decision pinned it."""
    accepted = Receipt.objects.filter(evidence__isnull=False)
    newer = accepted.filter(
        scope=OuterRef("scope"), node_name=OuterRef("node_name"), kind=OuterRef("kind"), pk__gt=OuterRef("pk")
    )
    of_it = accepted.filter(evidence=OuterRef("pk"))
    needed = of_it.filter(~Q(state=ReceiptState.APPLIED) | Q(received_at__gte=before) | ~Exists(newer))
    old = Evidence.objects.filter(pinned=False, thinned_at__isnull=True, stored_at__lt=before)
    return old.filter(~Exists(needed))
