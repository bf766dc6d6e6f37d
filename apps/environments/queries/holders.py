"""Which nodes run a version, and which matrices ask for it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from django.db.models import Case, Count, IntegerField, QuerySet, TextField, Value, When
from django.db.models.functions import Cast

from apps.core.actor import Actor
from apps.environments.models import MatrixEntry, MatrixState, NodeFact
from apps.environments.queries.matrices import versions_visible
from apps.environments.queries.reports import facts_visible, reported_versions
from apps.fleet.models import Cluster, LifeCycle


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """A version of a component that nodes of a cluster report, and how many do."""

    cluster: Cluster
    component: str
    value: str
    nodes: int


def held_versions(actor: Actor, text: str, *, limit: int) -> list[Held]:
    """Versions that begin with the text and that nodes run or declare, those of most nodes first.

    Counted is what drift judges: where two kinds of reports differ, the one that goes before. As many queries for
    any number of nodes.
    """
    stated = _facts_now(actor).filter(value__istartswith=text).order_by()
    pairs = stated.values_list("component", "value").annotate(number=Count("pk"))
    wanted = {(component, value) for component, value, _n in pairs.order_by("-number")[:limit]}
    counted: Counter[tuple[int, str, str]] = Counter()
    clusters = dict(stated.values_list("node", "node__cluster")) if wanted else {}
    names = {component for component, _value in wanted}
    for node_id, reported in (
        reported_versions(stated.values("node"), components=names).items() if wanted else ()
    ):
        for component, said in reported.items():
            for value in {*said.loaded, *said.declared}:
                if (component, value) in wanted:
                    counted[clusters[node_id], component, value] += 1
    known = Cluster.objects.in_bulk({cluster_id for cluster_id, *_rest in counted})
    return [
        Held(cluster=known[cluster_id], component=component, value=value, nodes=nodes)
        for (cluster_id, component, value), nodes in sorted(
            counted.items(), key=lambda one: (-one[1], one[0])
        )
    ][:limit]


def nodes_running(actor: Actor, component: str, value: str, *, cluster: str = "") -> list[int]:
    """Ids of the nodes that run or declare a version of a component, by name. cluster: only of that slug."""
    stated = _facts_now(actor).filter(component=component, value=value)
    if cluster:
        stated = stated.filter(node__cluster__slug=cluster)
    reported = reported_versions(stated.order_by().values("node"), components=[component])
    names = dict(stated.order_by().values_list("node", "node__name"))
    running = [
        pk for pk, said in reported.items() if value in {*said[component].loaded, *said[component].declared}
    ]
    return sorted(running, key=lambda pk: names[pk])


def _facts_now(actor: Actor) -> QuerySet[NodeFact]:
    return facts_visible(actor).filter(until__isnull=True).exclude(node__life_cycle=LifeCycle.RETIRED)


def entries_asking(actor: Actor, text: str) -> QuerySet[MatrixEntry]:
    """Entries of matrices that name a version with the text in it: of those in force first, then newest."""
    rows = MatrixEntry.objects.filter(matrix_version__in=versions_visible(actor).order_by().values("pk"))
    in_force = Case(
        When(matrix_version__state=MatrixState.LOCKED, then=Value(0)),
        default=Value(1),
        output_field=IntegerField(),
    )
    return (
        rows.annotate(named=Cast("values", TextField()), place=in_force)
        .filter(named__icontains=text)
        .select_related("matrix_version__matrix__cluster", "matrix_version__matrix__domain")
        .order_by("place", "-matrix_version_id", "component")
    )
