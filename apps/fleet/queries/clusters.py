"""Which clusters somebody may see."""

from __future__ import annotations

from typing import Any

from django.db.models import Count, F, OuterRef, QuerySet, Subquery, Value
from django.db.models.functions import Coalesce
from django.utils.translation import gettext as _

from apps.accounts.models import Scope
from apps.core.actor import Actor
from apps.core.errors import Missing
from apps.core.prepared import Prepared
from apps.core.rights import Right
from apps.core.texts import say
from apps.fleet.engine.node_state import NodeState
from apps.fleet.models import Accelerator, Cluster, Domain, LifeCycle, Node
from apps.fleet.queries.holds import in_state

_CLUSTER_OF_SLUG = Prepared(
    lambda slug: Cluster.objects.filter(slug=slug).annotate(
        scope_slug=F("scope__slug"), scope_name=F("scope__name")
    )
)


def clusters_visible(actor: Actor) -> QuerySet[Cluster]:
    """Clusters that are not retired and that the actor may read, by name."""
    rows = Cluster.objects.filter(retired_at__isnull=True).select_related("scope")
    scopes = actor.scope_ids(Right.READ)
    return rows if scopes is None else rows.filter(scope_id__in=scopes)


def cluster_for(actor: Actor, slug: str, right: Right = Right.READ) -> Cluster:
    """One cluster by its slug. Raises Missing where it may not be seen, NotAllowed where the right is lacking."""
    cluster = next(iter(_CLUSTER_OF_SLUG.objects(slug=slug)), None)
    if cluster is None or not actor.may(Right.READ, cluster.scope_id):
        raise Missing(say("there is no cluster %(slug)s, or you may not see it", slug=f"{slug!r}"))
    actor.require(right, cluster.scope_id)
    row = [cluster.scope_id, cluster.scope_slug, cluster.scope_name]
    cluster.scope = Scope.from_db(None, ["id", "slug", "name"], row)
    return cluster


def cluster_of_scope(scope_id: int) -> Cluster:
    """The cluster that stands on a scope."""
    return Cluster.objects.get(scope_id=scope_id)


def cluster_rows(actor: Actor) -> QuerySet[Cluster]:
    """The clusters one may see, each with `domain_count`, `node_count`, `accelerator_count`, `quarantined`, `faulty`.

    The last two are of nodes: those under such a hold, and those with a fault that nobody holds for it.
    """
    nodes = Node.objects.in_use().filter(cluster=OuterRef("pk"))
    cards = Accelerator.objects.filter(node__cluster=OuterRef("pk")).exclude(
        node__life_cycle=LifeCycle.RETIRED
    )
    domains = Domain.objects.filter(cluster=OuterRef("pk"), retired_at__isnull=True)
    return clusters_visible(actor).annotate(
        domain_count=_count(domains),
        node_count=_count(nodes),
        accelerator_count=_count(cards),
        quarantined=_count(nodes.filter(in_state(NodeState.QUARANTINED))),
        faulty=_count(nodes.filter(in_state(NodeState.FAULTY))),
    )


def domains_of(cluster: Cluster) -> QuerySet[Domain]:
    """The domains of a cluster that are not retired."""
    return Domain.objects.filter(cluster=cluster, retired_at__isnull=True).select_related("cluster")


def domains_visible(actor: Actor) -> QuerySet[Domain]:
    """The domains of all clusters that one may see, without what is retired."""
    rows = Domain.objects.filter(retired_at__isnull=True, cluster__in=clusters_visible(actor))
    return rows.select_related("cluster").prefetch_related("sub_domains").order_by("pk")


def domain_for(actor: Actor, domain_id: int, right: Right = Right.READ) -> Domain:
    """One domain. Raises Missing, NotAllowed."""
    domain = domains_visible(actor).filter(pk=domain_id).first()
    if domain is None:
        raise Missing(_("there is no such domain, or you may not see it"))
    actor.require(right, domain.cluster.scope_id)
    return domain


def _count(rows: QuerySet[Any]) -> Coalesce:
    counted = rows.order_by().annotate(one=Value(1)).values("one").annotate(number=Count("pk"))
    return Coalesce(Subquery(counted.values("number")), 0)
