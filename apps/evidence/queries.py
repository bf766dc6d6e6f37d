"""Questions about evidence: what came in, and what was read from it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from django.conf import settings
from django.db.models import (
    Case,
    DateTimeField,
    Exists,
    F,
    Func,
    IntegerField,
    OuterRef,
    Q,
    QuerySet,
    Value,
    When,
)
from django.db.models.functions import Coalesce, Least

from apps.accounts.models import Scope
from apps.core.actor import Actor
from apps.core.errors import Missing
from apps.core.prepared import Given, Prepared
from apps.core.rights import Right
from apps.core.texts import say
from apps.evidence.models import Evidence, KeepPolicy, Receipt, ReceiptState

_EVER = datetime(1970, 1, 1, tzinfo=UTC)


class _Length(Func):
    """How many elements a JSON list has, counted by the database."""

    function = "JSON_ARRAY_LENGTH"
    output_field = IntegerField()

    def as_postgresql(self, compiler: Any, connection: Any, **context: Any) -> Any:
        return self.as_sql(compiler, connection, function="JSONB_ARRAY_LENGTH", **context)


def _with_warnings_counted(rows: QuerySet[Receipt]) -> QuerySet[Receipt]:
    """Deliveries with the number of warnings of their readings, without loading the readings."""
    return rows.annotate(warnings_counted=Coalesce(_Length("reading__warnings"), 0))


def _deliveries_of_caller(
    *, scope_id: Given, node_names: list[Given], digests: list[Given], since: Given, **caller: Given
) -> QuerySet[Receipt]:
    """Applied deliveries of these bytes about these names by one caller since, of which the bytes are still here."""
    rows = _with_warnings_counted(Receipt.objects.order_by("id")).filter(
        scope_id=scope_id, node_name__in=node_names, sha256__in=digests, received_at__gt=since, **caller
    )
    return rows.filter(state=ReceiptState.APPLIED, reading__isnull=False, evidence__thinned_at__isnull=True)


_TWINS = Prepared(_deliveries_of_caller)


def receipts_visible(actor: Actor) -> QuerySet[Receipt]:
    """Deliveries in the scopes that the actor may read, newest first, with what a list shows."""
    rows = _with_warnings_counted(Receipt.objects.select_related("scope", "evidence", "person", "job"))
    scopes = actor.scope_ids(Right.READ)
    return rows if scopes is None else rows.filter(scope_id__in=scopes)


def receipt_for(actor: Actor, receipt_id: int) -> Receipt:
    """One delivery. Raises Missing."""
    receipt = receipts_visible(actor).select_related("reading").filter(pk=receipt_id).first()
    if receipt is None:
        raise Missing(say("there is no such delivery, or you may not see it"))
    return receipt


def evidence_for(actor: Actor, sha256: str) -> Evidence:
    """Evidence of which the actor may see at least one delivery. Raises Missing."""
    if not receipts_visible(actor).filter(sha256=sha256, evidence__isnull=False).exists():
        raise Missing(say("there is no such evidence, or you may not see it"))
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


def twins_of(
    actor: Actor, digests: Collection[str], node_names: Collection[str], *, scope_id: int, since: datetime
) -> dict[tuple[str, str, str], Receipt]:
    """Digest, node name and file name to the newest delivery of them by the same caller.

    Only what was received after `since` and applied, and of which the bytes are still here.
    """
    rows = _TWINS.objects(
        scope_id=scope_id,
        node_names=sorted(node_names),
        digests=sorted(digests),
        since=since,
        person_id=actor.person_id,
        via=actor.via.value,
        by_label=actor.label[:200],
    )
    return {(row.sha256, row.node_name, row.file_name): row for row in rows}


def sent_before(delivery: Mapping[str, Any]) -> Receipt | None:
    """The same bytes of the same caller, node, file and time of collecting; None where that time was not said.

    A client that was killed before it noted the answer sends again what was taken.
    """
    if delivery["collected_at"] is None:
        return None
    known = ("scope_id", "sha256", "node_name", "file_name", "collected_at", "person_id", "via", "by_label")
    same = Receipt.objects.filter(**{name: delivery[name] for name in known})
    return same.exclude(state=ReceiptState.REFUSED).order_by("id").first()


def newer_on_record(receipt: Receipt) -> datetime | None:
    """When the newest of the same kind that was applied for the same name was collected; None where this is it.

    Nothing was collected after it arrived: a node whose clock runs ahead would outdate all that follows.
    """
    same = Receipt.objects.filter(scope_id=receipt.scope_id, kind=receipt.kind, state=ReceiptState.APPLIED)
    said_at = Coalesce("last_said_at", Least("collected_at", "received_at"), "received_at")
    newer = same.filter(node_name=receipt.node_name).annotate(said_at=said_at).exclude(pk=receipt.pk)
    own = min(receipt.collected_at or receipt.received_at, receipt.received_at)
    times = newer.filter(said_at__gt=own).order_by("-said_at").values_list("said_at", flat=True)
    return times.first()


def was_applied_before(receipt: Receipt) -> bool:
    """Whether the same bytes were applied for the same name by an earlier delivery."""
    same = Receipt.objects.filter(scope_id=receipt.scope_id, sha256=receipt.sha256, pk__lt=receipt.pk)
    return same.filter(node_name=receipt.node_name, state=ReceiptState.APPLIED).exists()


def keep_policy_of(scope: Scope) -> KeepPolicy:
    """The cluster's policy; an unsaved one that says nothing (version 0) where it has none."""
    return KeepPolicy.objects.filter(scope=scope).first() or KeepPolicy(scope=scope, version=0)


def kinds_of(scope: Scope) -> list[str]:
    """The kinds of evidence that were ever accepted for a cluster, in order."""
    rows = Receipt.objects.filter(scope=scope, reading__isnull=False).order_by("kind")
    return list(rows.values_list("kind", flat=True).distinct())


def kept_since(now: datetime) -> tuple[Case, datetime]:
    """From when on a delivery is kept by its cluster and kind, as an expression; and the latest such time."""
    whens, times = [], [_since(now, settings.EVIDENCE_KEEP_DAYS)]
    for policy in KeepPolicy.objects.order_by("id"):
        for kind, days in policy.kinds.items():
            times.append(_since(now, days))
            whens.append(When(scope_id=policy.scope_id, kind=kind, then=Value(times[-1])))
        if policy.keep_days is not None:
            times.append(_since(now, policy.keep_days))
            whens.append(When(scope_id=policy.scope_id, then=Value(times[-1])))
    return Case(*whens, default=Value(times[0]), output_field=DateTimeField()), max(times)


def _since(now: datetime, days: int) -> datetime:
    return now - timedelta(days=days) if days else _EVER


def thinnable(*, now: datetime) -> QuerySet[Evidence]:
    """Evidence whose raw bytes nothing rests on: each of its deliveries is older than its cluster keeps its kind,
    none of them waits or is the newest of its kind for its node, and no decision pinned it."""
    since, latest = kept_since(now)
    accepted = Receipt.objects.filter(evidence__isnull=False)
    newer = accepted.filter(
        scope=OuterRef("scope"), node_name=OuterRef("node_name"), kind=OuterRef("kind"), pk__gt=OuterRef("pk")
    )
    of_it = accepted.filter(evidence=OuterRef("pk")).annotate(kept_since=since)
    recent = Q(received_at__gte=F("kept_since")) | Q(last_received_at__gte=F("kept_since"))
    needed = of_it.filter(~Q(state=ReceiptState.APPLIED) | recent | ~Exists(newer))
    old = Evidence.objects.filter(pinned=False, thinned_at__isnull=True, stored_at__lt=latest)
    return old.filter(~Exists(needed))
