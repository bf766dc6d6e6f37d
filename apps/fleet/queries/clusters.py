"""Which clusters somebody may see."""

from __future__ import annotations

from django.db.models import QuerySet

from apps.core.actor import Actor
from apps.core.errors import Missing
from apps.core.rights import Right
from apps.fleet.models import Cluster


def clusters_visible(actor: Actor) -> QuerySet[Cluster]:
    """Clusters that are not retired and that the actor may read, by name."""
    rows = Cluster.objects.filter(retired_at__isnull=True).select_related("scope")
    scopes = actor.scope_ids(Right.READ)
    return rows if scopes is None else rows.filter(scope_id__in=scopes)


def cluster_for(actor: Actor, slug: str, right: Right = Right.READ) -> Cluster:
    """One cluster by its slug. Raises Missing where it may not be seen, NotAllowed where the right is lacking."""
    cluster = Cluster.objects.select_related("scope").filter(slug=slug).first()
    if cluster is None or not actor.may(Right.READ, cluster.scope_id):
        raise Missing(f"there is no cluster {slug!r}, or you may not see it")
    actor.require(right, cluster.scope_id)
    return cluster


def cluster_of_scope(scope_id: int) -> Cluster:
    """The cluster that stands on a scope."""
    return Cluster.objects.get(scope_id=scope_id)
