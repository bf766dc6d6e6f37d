"""Which nodes run a version, and which matrices ask for it."""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import Case, Count, IntegerField, QuerySet, TextField, Value, When
from django.db.models.functions import Cast

from apps.core.actor import Actor
from apps.environments.models import MatrixEntry, MatrixState, NodeFact
from apps.environments.queries.matrices import versions_visible
from apps.environments.queries.reports import facts_visible
from apps.fleet.models import Cluster, LifeCycle


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """A version of a component that nodes of a cluster report, and how many do."""

    cluster: Cluster
    component: str
    value: str
    nodes: int


def held_versions(actor: Actor, text: str, *, limit: int) -> list[Held]:
    """Versions that begin with the text and that nodes report now, those of most nodes first. Two queries."""
    rows = (
        facts_now(actor)
        .filter(value__istartswith=text)
        .order_by()
        .values("node__cluster", "component", "value")
        .annotate(nodes=Count("node", distinct=True))
        .order_by("-nodes", "component", "value", "node__cluster")[:limit]
    )
    found = list(rows)
    clusters = Cluster.objects.in_bulk({row["node__cluster"] for row in found})
    return [
        Held(
            cluster=clusters[row["node__cluster"]],
            component=row["component"],
            value=row["value"],
            nodes=row["nodes"],
        )
        for row in found
    ]


def facts_now(actor: Actor) -> QuerySet[NodeFact]:
    """What nodes that are in use report now, where the actor may read."""
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
