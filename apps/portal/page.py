"""What every page shows around its content: navigation, cluster switcher, running jobs."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.http import HttpRequest
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from apps.core.actor import Actor
from apps.core.rights import Right
from apps.fleet.models import Cluster
from apps.fleet.queries import clusters_visible
from apps.jobs import queries as jobs

_Item = tuple[str | Promise, str, str, Right]

# Name, address, icon, and the right without which it is not shown.
_NAVIGATION: tuple[tuple[str | Promise, tuple[_Item, ...]], ...] = (
    (
        "",
        (
            (_("Overview"), "portal:overview", "layout-dashboard", Right.READ),
            (_("Clusters"), "fleet:clusters", "topology-star-3", Right.READ),
        ),
    ),
    (
        _("Intent and state"),
        (
            (_("Environment"), "environments:overview", "stack-2", Right.READ),
            (_("Health"), "health:overview", "heartbeat", Right.READ),
            (_("Benchmarks"), "benchmarks:runs", "chart-line", Right.READ),
            (_("Plans"), "planning:plans", "scale", Right.READ),
            (_("Catalogue"), "catalogue:accelerators", "book", Right.READ),
        ),
    ),
    (
        _("Decisions"),
        (
            (_("Changes"), "changes:changes", "git-compare", Right.READ),
            (_("Launches"), "launches:launches", "rocket", Right.READ),
        ),
    ),
    (
        _("Record"),
        (
            (_("Evidence"), "evidence:receipts", "file-analytics", Right.READ),
            (_("Audit"), "audit:events", "history", Right.AUDIT),
            (_("Administration"), "accounts:people", "settings", Right.ADMIN),
        ),
    ),
)


def context(request: HttpRequest) -> dict[str, Any]:
    """Django's context processor for the page shell; nothing but figures for somebody who is not signed in.

    Kept with the request: a page that renders its table by itself asks twice.
    """
    if not hasattr(request, "page_shell"):
        request.page_shell = _shell(request)  # type: ignore[attr-defined]
    shell: dict[str, Any] = request.page_shell  # type: ignore[attr-defined]
    return shell


def _shell(request: HttpRequest) -> dict[str, Any]:
    shell: dict[str, Any] = {
        "product_version": settings.VERSION,
        "request_id": getattr(request, "request_id", "-"),
    }
    actor: Actor | None = getattr(request, "actor", None)
    if actor is None:
        return shell
    clusters = list(clusters_visible(actor))
    current = _current(request, clusters)
    return shell | {
        "navigation": _navigation(request, actor),
        "clusters": [_entry(cluster, current) for cluster in clusters],
        "current_cluster": current,
        "all_clusters_url": reverse("fleet:clusters"),
        "demo_slugs": {cluster.slug for cluster in clusters if cluster.is_demo},
        "all_demo": all(cluster.is_demo for cluster in clusters),
        "jobs_running": jobs.running_jobs(actor).count(),
        "search_text": request.GET.get("q", "") if request.path == reverse("portal:search") else "",
    }


def _current(request: HttpRequest, clusters: list[Cluster]) -> Cluster | None:
    """The cluster that the address names, by its path or by ?cluster=."""
    match = request.resolver_match
    slug = (match.kwargs.get("slug") if match else None) or request.GET.get("cluster", "")
    return next((cluster for cluster in clusters if cluster.slug == slug), None)


def _entry(cluster: Cluster, current: Cluster | None) -> dict[str, Any]:
    return {
        "name": cluster.name,
        "slug": cluster.slug,
        "url": reverse("portal:cluster", args=[cluster.slug]),
        "active": cluster == current,
        "demo": cluster.is_demo,
    }


def _navigation(request: HttpRequest, actor: Actor) -> list[dict[str, Any]]:
    held = {right for right in Right if actor.may_anywhere(right)}
    here = _best_match(request.path)
    groups = []
    for name, items in _NAVIGATION:
        shown = [
            {"name": word, "url": reverse(view), "icon": icon, "active": view == here}
            for word, view, icon, right in items
            if right in held
        ]
        if shown:
            groups.append({"name": name, "items": shown})
    return groups


def _best_match(path: str) -> str:
    """The entry whose address is the longest beginning of the path."""
    addresses = {reverse(view): view for _name, items in _NAVIGATION for _word, view, _icon, _right in items}
    overview = reverse("portal:overview")  # which every address begins with
    fitting = [one for one in addresses if path == one or (one != overview and path.startswith(one))]
    return addresses[max(fitting, key=len)] if fitting else ""
