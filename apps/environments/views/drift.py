"""The drift of a domain."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from apps.core.pages import actor_of
from apps.environments import queries
from apps.fleet.page import cluster_context


def drift(request: HttpRequest, pk: int) -> HttpResponse:
    """Who differs, and from what."""
    domain = queries.domain_for(actor_of(request), pk)
    check = queries.newest_check(domain)
    context = cluster_context(domain.cluster) | {"domain": domain, "check": check}
    return render(request, "environments/drift.html", context)
