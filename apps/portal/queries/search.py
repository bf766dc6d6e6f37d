"""Search over what people look for by name: the fleet, intent, decisions, plans, and symptoms of the knowledge."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from django.db.models import Q
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from apps.changes.queries import changes_visible
from apps.core.actor import Actor
from apps.environments.queries import matrices_visible
from apps.fleet.models import Domain
from apps.fleet.queries import clusters_visible, nodes_visible
from apps.health.engine import knowledge
from apps.health.words import told_item
from apps.launches.queries import launches_visible
from apps.planning.queries import plans_visible


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """One thing that was found."""

    label: str
    detail: str
    url: str
    icon: str
    kind: str | Promise


def search(actor: Actor, text: str, *, limit: int = 10) -> list[Hit]:
    """At most `limit` hits of each kind, for texts of two characters or more; kinds in a fixed order."""
    text = text.strip()
    if len(text) < 2:
        return []
    return [hit for find in _FINDERS for hit in find(actor, text, limit)]


def _clusters(actor: Actor, text: str, limit: int) -> Iterable[Hit]:
    rows = clusters_visible(actor).filter(Q(name__icontains=text) | Q(slug__icontains=text))
    for row in rows[:limit]:
        yield _hit(row.name, row.slug, "portal:cluster", [row.slug], "topology-star-3", _("cluster"))


def _domains(actor: Actor, text: str, limit: int) -> Iterable[Hit]:
    rows = Domain.objects.filter(cluster__in=clusters_visible(actor), name__icontains=text)
    for row in rows.select_related("cluster")[:limit]:
        url = reverse("fleet:topology", args=[row.cluster.slug]) + f"?domain={row.pk}"
        yield Hit(label=row.name, detail=row.cluster.name, url=url, icon="sitemap", kind=_("domain"))


def _nodes(actor: Actor, text: str, limit: int) -> Iterable[Hit]:
    rows = nodes_visible(actor).filter(Q(name__icontains=text) | Q(serial__iexact=text)).order_by("name")
    for row in rows[:limit]:
        yield _hit(row.name, row.cluster.name, "fleet:node", [row.cluster.slug, row.pk], "server", _("node"))


def _matrices(actor: Actor, text: str, limit: int) -> Iterable[Hit]:
    for row in matrices_visible(actor).filter(name__icontains=text)[:limit]:
        yield _hit(row.name, row.cluster.name, "environments:matrix", [row.pk], "stack-2", _("matrix"))


def _changes(actor: Actor, text: str, limit: int) -> Iterable[Hit]:
    number = text.lstrip("#")
    wanted = Q(title__icontains=text)
    if number.isdecimal() and len(number) < 10:
        wanted |= Q(pk=int(number))
    for row in changes_visible(actor).filter(wanted)[:limit]:
        yield _hit(str(row), row.domain.name, "changes:change", [row.pk], "git-compare", _("change"))


def _launches(actor: Actor, text: str, limit: int) -> Iterable[Hit]:
    for row in launches_visible(actor).filter(title__icontains=text)[:limit]:
        yield _hit(row.title, row.domain.name, "launches:launch", [row.pk], "rocket", _("launch"))


def _plans(actor: Actor, text: str, limit: int) -> Iterable[Hit]:
    for row in plans_visible(actor).filter(name__icontains=text)[:limit]:
        yield _hit(row.name, row.scope.name, "planning:plan", [row.pk], "scale", _("plan"))


def _knowledge(_actor: Actor, text: str, limit: int) -> Iterable[Hit]:
    for item in knowledge.search(text)[:limit]:
        told = told_item(item)
        cause = told["causes"][0]["text"]
        yield _hit(told["title"], cause, "health:item", [item.id], "book", _("symptom"))


def _hit(label: str, detail: str, view: str, arguments: list[Any], icon: str, kind: str | Promise) -> Hit:
    return Hit(label=label, detail=detail, url=reverse(view, args=arguments), icon=icon, kind=kind)


_Finder = Callable[[Actor, str, int], Iterable[Hit]]
_FINDERS: tuple[_Finder, ...] = (
    _clusters,
    _domains,
    _nodes,
    _matrices,
    _changes,
    _launches,
    _plans,
    _knowledge,
)
