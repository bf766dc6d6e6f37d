"""Reports of nodes: history by change, one cheap write where nothing changed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime, timedelta

from django.db import IntegrityError, transaction

from apps.catalogue.engine.components import component
from apps.core import clock, digest
from apps.core.prepared import Given, PreparedUpdate
from apps.environments.engine.facts import ComponentFact, Standing
from apps.environments.models import NodeFact, NodeReport
from apps.fleet.models import Node

_VALUE_LIMIT = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class _Seen:
    """What is kept of the newest report of a kind, whether or not it says something new."""

    sha256: str
    reported_at: datetime
    received_at: datetime
    clock_skew_s: float | None


CLOCK_AHEAD_S = 300.0  # a node's clock that runs further ahead is told of
_NO_END = datetime(9999, 1, 1, tzinfo=UTC)
_MOVE_REPORT = PreparedUpdate(
    lambda node_id, kind, sha256, fresh_after, until, **_moved: NodeReport.objects.filter(
        node_id=node_id, kind=kind, sha256=sha256, reported_at__gte=fresh_after, reported_at__lte=until
    ),
    reported_at=Given("reported_at"),
    received_at=Given("received_at"),
    clock_skew_s=Given("clock_skew_s"),
)
_MOVE_NODE = PreparedUpdate(lambda pk, at: Node.objects.filter(pk=pk), last_reported_at=Given("at"))


def record_report(
    *,
    node_id: int,
    kind: str,
    facts: Sequence[ComponentFact],
    sha256: str,
    collected_at: datetime | None = None,
    is_whole: bool = True,
) -> bool:
    """Write down what one report of a kind says of a node. Returns whether anything changed.

    is_whole: False for a report that was cut, which confirms and adds: what it does not list stays as it was.
    A report collected before the one on record changes nothing, so an old one that is handed in again does no
    harm. One from the future counts as of now, and how far the node's clock runs ahead is kept. A report is no
    decision: no audit event.
    """
    seen = _seen(sha256, collected_at, clock.now())
    held = NodeReport.objects.filter(node_id=node_id, kind=kind)
    with transaction.atomic():
        if not is_whole:
            held.select_for_update().first()  # what stays is what the report before it left
            facts = _with_what_stays(node_id, kind, facts)
        mark = digest.of_value(sorted([f.component, f.standing.value, f.value, f.count or 0] for f in facts))
        unchanged = held.filter(facts_digest=mark, reported_at__lte=seen.reported_at).update(**asdict(seen))
        changed = not unchanged and _take_changed(node_id, kind, mark, facts, seen)
        if unchanged or changed:
            Node.objects.filter(pk=node_id).update(last_reported_at=seen.received_at)
    return changed


def _with_what_stays(node_id: int, kind: str, facts: Sequence[ComponentFact]) -> list[ComponentFact]:
    """What a cut report says, and of what is on record all that it does not gainsay.

    Of a component that a node has one of the new version replaces the old; of one that it has several of both stay.
    """
    held = {
        (row.component, row.standing, row.value): ComponentFact(
            component=row.component, value=row.value, standing=Standing(row.standing), count=row.count
        )
        for row in NodeFact.objects.filter(node_id=node_id, kind=kind, until__isnull=True)
    }
    said = {_key(fact): fact for fact in facts}
    replaced = {key[:2] for key, fact in said.items() if not component(fact.component).is_multiple}
    confirmed = [replace(fact, count=held[key].count) if key in held else fact for key, fact in said.items()]
    return confirmed + [fact for key, fact in held.items() if key not in said and key[:2] not in replaced]


def _key(fact: ComponentFact) -> tuple[str, str, str]:
    """By which a fact is known among those that hold of one node and kind."""
    return fact.component, fact.standing.value, fact.value[:_VALUE_LIMIT]


@dataclass(frozen=True, slots=True, kw_only=True)
class Repeat:
    """A node says with one kind of report what it said before, word for word."""

    node_id: int
    kind: str
    sha256: str
    collected_at: datetime | None = None


def record_unchanged(*, repeats: Sequence[Repeat], fresh_for_s: float) -> list[datetime | None]:
    """Note that nodes report the same bytes again. Gives when each was collected; None: take it in whole.

    That is where the newest report of the kind on record is of other bytes, is younger, or was stale (older than
    fresh_for_s) until now; and each that follows one of these for the same node and kind. The cheap way: nothing
    is read or compared, and the rows move in two queries for one report and in three for many. Call it within a
    transaction.
    """
    if len(repeats) == 1:
        return [_move_one(repeats[0], fresh_for_s)]
    nodes, kinds = {one.node_id for one in repeats}, {one.kind for one in repeats}
    held = NodeReport.objects.select_for_update().filter(node_id__in=nodes, kind__in=kinds).order_by("pk")
    rows = {(row.node_id, row.kind): row for row in held}
    now = clock.now()  # with the rows locked: two at once must not each be older than the other
    moved: dict[tuple[int, str], NodeReport] = {}
    said_at: list[datetime | None] = []
    for one in repeats:
        key, seen = (one.node_id, one.kind), _seen(one.sha256, one.collected_at, now)
        row = rows.get(key)
        fresh_after = now - timedelta(seconds=fresh_for_s)
        if row is None or row.sha256 != one.sha256 or not fresh_after <= row.reported_at <= seen.reported_at:
            rows.pop(key, None)
            said_at.append(None)
            continue
        row.reported_at, row.received_at, row.clock_skew_s = seen.reported_at, now, seen.clock_skew_s
        moved[key] = row
        said_at.append(seen.reported_at)
    NodeReport.objects.bulk_update(
        moved.values(), ["reported_at", "received_at", "clock_skew_s"], batch_size=100
    )
    Node.objects.filter(pk__in={row.node_id for row in moved.values()}).update(last_reported_at=now)
    return said_at


def _move_one(one: Repeat, fresh_for_s: float) -> datetime | None:
    now = clock.now()
    seen = _seen(one.sha256, one.collected_at, now)
    moved = _MOVE_REPORT(
        node_id=one.node_id,
        kind=one.kind,
        sha256=one.sha256,
        fresh_after=now - timedelta(seconds=fresh_for_s),
        # Of two that are collected now, each while the other waits, none is older.
        until=seen.reported_at if seen.reported_at < now else _NO_END,
        reported_at=seen.reported_at,
        received_at=now,
        clock_skew_s=seen.clock_skew_s,
    )
    if not moved:
        return None
    _MOVE_NODE(pk=one.node_id, at=now)
    return seen.reported_at


def _seen(sha256: str, collected_at: datetime | None, now: datetime) -> _Seen:
    """A report as it arrives now; one from the future counts as of now."""
    ahead_s = (collected_at - now).total_seconds() if collected_at and collected_at > now else None
    reported_at = min(collected_at, now) if collected_at else now
    return _Seen(sha256=sha256, reported_at=reported_at, received_at=now, clock_skew_s=ahead_s)


def _take_changed(node_id: int, kind: str, mark: str, facts: Sequence[ComponentFact], seen: _Seen) -> bool:
    """Take a report that says something new; False where a newer one is on record, or the same one by now."""
    row = NodeReport.objects.select_for_update().filter(node_id=node_id, kind=kind).first()
    if row is None:
        try:
            with transaction.atomic():
                NodeReport.objects.create(node_id=node_id, kind=kind, facts_digest=mark, **asdict(seen))
        except IntegrityError:  # two first reports at once: the other one is there now
            return _take_changed(node_id, kind, mark, facts, seen)
    elif seen.reported_at < row.reported_at or row.facts_digest == mark:
        return False
    else:
        NodeReport.objects.filter(pk=row.pk).update(facts_digest=mark, **asdict(seen))
    _change_facts(node_id, kind, facts, seen.sha256, seen.reported_at)
    return True


def _change_facts(node_id: int, kind: str, facts: Sequence[ComponentFact], sha256: str, at: datetime) -> None:
    """End the facts that are no longer said, and begin those that are new."""
    wanted = {_key(fact): fact for fact in facts}
    current = {
        (row.component, row.standing, row.value): row
        for row in NodeFact.objects.filter(node_id=node_id, kind=kind, until__isnull=True)
    }
    gone = [row.pk for key, row in current.items() if key not in wanted or row.count != wanted[key].count]
    NodeFact.objects.filter(pk__in=gone).update(until=at)
    NodeFact.objects.bulk_create(
        NodeFact(
            node_id=node_id,
            kind=kind,
            component=component,
            standing=standing,
            value=value,
            count=fact.count,
            since=at,
            sha256=sha256,
        )
        for (component, standing, value), fact in wanted.items()
        if (row := current.get((component, standing, value))) is None or row.count != fact.count
    )
