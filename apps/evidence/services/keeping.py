"""How long raw bytes stay: pinned by decisions, thinned by age, swept where no row names them."""

from __future__ import annotations

from collections.abc import Iterable

from django.db import IntegrityError, transaction

from apps.core import clock
from apps.evidence import queries, store
from apps.evidence.models import Evidence

_AT_ONCE = 500  # SQLite takes 999 parameters


def pin(digests: Iterable[str]) -> None:
    """A decision rests on these bytes: they are kept for good. Called inside of that decision."""
    wanted = sorted(set(digests))
    for start in range(0, len(wanted), _AT_ONCE):
        rows = Evidence.objects.filter(sha256__in=wanted[start : start + _AT_ONCE], pinned=False)
        rows.update(pinned=True)


def sweep() -> int:
    """Remove bytes that no row names, and unfinished uploads, once they are an hour old. Returns how many."""
    removed = store.clear_incoming()
    for sha256 in store.not_young():
        if not Evidence.objects.filter(sha256=sha256, thinned_at__isnull=True).exists():
            removed += _discard_unused(sha256)
    return removed


def thin(*, at_most: int = 1000) -> int:
    """Remove raw bytes that nothing rests on, older than their clusters keep them; readings stay. Returns how many.

    What a decision pinned stays, and so does the newest delivery of each kind for each node.
    """
    now = clock.now()
    thinnable = queries.thinnable(now=now)
    thinned = 0
    for evidence in thinnable.order_by("id")[:at_most]:
        # The row says first that the bytes are gone: killed in between, the sweep removes them.
        marked = thinnable.filter(pk=evidence.pk).update(thinned_at=now)
        thinned += marked and _discard_unused(evidence.sha256)
    return thinned


@transaction.atomic
def _discard_unused(sha256: str) -> int:
    """Remove bytes unless a row names them by now; returns 1 where they went.

    A row of this digest, our own where there is none, keeps deliveries of the same bytes waiting until we are
    done: they then find the bytes gone and put them back before they commit.
    """
    row = Evidence.objects.select_for_update().filter(sha256=sha256).first()
    if row is not None and row.thinned_at is None:
        return 0
    if row is None:
        try:
            with transaction.atomic():
                placeholder = Evidence.objects.create(sha256=sha256, size_bytes=0, stored_at=clock.now())
        except IntegrityError:
            return 0
        store.discard(sha256)
        placeholder.delete()
        return 1
    store.discard(sha256)
    return 1
