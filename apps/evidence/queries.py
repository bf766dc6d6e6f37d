"""Questions about evidence: what came in, and what was read from it."""

from __future__ import annotations

from django.db.models import QuerySet

from apps.core.actor import Actor
from apps.core.errors import Missing
from apps.core.rights import Right
from apps.evidence.models import Evidence, EvidenceReading, Receipt, ReceiptState


def receipts_visible(actor: Actor) -> QuerySet[Receipt]:
    """Deliveries in the scopes that the actor may read, newest first, with what a list shows."""
    rows = Receipt.objects.select_related("scope", "evidence", "person")
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
    accepted = receipts_visible(actor).filter(scope_id=scope_id, sha256__in=digests, evidence__isnull=False)
    return set(accepted.filter(evidence__thinned_at__isnull=True).values_list("sha256", flat=True))


def unmatched(*, scope_id: int, node_names: list[str]) -> QuerySet[Receipt]:
    """Read deliveries that wait for a node of one of these names."""
    rows = Receipt.objects.filter(scope_id=scope_id, state=ReceiptState.UNMATCHED, node_name__in=node_names)
    return rows.select_related("reading", "evidence").order_by("id")


def newest_reading(sha256: str) -> EvidenceReading | None:
    return EvidenceReading.objects.filter(evidence__sha256=sha256).order_by("-parser_version", "-id").first()
