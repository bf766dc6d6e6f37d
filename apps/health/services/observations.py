"""Observations: what a reading says of a node's health, settled so that it does not flap."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from django.conf import settings
from django.db import transaction
from django.db.models import Exists, OuterRef

from apps.catalogue.queries import accelerators_for
from apps.core import clock
from apps.core.verdicts import Verdict
from apps.evidence.engine.reading import Reading
from apps.fleet.models import Accelerator, Node, NodeHealth
from apps.fleet.services import set_health
from apps.health import queries
from apps.health.engine.actions import escalated
from apps.health.engine.faults import Fault, faults_in
from apps.health.engine.hysteresis import WINDOW, settled
from apps.health.engine.signals import NVLINK, BuiltLink, signals_in
from apps.health.engine.thresholds import Observation, observe
from apps.health.models import FaultRecord, HealthState
from apps.health.services.quarantine import quarantine_by_policy
from apps.health.services.standing import lock_nodes, renew_health

EVENTS_KEPT = 200
WATCHED = timedelta(days=7)  # a fault that comes back within this time after it was resolved needs more
# The same bytes this soon are one delivery made twice; later they say that nothing has changed since.
REPEATED_WITHIN = timedelta(seconds=60)


@transaction.atomic
def record_reading(*, node_id: int, reading: Reading, sha256: str, at: datetime) -> int:
    """Take the health figures and faults of one reading. Returns how many it held; 0 leaves the node as it is.

    The first observation of a device settles at once; later ones need two of three. The same file at once
    again, or one that is older than what is known, is no observation. Where the cluster's policy says so the
    node is quarantined at once. An observation is no decision: no audit event.
    """
    link = _link_of(node_id) if reading.kind == NVLINK else None
    signals, faults = signals_in(reading, link=link), faults_in(reading)
    if not signals and not faults:
        return 0
    # Readings of one node are taken one by one.
    node = Node.objects.select_for_update(no_key=True).get(pk=node_id)
    observations = observe(signals, queries.rules_of(node.cluster_id))
    _keep_states(node_id, observations, sha256, at)
    for fault in faults:
        _keep_fault(node_id, fault, sha256, at)
    renew_health([node_id])
    quarantine_by_policy(node_id=node_id)
    return len(observations) + len(faults)


def _link_of(node_id: int) -> BuiltLink | None:
    """How the NVLinks of the node's registered accelerators are built; None where no one known model is registered."""
    cards = Accelerator.objects.filter(node_id=node_id).order_by()
    models = list(cards.values_list("model", "node__cluster__scope_id").distinct())
    if len(models) != 1:
        return None
    ((model, scope_id),) = models
    part = accelerators_for(scope_id).get(model)
    rate = part.scale_up.link_bytes_per_s if part else None
    word = model.partition("-")[2].partition("-")[0]  # h100 of nvidia-h100-sxm5-80gb
    return BuiltLink(part=word, bytes_per_s=rate) if rate and word else None


def forget_stale_health() -> int:
    """Nodes that nothing was observed on for too long are unknown, never healthy. Returns how many changed.

    A device that its node has not named for as long, while it went on about others, is there no more: what was
    seen of it is dropped.
    """
    before = clock.now() - timedelta(seconds=settings.STALE_AFTER_S)
    _forget_gone(before)
    fresh = HealthState.objects.filter(node=OuterRef("pk"), observed_at__gte=before)
    stale = Node.objects.in_use().filter(~Exists(fresh), health=NodeHealth.HEALTHY)
    return set_health(node_ids=stale.values("pk"), health=NodeHealth.UNKNOWN)


def _forget_gone(before: datetime) -> None:
    """Drop what was seen last before this time of devices of which the same rule saw others of the node since."""
    others = HealthState.objects.filter(node=OuterRef("node"), rule=OuterRef("rule"), observed_at__gte=before)
    gone = HealthState.objects.filter(Exists(others), observed_at__lt=before)
    for node_id in sorted(set(gone.values_list("node_id", flat=True))):
        with transaction.atomic():
            lock_nodes(Node.objects.filter(pk=node_id))
            gone.filter(node_id=node_id).delete()
            renew_health([node_id])


def _keep_states(node_id: int, observations: Sequence[Observation], sha256: str, at: datetime) -> None:
    held = {(row.rule, row.device): row for row in HealthState.objects.filter(node_id=node_id)}
    fresh: list[HealthState] = []
    changed: list[HealthState] = []
    same: list[int] = []
    for (rule, device), one in _worst(observations).items():
        row = held.get((rule, device))
        if row is None:
            row = HealthState(node_id=node_id, rule=rule, device=device, verdict=one.verdict, since=at)
            _observe(row, one, sha256, at)
            fresh.append(row)
        elif row.observed_at <= at and not _is_repeated(row, sha256, at):
            before = _said(row)
            _observe(row, one, sha256, at)
            if _said(row) != before:
                changed.append(row)
            else:
                same.append(row.pk)
    HealthState.objects.bulk_create(fresh, batch_size=500)
    HealthState.objects.bulk_update(changed, [*_SAID, "observed_at", "sha256"], batch_size=100)
    for start in range(0, len(same), 500):
        rows = HealthState.objects.filter(pk__in=same[start : start + 500])
        rows.update(observed_at=at, sha256=sha256)


# From knowing nothing to the worst.
_RANK = (Verdict.UNKNOWN, Verdict.PASS, Verdict.WARN, Verdict.FAIL)


def _worst(observations: Sequence[Observation]) -> dict[tuple[str, str], Observation]:
    """Rule and device to what one reading says of them: the worst, where it says several things."""
    found: dict[tuple[str, str], Observation] = {}
    for one in observations:
        key = (one.rule.id, one.signal.device[:60])
        if key not in found or _RANK.index(one.verdict) > _RANK.index(found[key].verdict):
            found[key] = one
    return found


_SAID = ("recent", "verdict", "value", "detail", "since")


def _said(row: HealthState) -> list[object]:
    """What an observation may change; where it does not, only the times move, in one write for all devices."""
    return [getattr(row, name) for name in _SAID]


def _is_repeated(row: HealthState, sha256: str, at: datetime) -> bool:
    return row.sha256 == sha256 and at - row.observed_at < REPEATED_WITHIN


def _observe(row: HealthState, one: Observation, sha256: str, at: datetime) -> None:
    is_settled_at_once = not row.recent or _decides_alone(one, Verdict(row.verdict))
    row.recent = [*row.recent, one.verdict.value][-WINDOW:]
    recent = [Verdict(verdict) for verdict in row.recent]
    verdict = one.verdict if is_settled_at_once else settled(Verdict(row.verdict), recent)
    if verdict != row.verdict:
        row.verdict, row.since = verdict.value, at
    row.value, row.detail = one.signal.value, one.signal.detail[:200]
    row.observed_at, row.sha256 = at, sha256


def _decides_alone(one: Observation, held: Verdict) -> bool:
    """Whether one sighting is enough, without two of three."""
    is_worse = one.verdict in (Verdict.WARN, Verdict.FAIL) and _RANK.index(one.verdict) > _RANK.index(held)
    return one.rule.is_conclusive or (one.rule.is_immediate and is_worse)


def _keep_fault(node_id: int, fault: Fault, sha256: str, at: datetime) -> None:
    """Open a fault, or count it again; events that are known already count nothing.

    A kernel log grows: it brings the lines of yesterday along, those of faults that were resolved since too. What
    was resolved and came back soon asks for the next heavier action.
    """
    place = {"node_id": node_id, "kind": fault.kind.value, "code": fault.code, "device": fault.device[:60]}
    records = list(FaultRecord.objects.filter(**place))
    if any(_knows(record, fault, sha256) for record in records):
        return
    came_back = any(record.resolved_at and record.resolved_at >= at - WATCHED for record in records)
    said = {
        "severity": fault.severity,
        "action": fault.action[:40],
        "action_class": escalated(fault.action_class, came_back=came_back).value,
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
