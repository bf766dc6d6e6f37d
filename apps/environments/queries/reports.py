"""What nodes report, joined from the kinds of evidence that say it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from datetime import datetime
from typing import Any

from django.conf import settings
from django.db.models import QuerySet

from apps.catalogue.engine.components import component
from apps.core.actor import Actor
from apps.core.rights import Right
from apps.environments.engine.drift import NodeReport as Report
from apps.environments.engine.drift import Reported
from apps.environments.engine.facts import Standing
from apps.environments.engine.observed import Observed, observed_in
from apps.environments.engine.statements import Statement, reported_from
from apps.environments.models import NodeFact, NodeReport
from apps.environments.queries.policy import policy_of
from apps.fleet.models import Domain, Node


def reported_versions(
    node_ids: Iterable[int] | QuerySet[Any], *, stale_after_s: float | None = None
) -> dict[int, dict[str, Reported]]:
    """Node id to component id to what the node's reports say of it.

    Where several kinds of evidence state the same component, engine.statements decides which of them counts.
    node_ids may be a subquery. Two queries, however many nodes.
    """
    ids = node_ids if isinstance(node_ids, QuerySet) else list(node_ids)
    relevant_s = settings.STALE_AFTER_S if stale_after_s is None else stale_after_s
    seen_at: dict[tuple[int, str], datetime] = {
        (node_id, kind): at
        for node_id, kind, at in NodeReport.objects.filter(node_id__in=ids).values_list(
            "node_id", "kind", "reported_at"
        )
    }
    said: dict[tuple[int, str], dict[tuple[str, str], list[tuple[str, datetime]]]] = defaultdict(dict)
    facts = NodeFact.objects.filter(node_id__in=ids, until__isnull=True)
    for node_id, kind, name, standing, value, since in facts.values_list(
        "node_id", "kind", "component", "standing", "value", "since"
    ):
        said[node_id, name].setdefault((kind, standing), []).append((value, since))
    found: dict[int, dict[str, Reported]] = defaultdict(dict)
    for (node_id, name), by_kind in said.items():
        statements = [
            Statement(
                kind=kind,
                standing=Standing(standing),
                values=tuple(sorted(value for value, _since in held)),
                since=max(since for _value, since in held),
                seen_at=seen_at[node_id, kind],
            )
            for (kind, standing), held in by_kind.items()
        ]
        found[node_id][name] = reported_from(component(name), statements, stale_after_s=relevant_s)
    return dict(found)


def reported_by_domain(domain: Domain) -> tuple[list[Node], list[Report]]:
    """The domain's nodes in use, and their reports; a node that never reported has an empty one."""
    members = Node.objects.in_use().under(domain)
    versions = reported_versions(
        members.order_by().values("pk"), stale_after_s=policy_of(domain.cluster).stale_after_s
    )
    nodes = list(members.order_by("index", "name"))
    return nodes, [Report(node=node.name, reported=versions.get(node.pk, {})) for node in nodes]


def observed_by_domain(domain: Domain, *, now: datetime) -> dict[str, Observed]:
    """Component to what most nodes of the domain run of it now."""
    _nodes, reports = reported_by_domain(domain)
    return observed_in(reports, now=now, stale_after_s=policy_of(domain.cluster).stale_after_s)


def facts_visible(actor: Actor) -> QuerySet[NodeFact]:
    """What nodes of clusters that the actor may read ever reported, newest first."""
    rows = NodeFact.objects.select_related("node__cluster").order_by("-since", "-id")
    scopes = actor.scope_ids(Right.READ)
    return rows if scopes is None else rows.filter(node__cluster__scope_id__in=scopes)


def newest_reports(node: Node) -> list[NodeReport]:
    """The newest report of each kind about a node, newest first."""
    return list(NodeReport.objects.filter(node=node).order_by("-reported_at", "kind"))
