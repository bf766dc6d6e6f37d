"""The soak after a run: what logs and rules say of the links of its nodes in the day that follows."""

from __future__ import annotations

from datetime import datetime

from django.db.models import Max

from apps.benchmarks.engine.soak import Soak, ends_at, soak
from apps.benchmarks.models import BenchmarkRun
from apps.catalogue.engine.fault_codes import xid_codes
from apps.core.texts import say
from apps.core.verdicts import Verdict
from apps.health.models import FaultRecord, HealthState

LINK_RULES = "nvlink-"  # how the ids of rules about links begin
LINK_CAUSE = "nvlink"


def soak_of(run: BenchmarkRun, now: datetime) -> Soak:
    """The soak of a run's nodes since it arrived."""
    node_ids = list(run.nodes.values_list("pk", flat=True))
    began = run.received_at
    states = HealthState.objects.filter(node_id__in=node_ids, rule__startswith=LINK_RULES)
    watched = dict(states.values_list("node_id").annotate(at=Max("observed_at")))
    return soak(
        began_at=began,
        now=now,
        broken_by=_breaks(node_ids, began),
        watched_at=[watched.get(node_id) for node_id in node_ids],
    )


def _breaks(node_ids: list[int], began: datetime) -> list[str]:
    """Faults of links within the soak, and links that a rule found degraded within it."""
    links = [code for code, one in xid_codes().items() if one.primary_cause == LINK_CAUSE]
    faults = FaultRecord.objects.filter(
        node_id__in=node_ids, last_seen_at__gte=began, first_seen_at__lte=ends_at(began)
    ).select_related("node")
    degraded = HealthState.objects.filter(
        node_id__in=node_ids,
        rule__startswith=LINK_RULES,
        verdict__in=(Verdict.WARN, Verdict.FAIL),
        observed_at__gte=began,
        since__lte=ends_at(began),
    ).select_related("node")
    found = [(one.name, one.node.name) for one in faults if one.kind == "sxid" or one.code in links]
    found += [(one.rule, one.node.name) for one in degraded]
    return [say("%(what)s on %(node)s", what=what, node=node) for what, node in dict.fromkeys(found)]
