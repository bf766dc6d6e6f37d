"""Unchanged reports: counted at the delivery that they repeat, so that history grows by change."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import F

from apps.core import clock
from apps.core.actor import Actor
from apps.core.prepared import Given, PreparedUpdate
from apps.core.rights import Right, TokenScope
from apps.evidence import queries, store
from apps.evidence.models import Receipt
from apps.evidence.services import values

COUNTED_FOR = timedelta(
    days=1
)  # after it a report is taken in whole again, by what readers and owners know then

_COUNT_ONE = PreparedUpdate(
    lambda pk, **_moved: Receipt.objects.filter(pk=pk).order_by(),
    times=F("times") + 1,
    last_received_at=Given("received_at"),
    last_said_at=Given("said_at"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """A report of bytes that were handed in before, named by their digest."""

    sha256: str
    node_name: str
    file_name: str = ""
    collected_at: datetime | None = None


def countable(*, actor: Actor, scope_id: int, reports: Sequence[Said]) -> dict[int, Receipt]:
    """Place of a report to the delivery of the same caller at which it may be counted; left out: there is none.

    None either where its bytes are gone from the volume, so that they come once more.

    One query. Raises NotAllowed and Missing by role and token scope.
    """
    actor.require(Right.OPERATE, scope_id)
    actor.require_token_scope(TokenScope.EVIDENCE_WRITE)
    since = clock.now() - COUNTED_FOR
    keys = [
        (one.sha256, values.plain(one.node_name.strip(), 255), values.plain(one.file_name, 255))
        for one in reports
    ]
    digests, names = {key[0] for key in keys}, {key[1] for key in keys}
    twins = queries.twins_of(actor, digests, names, scope_id=scope_id, since=since)
    there = store.are_there({sha256 for sha256, _node, _file in twins})
    return {place: twins[key] for place, key in enumerate(keys) if key in twins and key[0] in there}


def count_repeats(repeats: Sequence[tuple[Receipt, datetime]], *, received_at: datetime) -> None:
    """Count reports that say the same: deliveries, each with when it was said again, in order.

    The receipts are changed as their rows are.
    """
    if len(repeats) == 1:
        ((receipt, said_at),) = repeats
        _COUNT_ONE(pk=receipt.pk, received_at=received_at, said_at=said_at)
        receipt.times += 1
        receipt.last_received_at, receipt.last_said_at = received_at, said_at
        return
    newest: dict[int, Receipt] = {}
    more: dict[int, int] = {}
    for receipt, said_at in repeats:
        row = newest.setdefault(receipt.pk, receipt)
        row.last_received_at, row.last_said_at = received_at, said_at
        more[row.pk] = more.get(row.pk, 0) + 1
    times = {pk: row.times for pk, row in newest.items()}
    for pk, row in newest.items():
        row.times = F("times") + more[pk]
    Receipt.objects.bulk_update(
        newest.values(), ["times", "last_received_at", "last_said_at"], batch_size=100
    )
    for pk, row in newest.items():
        row.times = times[pk] + more[pk]
