"""Pages that join several apps: overview, one cluster, search."""

from __future__ import annotations

from collections import Counter

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render

from apps.audit import queries as trail
from apps.core.pages import actor_of
from apps.core.paging import page_of
from apps.core.rights import Right
from apps.fleet.page import cluster_context
from apps.fleet.queries import cluster_for, clusters_visible
from apps.portal.queries import cluster_summary, decided, fleet_figures, needs_me
from apps.portal.queries import search as finding

_HITS = 50  # of each kind
_DOMAINS = 8  # of each cluster, the least fit first; the rest is a link away


def overview(request: HttpRequest) -> HttpResponse:
    """What needs me now, and whether each cluster is fit to train."""
    actor = actor_of(request)
    rows = list(clusters_visible(actor))
    summaries = cluster_summary.domain_summaries(rows)
    context = {
        "waiting": needs_me.waiting_for(actor),
        "cluster_cards": [(row, summaries[row.pk][:_DOMAINS], len(summaries[row.pk])) for row in rows],
        "figures": fleet_figures.fleet_figures(actor),
        "finding": trail.last_finding() if actor.may(Right.AUDIT, None) else None,
        "decided": decided.latest_decisions(actor),
    }
    return render(request, "portal/overview.html", context)


def cluster(request: HttpRequest, slug: str) -> HttpResponse:
    """One cluster: is it fit to train?"""
    row = cluster_for(actor_of(request), slug)
    summaries = cluster_summary.domain_summaries([row])[row.pk]
    page = page_of(request, summaries)
    context = cluster_context(row) | {
        "cluster": row,
        "page": page,
        "domains": page.object_list,
        "totals": cluster_summary.totals_of(summaries),
        "in_no_domain": cluster_summary.nodes_in_no_domain(row),
        "changes": cluster_summary.open_changes(row),
        "launches": cluster_summary.open_launches(row),
    }
    return render(request, "portal/cluster.html", context)


def search(request: HttpRequest) -> HttpResponse:
    """Everything that bears a name like the text."""
    text = request.GET.get("q", "")
    hits = finding.search(actor_of(request), text, limit=_HITS)
    kinds = Counter((hit.icon, str(hit.kind)) for hit in hits)
    context = {
        "hits": hits,
        "text": text,
        "kinds": kinds.items(),
        "cut": [kind for (_icon, kind), number in kinds.items() if number == _HITS],
    }
    return render(request, "portal/search.html", context)


def palette(request: HttpRequest) -> JsonResponse:
    """The same for the palette, a few of each kind."""
    hits = finding.search(actor_of(request), request.GET.get("q", ""), limit=5)
    rows = [{"label": h.label, "url": h.url, "icon": h.icon, "kind": h.told} for h in hits]
    return JsonResponse({"results": rows})
