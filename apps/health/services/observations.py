"""Observations: what a reading says of a node's health, settled so that it does not flap."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from django.db import transaction

from apps.core.verdicts import Verdict
from apps.evidence.engine.reading import Reading
from apps.fleet.services import set_health
from apps.health import queries
from apps.health.engine.faults import Fault, faults_in
from apps.health.engine.hysteresis import WINDOW, settled
from apps.health.engine.signals import signals_in
from apps.health.engine.thresholds import Observation, observe
from apps.health.models import FaultRecord, HealthState


@transaction.atomic
def record_reading(*, node_id: int, reading: Reading, sha256: str, at: datetime) -> int:
    """Take the health figures and faults of one reading. Returns how many it held; 0 leaves the node as it is.

    The first observation of a device settles at once; later ones need two of three. An observation is no
    decision: no audit event.
    """
    observations = observe(signals_in(reading))
    faults = faults_in(reading)
    if not observations and not faults:
        return 0
    _keep_states(node_id, observations, sha256, at)
    for fault in faults:
        _keep_fault(node_id, fault, sha256, at)
    set_health(node_id=node_id, health=queries.health_of(node_id))
    return len(observations) + len(faults)


def _keep_states(node_id: int, observations: Sequence[Observation], sha256: str, at: datetime) -> None:
    held = {(row.rule, row.device): row for row in HealthState.objects.filter(node_id=node_id)}
    fresh, seen = [], []
    for one in observations:
        key = (one.rule.id, one.signal.device[:60])
        row = held.get(key)
        if row is None:
            row = HealthState(node_id=node_id, rule=key[0], device=key[1], verdict=one.verdict, since=at)
            held[key] = row
            fresh.append(row)
        elif row not in fresh and row not in seen:
            seen.append(row)
        _observe(row, one, sha256, at)
    HealthState.objects.bulk_create(fresh, batch_size=500)
    fields = ["recent", "verdict", "value", "detail", "observed_at", "since", "sha256"]
    HealthState.objects.bulk_update(seen, fields, batch_size=100)


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
    """Open a fault, or count it again; the same log handed in again counts nothing."""
    place = {"node_id": node_id, "kind": fault.kind.value, "code": fault.code, "device": fault.device[:60]}
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
    row = FaultRecord.objects.filter(**place, resolved_at__isnull=True).first()
    if row is None:
        if not FaultRecord.objects.filter(**place, sha256=sha256).exists():
            FaultRecord.objects.create(**place, **said, count=fault.count, first_seen_at=at)
        return
    if row.sha256 != sha256:
        FaultRecord.objects.filter(pk=row.pk).update(**said, count=row.count + fault.count)
