"""What nodes report, joined from the kinds of evidence that say it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable
from datetime import datetime
from typing import Any

from django.conf import settings
from django.db.models import Aggregate, QuerySet, TextField

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
from apps.fleet.models import Accelerator, Domain, Node


class _Joined(Aggregate):
    """The values of a group as one text, joined by commas, on both engines."""

    function = "GROUP_CONCAT"
    output_field = TextField()

    def as_postgresql(self, compiler: Any, connection: Any, **extra: Any) -> Any:
        return self.as_sql(
            compiler, connection, function="STRING_AGG", template="%(function)s(%(expressions)s::text, ',')"
        )


# Node id to the versions that it states, sorted.
_Side = dict[int, tuple[str, ...]]
Said = tuple[str, str, str]  # component, standing, value


def reported_versions(
    node_ids: Iterable[int] | QuerySet[Any],
    *,
    stale_after_s: float | None = None,
    components: Collection[str] | None = None,
) -> dict[int, dict[str, Reported]]:
    """Node id to component id to what the node's reports say of it.

    Where several kinds of evidence state the same component, engine.statements decides which of them counts.
    node_ids may be a subquery. components: only these; None: all. Three queries, however many nodes; nodes that say
    the same come as one row.
    """
    ids = node_ids if isinstance(node_ids, QuerySet) else list(node_ids)
    seen_at: dict[str, dict[int, datetime]] = defaultdict(dict)
    reports = NodeReport.objects.filter(node_id__in=ids)
    for node_id, kind, at in reports.values_list("node_id", "kind", "reported_at"):
        seen_at[kind][node_id] = at
    facts = NodeFact.objects.filter(node_id__in=ids, until__isnull=True).order_by()
    if components is not None:
        facts = facts.filter(component__in=components)
    sides: dict[str, dict[str, dict[str, _Side]]] = defaultdict(
        lambda: defaultdict(lambda: defaultdict(dict))
    )
    rows = facts.values_list("component", "kind", "standing", "value").annotate(nodes=_Joined("node_id"))
    for name, kind, standing, value, joined in sorted(rows):
        _add(sides[name][kind][standing], value, joined)
    found: dict[int, dict[str, Reported]] = defaultdict(dict)
    contested = [name for name, kinds in sides.items() if len(kinds) > 1]
    for name, kinds in sides.items():
        if len(kinds) == 1:
            ((kind, by_standing),) = kinds.items()
            _take(found, name, by_standing, seen_at.get(kind, {}))
    relevant_s = settings.STALE_AFTER_S if stale_after_s is None else stale_after_s
    for (node_id, name), statements in _statements(facts.filter(component__in=contested), seen_at).items():
        found[node_id][name] = reported_from(component(name), statements, stale_after_s=relevant_s)
    return dict(found)


def stated(
    node_ids: QuerySet[Any] | Collection[int], *, components: Collection[str]
) -> dict[int, frozenset[Said]]:
    """Node id to all that any of its newest reports says of these components, of whichever kind and age it is."""
    facts = NodeFact.objects.filter(node_id__in=node_ids, until__isnull=True, component__in=components)
    rows = facts.order_by().values_list("component", "standing", "value").annotate(nodes=_Joined("node_id"))
    found: dict[int, set[Said]] = defaultdict(set)
    for name, standing, value, joined in rows:
        for node_id in map(int, joined.split(",")):
            found[node_id].add((name, standing, value))
    return {node_id: frozenset(said) for node_id, said in found.items()}


def _add(side: _Side, value: str, joined: str) -> None:
    alone = (value,)
    for node_id in map(int, joined.split(",")):
        held = side.get(node_id)
        side[node_id] = alone if held is None else (*held, value)


def _take(
    found: dict[int, dict[str, Reported]],
    name: str,
    by_standing: dict[str, _Side],
    seen_at: dict[int, datetime],
) -> None:
    """A component that one kind alone states: nothing to weigh. A report that came in between is left for later."""
    loaded = by_standing.get(Standing.LOADED.value, {})
    declared = by_standing.get(Standing.DECLARED.value, {})
    for node_id in (loaded.keys() | declared.keys()) & seen_at.keys():
        found[node_id][name] = Reported(
            loaded=loaded.get(node_id, ()), declared=declared.get(node_id, ()), seen_at=seen_at[node_id]
        )


def _statements(
    facts: QuerySet[NodeFact], seen_at: dict[str, dict[int, datetime]]
) -> dict[tuple[int, str], list[Statement]]:
    said: dict[tuple[int, str], dict[tuple[str, str], list[tuple[str, datetime]]]] = defaultdict(dict)
    rows = facts.values_list("node_id", "kind", "component", "standing", "value", "since")
    for node_id, kind, name, standing, value, since in rows:
        if node_id not in seen_at.get(kind, {}):  # its first report came in between
            continue
        said[node_id, name].setdefault((kind, standing), []).append((value, since))
    return {
        (node_id, name): [
            Statement(
                kind=kind,
                standing=Standing(standing),
                values=tuple(sorted(value for value, _since in held)),
                since=max(since for _value, since in held),
                seen_at=seen_at[kind][node_id],
            )
            for (kind, standing), held in by_kind.items()
        ]
        for (node_id, name), by_kind in said.items()
    }


def reported_by_domain(domain: Domain) -> tuple[list[Node], list[Report]]:
    """The domain's nodes in use, and their reports; a node that never reported has an empty one."""
    members = Node.objects.in_use().under(domain)
    versions = reported_versions(
        members.order_by().values("pk"), stale_after_s=policy_of(domain.cluster).stale_after_s
    )
    nodes = list(members.order_by("index", "name"))
    models: dict[int, set[str]] = defaultdict(set)
    cards = Accelerator.objects.filter(node__in=members.order_by().values("pk")).exclude(model="").order_by()
    for node_id, model in cards.values_list("node_id", "model").distinct():
        models[node_id].add(model)
    reports = [
        Report(node=node.name, reported=versions.get(node.pk, {}), models=tuple(sorted(models[node.pk])))
        for node in nodes
    ]
    return nodes, reports


def report_marks(domain: Domain) -> list[tuple[str, str, str]]:
    """Node, kind and facts digest of every report that a check of the domain rests on, sorted."""
    rows = NodeReport.objects.filter(node__in=Node.objects.in_use().under(domain).order_by().values("pk"))
    return sorted(rows.order_by().values_list("node__name", "kind", "facts_digest"))


def observed_by_domain(domain: Domain, *, now: datetime) -> dict[str, Observed]:
    """Component to what most nodes of the domain run of it now."""
    _nodes, reports = reported_by_domain(domain)
    return observed_in(reports, now=now, stale_after_s=policy_of(domain.cluster).stale_after_s)


def facts_visible(actor: Actor) -> QuerySet[NodeFact]:
    """What nodes of clusters that the actor may read ever reported, newest first."""
    rows = NodeFact.objects.select_related("node__cluster").order_by("-since", "-id")
    scopes = actor.scope_ids(Right.READ)
    return rows if scopes is None else rows.filter(node__cluster__scope_id__in=scopes)


def report_digests(node_ids: Collection[int]) -> set[str]:
    """The evidence that rests beneath what these nodes report now."""
    return set(NodeReport.objects.filter(node_id__in=node_ids).order_by().values_list("sha256", flat=True))


def newest_reports(node: Node) -> list[NodeReport]:
    """The newest report of each kind about a node, newest first."""
    return list(NodeReport.objects.filter(node=node).order_by("-reported_at", "kind"))
