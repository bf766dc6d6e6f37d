"""Nodes: which there are, and which one a report means."""

from __future__ import annotations

from collections.abc import Collection, Container, Iterable, Sequence
from typing import Any

from django.db.models import Count, OuterRef, Prefetch, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.utils.translation import gettext as _

from apps.core.actor import Actor
from apps.core.errors import FieldError, Invalid, Missing
from apps.core.hostlist import HostListError, expand
from apps.core.rights import Right
from apps.core.texts import joined, say
from apps.fleet.models import Accelerator, Cluster, Hold, Node, NodeAlias, NodeQuerySet

MOST_NAMED = 20_000  # nodes that one list may name


def nodes_visible(actor: Actor) -> NodeQuerySet:
    """Nodes of clusters that the actor may read, with domain, cluster and active holds joined."""
    rows = with_active_holds(Node.objects.select_related("cluster", "domain"))
    scopes = actor.scope_ids(Right.READ)
    return rows if scopes is None else rows.filter(cluster__scope_id__in=scopes)


def node_rows(actor: Actor, cluster: Cluster) -> NodeQuerySet:
    """The nodes of a cluster for its list, in its order, with nothing but their ids: `listed` gives the rest.

    Ten thousand whole rows take the database twice as long to sort as their ids do.
    """
    rows = nodes_visible(actor).filter(cluster=cluster).order_by("domain__name", "index", "name")
    return rows.select_related(None).prefetch_related(None).only("pk")


def listed(nodes: Iterable[Node]) -> list[Node]:
    """These nodes in their order, with domain, cluster and active holds joined."""
    ids = [node.pk for node in nodes]
    found = with_active_holds(Node.objects.select_related("cluster", "domain")).in_bulk(ids)
    return [found[one] for one in ids if one in found]


def cards_on(nodes: Iterable[Node]) -> dict[int, int]:
    """How many accelerators each of these nodes has; those without any are left out."""
    rows = Accelerator.objects.filter(node__in=[node.pk for node in nodes]).order_by().values_list("node_id")
    return dict(rows.annotate(number=Count("pk")))


def models_on(node_ids: Collection[int] | QuerySet[Any]) -> dict[int, dict[str, int]]:
    """Node id to how many accelerators of which model it has ("" where that is not on record).

    node_ids may be a subquery.
    """
    found: dict[int, dict[str, int]] = {}
    rows = Accelerator.objects.filter(node__in=node_ids).order_by().values_list("node_id", "model")
    for node_id, model, number in rows.annotate(number=Count("pk")):
        found.setdefault(node_id, {})[model] = number
    return found


def counted(nodes: NodeQuerySet) -> NodeQuerySet:
    """The nodes, each with its `accelerator_count`."""
    cards = Accelerator.objects.filter(node=OuterRef("pk")).order_by().values("node")
    number = Subquery(cards.annotate(number=Count("pk")).values("number"))
    return nodes.annotate(accelerator_count=Coalesce(number, 0))


def missing_node() -> Missing:
    """The error for a node that is not there or must not be seen."""
    return Missing(_("there is no such node, or you may not see it"))


def with_active_holds(nodes: NodeQuerySet) -> NodeQuerySet:
    """The nodes with their active holds joined as `active_holds`, in one more query however many there are."""
    active = Hold.objects.filter(released_at__isnull=True)
    return nodes.prefetch_related(Prefetch("holds", active, to_attr="active_holds"))


def node_for(actor: Actor, node_id: int, right: Right = Right.READ) -> Node:
    """One node. Raises Missing, NotAllowed."""
    node = nodes_visible(actor).filter(pk=node_id).first()
    if node is None:
        raise missing_node()
    actor.require(right, node.cluster.scope_id)
    return node


def node_by_reported_name(cluster: Cluster, name: str) -> Node | None:
    """The node that a report means: by name, by alias, or by the first part of a full host name.

    Case does not matter. A short name serves only where exactly one node bears it.
    """
    name = name.strip().rstrip(".")
    if not name:
        return None
    nodes = Node.objects.filter(cluster=cluster).select_related("cluster", "domain")
    if node := nodes.filter(name__iexact=name).first():
        return node
    if alias := NodeAlias.objects.filter(cluster=cluster, name__iexact=name).select_related("node").first():
        return nodes.get(pk=alias.node_id)
    short = name.partition(".")[0]
    found = list(nodes.filter(name__iexact=short)[:2]) or list(
        nodes.filter(name__istartswith=f"{short}.")[:2]
    )
    return found[0] if len(found) == 1 else None


def names_meaning(node: Node, names: Iterable[str]) -> frozenset[str]:
    """Those of many names by which a report means the node, as node_by_reported_name tells.

    Looked up are its aliases and names that begin like its own; no other can mean it.
    """
    aliases = {name.lower() for name in NodeAlias.objects.filter(node=node).values_list("name", flat=True)}
    short = node.name.lower().partition(".")[0]
    bare = {name: name.strip().rstrip(".").lower() for name in names}
    alike = (name for name, one in bare.items() if one.partition(".")[0] == short or one in aliases)
    return frozenset(name for name in alike if node_by_reported_name(node.cluster, name) == node)


def node_ids_named(cluster: Cluster, text: str) -> list[int]:
    """Ids of the nodes of a node list such as sn[01-18], by their names or aliases, in its order; of none, nothing.

    Raises Invalid that says where the list is wrong, or lists every name that is unknown or given twice.
    """
    try:
        names = expand(text, limit=MOST_NAMED)
    except HostListError as error:
        raise Invalid(error.message, errors=[FieldError(pointer="/nodes", message=error.message)]) from error
    ids = dict(Node.objects.filter(cluster=cluster, name__in=names).values_list("name", "pk"))
    if rest := [name for name in names if name not in ids]:
        aliases = NodeAlias.objects.filter(cluster=cluster, name__in=rest)
        ids |= dict(aliases.values_list("name", "node_id"))
    _require_each_once(cluster, names, known=ids)
    return [ids[name] for name in names]


def _require_each_once(cluster: Cluster, names: Sequence[str], *, known: Container[str]) -> None:
    errors, seen = [], set()
    for place, name in enumerate(names):
        if name not in known:
            said = ("unknown_node", say("%(name)s: no such node in %(slug)s", name=name, slug=cluster.slug))
        elif name in seen:
            said = ("given_twice", say("%(name)s: given twice", name=name))
        else:
            seen.add(name)
            continue
        errors.append(FieldError(pointer=f"/nodes/{place}", code=said[0], message=said[1]))
    if errors:
        raise Invalid(joined("; ", [error.message for error in errors[:5]]), code="nodes", errors=errors)
