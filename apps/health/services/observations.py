"""Observations: what a reading says of a node's health, settled so that it does not flap."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from django.conf import settings
from django.db import transaction
from django.db.models import Exists, OuterRef

from apps.core import clock
from apps.core.verdicts import Verdict
from apps.evidence.engine.reading import Reading
from apps.fleet.models import Node, NodeHealth
from apps.fleet.services import set_health
from apps.health import queries
from apps.health.engine.faults import Fault, faults_in
from apps.health.engine.hysteresis import WINDOW, settled
from apps.health.engine.signals import signals_in
from apps.health.engine.thresholds import Observation, observe
from apps.health.models import FaultRecord, HealthState
from apps.health.services.quarantine import quarantine_by_policy

EVENTS_KEPT = 200
# The same bytes this soon are one delivery made twice; later they say that nothing has changed since.
REPEATED_WITHIN = timedelta(seconds=60)


@transaction.atomic
def record_reading(*, node_id: int, reading: Reading, sha256: str, at: datetime) -> int:
    """Take the health figures and faults of one reading. Returns how many it held; 0 leaves the node as it is.

    The first observation of a device settles at once; later ones need two of three. The same file at once
    again, or one that is older than what is known, is no observation. Where the cluster's policy says so the
    node is quarantined at once. An observation is no decision: no audit event.
    """
    signals, faults = signals_in(reading), faults_in(reading)
    if not signals and not faults:
        return 0
    node = Node.objects.select_for_update().get(pk=node_id)  # readings of one node are taken one by one
    observations = observe(signals, queries.rules_of(node.cluster_id))
    _keep_states(node_id, observations, sha256, at)
    for fault in faults:
        _keep_fault(node_id, fault, sha256, at)
    set_health(node_id=node_id, health=queries.health_of(node_id))
    quarantine_by_policy(node_id=node_id)
    return len(observations) + len(faults)


def forget_stale_health(*, batch: int = 500) -> int:
    """Nodes that nothing was observed on for too long are unknown, never healthy. Returns how many changed."""
    before = clock.now() - timedelta(seconds=settings.STALE_AFTER_S)
    fresh = HealthState.objects.filter(node=OuterRef("pk"), observed_at__gte=before)
    stale = Node.objects.in_use().filter(~Exists(fresh), health=NodeHealth.HEALTHY)
    ids = list(stale.values_list("pk", flat=True)[:batch])
    return sum(set_health(node_id=pk, health=NodeHealth.UNKNOWN) for pk in ids)


def _keep_states(node_id: int, observations: Sequence[Observation], sha256: str, at: datetime) -> None:
    held = {(row.rule, row.device): row for row in HealthState.objects.filter(node_id=node_id)}
    fresh: dict[tuple[str, str], HealthState] = {}
    seen: dict[tuple[str, str], HealthState] = {}
    before: dict[int, list[object]] = {}
    for one in observations:
        key = (one.rule.id, one.signal.device[:60])
        row = held.get(key)
        if row is None:
            row = fresh.get(key) or HealthState(
                node_id=node_id, rule=key[0], device=key[1], verdict=one.verdict, since=at
            )
            fresh[key] = row
        elif key not in seen and (row.observed_at > at or _is_repeated(row, sha256, at)):
            continue
        elif key not in seen:
            seen[key] = row
            before[row.pk] = _said(row)
        _observe(row, one, sha256, at)
    HealthState.objects.bulk_create(fresh.values(), batch_size=500)
    changed = [row for row in seen.values() if _said(row) != before[row.pk]]
    HealthState.objects.bulk_update(changed, [*_SAID, "observed_at", "sha256"], batch_size=100)
    same = [row.pk for row in seen.values() if _said(row) == before[row.pk]]
    for start in range(0, len(same), 500):
        rows = HealthState.objects.filter(pk__in=same[start : start + 500])
        rows.update(observed_at=at, sha256=sha256)


_SAID = ("recent", "verdict", "value", "detail", "since")


def _said(row: HealthState) -> list[object]:
    """What an observation may change; where it does not, only the times move, in one write for all devices."""
    return [getattr(row, name) for name in _SAID]


def _is_repeated(row: HealthState, sha256: str, at: datetime) -> bool:
    return row.sha256 == sha256 and at - row.observed_at < REPEATED_WITHIN


def _observe(row: HealthState, one: Observation, sha256: str, at: datetime) -> None:
    is_first = not row.recent
    row.recent = [*row.recent, one.verdict.value][-WINDOW:]
    recent = [Verdict(verdict) for verdict in row.recent]
    is_settled_at_once = is_first or (one.rule.is_immediate and one.verdict is Verdict.FAIL)
    verdict = one.verdict if is_settled_at_once else settled(Verdict(row.verdict), recent)
    if verdict != row.verdict:
        row.verdict, row.since = verdict.value, at
    row.value, row.detail = one.signal.value, one.signal.detail[:200]
    row.observed_at, row.sha256 = at, sha256


def _keep_fault(node_id: int, fault: Fault, sha256: str, at: datetime) -> None:
    """Open a fault, or count it again; events that are known already count nothing.

    A kernel log grows: it brings the lines of yesterday along, those of faults that were resolved since too.
    """
    place = {"node_id": node_id, "kind": fault.kind.value, "code": fault.code, "device": fault.device[:60]}
    records = list(FaultRecord.objects.filter(**place))
    if any(_knows(record, fault, sha256) for record in records):
        return
    said = {
        "severity": fault.severity,
        "action": fault.action[:40],
        "action_class": fault.action_class.value,
        "cordon": fault.cordon,
        "text": fault.text[:400],
        "line": fault.line,
        "at_text": fault.at[:60],
        "last_seen_at": at,
        "sha256": sha256,
    }
    events = [fault.at[:60]] if fault.at else []
    row = next((record for record in records if record.resolved_at is None), None)
    if row is None:
        FaultRecord.objects.create(**place, **said, events=events, count=fault.count, first_seen_at=at)
        return
    FaultRecord.objects.filter(pk=row.pk).update(
        **said, events=[*row.events, *events][-EVENTS_KEPT:], count=row.count + fault.count
    )


def _knows(record: FaultRecord, fault: Fault, sha256: str) -> bool:
    """By the time that the log printed; a log without times is known by its digest only."""
    return fault.at[:60] in record.events if fault.at else record.sha256 == sha256
