"""Pages of nodes: the list of a cluster, and one node."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django_tables2 import RequestConfig

from apps.core.filtering import refuse_unknown
from apps.core.pages import actor_of
from apps.core.paging import PAGE_SIZES
from apps.core.rights import Right
from apps.fleet import queries
from apps.fleet.filters import NodeFilter
from apps.fleet.page import cluster_context
from apps.fleet.tables import NodeTable


def nodes(request: HttpRequest, slug: str) -> HttpResponse:
    """The nodes of a cluster."""
    actor = actor_of(request)
    cluster = queries.cluster_for(actor, slug)
    refuse_unknown(NodeFilter, request.GET)
    found = NodeFilter(request.GET, queryset=queries.node_rows(actor, cluster), cluster=cluster)
    table = NodeTable(found.qs)
    RequestConfig(request, paginate={"per_page": _page_size(request)}).configure(table)
    context = cluster_context(cluster) | {
        "cluster": cluster,
        "table": table,
        "filter": found,
        "filtered": any(request.GET.get(name) for name in NodeFilter.get_filters()),
        "may_operate": actor.may(Right.OPERATE, cluster.scope_id),
    }
    return render(request, "fleet/nodes.html", context)


def _page_size(request: HttpRequest) -> int:
    raw = request.GET.get("per_page", "")
    return int(raw) if raw.isdecimal() and int(raw) in PAGE_SIZES else 50


def node(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """One node: what it is, what it is held for, what happened to its parts."""
    actor = actor_of(request)
    cluster = queries.cluster_for(actor, slug)
    page = queries.node_page(actor, cluster, pk)
    context = cluster_context(cluster) | {
        "cluster": cluster,
        "page": page,
        "node": page.node,
        "may_operate": actor.may(Right.OPERATE, cluster.scope_id),
    }
    return render(request, "fleet/node.html", context)
