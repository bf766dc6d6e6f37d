"""The topology page: where is the trouble?"""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from apps.core.pages import actor_of
from apps.core.rights import Right
from apps.fleet import queries
from apps.fleet.page import cluster_context


def topology(request: HttpRequest, slug: str) -> HttpResponse:
    """The domains of a cluster, and the one that ?domain= names, down to its accelerators."""
    actor = actor_of(request)
    cluster = queries.cluster_for(actor, slug)
    context = cluster_context(cluster) | {
        "cluster": cluster,
        "domains": queries.domains_of(cluster),
        "may_operate": actor.may(Right.OPERATE, cluster.scope_id),
    }
    return render(request, "fleet/topology.html", context)
