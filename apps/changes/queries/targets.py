"""Targets: what nodes are to report, what they report, and which of them do not (yet)."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Q, QuerySet, TextField
from django.db.models.functions import Cast

from apps.catalogue.engine.components import RuleKind, component
from apps.changes.models import Target
from apps.core.hostlist import fold
from apps.environments.engine.drift import Reported
from apps.environments.engine.rules import Outcome, entry_for, judge
from apps.environments.queries import reported_versions
from apps.fleet.models import LifeCycle


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """What some nodes of a change ran of a component before, and what they are to run.

    nodes, reached: how many of them there are, and how many have reported it since.
    """

    component: str
    before: str
    wanted: str
    nodes: int
    reached: int


def targets_naming(text: str, *, of: Collection[str] | None = None) -> QuerySet[Target]:
    """Targets with a version in them that holds the text: what a node is to run, or what it ran before.

    of: only of these components. Whoever may see them: to be joined with changes_visible.
    """
    rows = Target.objects.order_by() if of is None else Target.objects.order_by().filter(component__in=of)
    rows = rows.annotate(named=Cast("values", TextField()))
    return rows.filter(Q(named__icontains=text) | Q(before__icontains=text))


def differences_of(change_ids: Iterable[int]) -> dict[int, list[Difference]]:
    """The differences of each of these changes, in one query."""
    rows = (
        Target.objects.filter(change_id__in=list(change_ids))
        .values("change_id", "component", "before", "values")
        .annotate(nodes=Count("pk"), reached=Count("reached_at"))
        .order_by("component", "-nodes", "before")
    )
    found: dict[int, list[Difference]] = defaultdict(list)
    for row in rows:
        found[row["change_id"]].append(
            Difference(
                component=row["component"],
                before=row["before"],
                wanted=" | ".join(row["values"]),
                nodes=row["nodes"],
                reached=row["reached"],
            )
        )
    return dict(found)


def differences_now(change_id: int) -> list[Difference]:
    """The differences of one change, of which `reached` counts the nodes that report what is wanted at this moment."""
    targets = list(Target.objects.filter(change_id=change_id).select_related("node"))
    versions = reported_versions({target.node_id for target in targets})
    nodes: Counter[tuple[str, str, str]] = Counter()
    there: Counter[tuple[str, str, str]] = Counter()
    for target in targets:
        key = (target.component, target.before, " | ".join(target.values))
        nodes[key] += 1
        there[key] += reaches(target, versions.get(target.node_id, {}))
    rows = [
        Difference(
            component=part, before=before, wanted=wanted, nodes=count, reached=there[part, before, wanted]
        )
        for (part, before, wanted), count in nodes.items()
    ]
    return sorted(rows, key=lambda row: (row.component, -row.nodes, row.before))


def run_already(node_ids: Collection[int], wanted: Mapping[str, Sequence[str]]) -> bool:
    """Whether every one of these nodes reports one of the wanted versions of each component: nothing is to change."""
    targets = [Target(component=part, values=list(values)) for part, values in wanted.items()]
    versions = reported_versions(set(node_ids))
    return bool(node_ids and targets) and all(
        reaches(target, versions.get(node_id, {})) for node_id in node_ids for target in targets
    )


def wanted_in(targets: QuerySet[Target]) -> list[dict[str, Any]]:
    """Targets by component and versions, each with its nodes as one host list: short for people and automation."""
    groups: dict[tuple[str, tuple[str, ...]], list[str]] = defaultdict(list)
    rows = targets.order_by("node__index", "node__name").values_list("component", "values", "node__name")
    for name, values, node in rows:
        groups[name, tuple(values)].append(node)
    return [
        {"component": name, "values": list(values), "nodes": fold(nodes), "count": len(nodes)}
        for (name, values), nodes in sorted(groups.items())
    ]


def reaches(target: Target, reported: dict[str, Reported]) -> bool:
    """Whether a node's report is what the target wants."""
    said = reported.get(target.component)
    if said is None:
        return False
    entry = entry_for(component(target.component), *target.values, rule=RuleKind.ONE_OF)
    return judge(entry, said.values).outcome is Outcome.MATCH


def not_reaching(targets: QuerySet[Target]) -> dict[int, list[str]]:
    """Change id to the names of nodes that do not report their targets now, whatever they reported before.

    Retired nodes report nothing any more and are left out. Three queries, however many targets.
    """
    held = list(targets.exclude(node__life_cycle=LifeCycle.RETIRED).select_related("node"))
    versions = reported_versions({target.node_id for target in held})
    missing: dict[int, set[str]] = defaultdict(set)
    for target in held:
        if not reaches(target, versions.get(target.node_id, {})):
            missing[target.change_id].add(target.node.name)
    return {change_id: sorted(names) for change_id, names in missing.items()}
