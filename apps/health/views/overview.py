"""What is ill now."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from apps.core.pages import actor_of
from apps.health import queries


def overview(request: HttpRequest) -> HttpResponse:
    """Open faults."""
    actor = actor_of(request)
    return render(
        request,
        "health/overview.html",
        {"faults": queries.faults_visible(actor).filter(resolved_at__isnull=True)[:50]},
    )
