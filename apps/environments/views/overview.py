"""Where all domains stand, and those of one cluster."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from apps.core.pages import actor_of
from apps.core.rights import Right
from apps.environments import queries
from apps.fleet.page import cluster_context
from apps.fleet.queries import cluster_for


def overview(request: HttpRequest) -> HttpResponse:
    """Every domain: its matrix in force, its last known-good, and whether its nodes match."""
    actor = actor_of(request)
    context = {
        "standings": queries.domain_standings(queries.domains_visible(actor)),
        "may_draft": actor.may_anywhere(Right.OPERATE),
    }
    return render(request, "environments/overview.html", context)


def cluster(request: HttpRequest, slug: str) -> HttpResponse:
    """The same for one cluster, with its matrices."""
    actor = actor_of(request)
    row = cluster_for(actor, slug)
    domains = queries.domains_visible(actor).filter(cluster=row)
    context = cluster_context(row) | {
        "cluster": row,
        "standings": queries.domain_standings(domains),
        "matrices": queries.matrices_visible(actor).filter(cluster=row),
        "may_draft": actor.may(Right.OPERATE, row.scope_id),
    }
    return render(request, "environments/cluster.html", context)
