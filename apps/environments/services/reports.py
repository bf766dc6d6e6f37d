"""Reports of nodes: history by change, one cheap write where nothing changed."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from django.db import transaction

from apps.core import clock, digest
from apps.environments.engine.facts import ComponentFact
from apps.environments.models import NodeFact, NodeReport
from apps.fleet.models import Node

_VALUE_LIMIT = 300


@transaction.atomic
def record_report(
    *,
    node_id: int,
    kind: str,
    facts: Sequence[ComponentFact],
    sha256: str,
    collected_at: datetime | None = None,
) -> bool:
    """Write down what one report of a kind says of a node. Returns whether anything changed.

    A report collected before the one on record changes nothing. A report is no decision: no audit event.
    """
    now = clock.now()
    reported_at = min(collected_at, now) if collected_at else now
    mark = digest.of_value(sorted([f.component, f.standing.value, f.value, f.count or 0] for f in facts))
    skew_s = (collected_at - now).total_seconds() if collected_at and collected_at > now else None
    held = NodeReport.objects.select_for_update().filter(node_id=node_id, kind=kind).first()
    if held is not None and reported_at < held.reported_at:
        return False
    seen = {"sha256": sha256, "reported_at": reported_at, "received_at": now, "clock_skew_s": skew_s}
    changed = held is None or held.facts_digest != mark
    NodeReport.objects.update_or_create(node_id=node_id, kind=kind, defaults=seen | {"facts_digest": mark})
    Node.objects.filter(pk=node_id).update(last_reported_at=now)
    if changed:
        _change_facts(node_id, kind, facts, sha256, reported_at)
    return changed


def _change_facts(node_id: int, kind: str, facts: Sequence[ComponentFact], sha256: str, at: datetime) -> None:
    """End the facts that are no longer said, and begin those that are new."""
    wanted = {(fact.component, fact.standing.value, fact.value[:_VALUE_LIMIT]): fact for fact in facts}
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
