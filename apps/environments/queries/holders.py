"""Which nodes run a version, and which matrices ask for it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection
from dataclasses import dataclass
from typing import cast

from django.db.models import Case, Count, Exists, IntegerField, OuterRef, Q, QuerySet, TextField, Value, When
from django.db.models.functions import Cast

from apps.core.actor import Actor
from apps.environments.models import MatrixEntry, MatrixState, NodeFact
from apps.environments.queries.matrices import versions_visible
from apps.environments.queries.reports import facts_visible, reported_versions
from apps.fleet.models import Cluster, LifeCycle, Node

_Key = tuple[int, str, str]  # cluster, component, version
_KEY = ("node__cluster", "component", "value")


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """A version of a component that nodes of a cluster report, and how many do."""

    cluster: Cluster
    component: str
    value: str
    nodes: int


def held_versions(actor: Actor, text: str, *, of: Collection[str] | None = None, limit: int) -> list[Held]:
    """Versions of which a word begins with the text and that nodes run or declare, those of most nodes first.

    of: only of these components.

    Counted is what drift judges: where the reports of a node differ, the one that goes before. As many queries for
    any number of nodes.
    """
    stated = _facts_now(actor).filter(Q(value__istartswith=text) | Q(value__icontains=f" {text}"))
    if of is not None:
        stated = stated.filter(component__in=of)
    counted: Counter[_Key] = Counter()
    agreed = stated.filter(~Exists(_otherwise())).order_by().values_list(*_KEY)
    for *key, number in agreed.annotate(number=Count("node", distinct=True)):
        counted[cast(_Key, tuple(key))] = number
    for keys in _decided(stated).values():
        counted.update(keys)
    clusters = Cluster.objects.in_bulk({cluster_id for cluster_id, *_rest in counted})
    return [
        Held(cluster=clusters[cluster_id], component=component, value=value, nodes=nodes)
        for (cluster_id, component, value), nodes in sorted(
            counted.items(), key=lambda one: (-one[1], one[0])
        )
    ][:limit]


def nodes_running(actor: Actor, component: str, value: str, *, cluster: str = "") -> list[int]:
    """Ids of the nodes that run or declare a version of a component, by name. cluster: only of that slug."""
    stated = _facts_now(actor).filter(component=component, value=value)
    if cluster:
        stated = stated.filter(node__cluster__slug=cluster)
    agreed = stated.filter(~Exists(_otherwise())).order_by().values_list("node", flat=True)
    running = {*agreed, *_decided(stated)}
    names = Node.objects.filter(pk__in=stated.order_by().values("node")).order_by("name")
    return [pk for pk in names.values_list("pk", flat=True) if pk in running]


def _decided(stated: QuerySet[NodeFact]) -> dict[int, set[_Key]]:
    """Of nodes whose reports differ: what of that which is stated counts."""
    rows = list(stated.filter(Exists(_otherwise())).order_by().values_list("node", *_KEY))
    reported = (
        reported_versions({row[0] for row in rows}, components={row[2] for row in rows}) if rows else {}
    )
    found: dict[int, set[_Key]] = defaultdict(set)
    for node_id, cluster_id, component, value in rows:
        said = reported.get(node_id, {}).get(component)  # None: a newer report came between the queries
        if said is not None and value in {*said.loaded, *said.declared}:
            found[node_id].add((cluster_id, component, value))
    return found


def _otherwise() -> QuerySet[NodeFact]:
    """Whether reports of the node state another version of the component, too."""
    same = NodeFact.objects.filter(node=OuterRef("node"), component=OuterRef("component"), until__isnull=True)
    return same.exclude(value=OuterRef("value"))


def _facts_now(actor: Actor) -> QuerySet[NodeFact]:
    return facts_visible(actor).filter(until__isnull=True).exclude(node__life_cycle=LifeCycle.RETIRED)


def entries_asking(actor: Actor, text: str, *, of: Collection[str] | None = None) -> QuerySet[MatrixEntry]:
    """Entries of matrices that name a version with the text in it: of those in force first, then newest.

    of: only of these components.
    """
    rows = MatrixEntry.objects.filter(matrix_version__in=versions_visible(actor).order_by().values("pk"))
    if of is not None:
        rows = rows.filter(component__in=of)
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
