"""Search over what people look for: names, versions and who has them, and symptoms of the knowledge."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from django.db.models import Q
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.http import urlencode
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from apps.catalogue.words import accelerator_name
from apps.changes.queries import changes_visible, targets_naming
from apps.core.actor import Actor
from apps.core.speech import said
from apps.core.status import sign_of
from apps.environments.queries import entries_asking, held_versions, matrices_visible
from apps.environments.words import components_called, label_of
from apps.fleet.models import Cluster, Domain
from apps.fleet.queries import cards_on, cluster_rows, domains_visible, nodes_visible, state_of
from apps.health.engine import knowledge
from apps.health.words import told_item
from apps.launches.queries import launches_visible, shown_states
from apps.planning.queries import plans_visible


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """One thing that was found: what it is, where it belongs, how it stands, and a word more."""

    label: str
    kind: str | Promise
    icon: str
    url: str
    place: str = ""
    state: str = ""
    note: str | Promise = ""

    @property
    def told(self) -> str:
        """All that stands behind the label, in one line."""
        state = str(sign_of(self.state).word) if self.state else ""
        return " · ".join(part for part in (str(self.kind), self.place, state) if part)


def search(actor: Actor, text: str, *, limit: int = 10) -> list[Hit]:
    """At most `limit` hits of each kind, for texts of two characters or more; kinds in a fixed order."""
    text = text.strip()
    if len(text) < 2:
        return []
    return [hit for find in _FINDERS for hit in find(actor, text, limit)]


def _clusters(actor: Actor, text: str, limit: int) -> Iterable[Hit]:
    rows = cluster_rows(actor).filter(Q(name__icontains=text) | Q(slug__icontains=text))
    for row in rows[:limit]:
        number = ngettext("%(number)s node", "%(number)s nodes", row.node_count) % {
            "number": f"{row.node_count:,}"
        }
        url = reverse("portal:cluster", args=[row.slug])
        yield Hit(
            label=row.name, kind=_("cluster"), icon="topology-star-3", url=url, place=row.slug, note=number
        )


def _domains(actor: Actor, text: str, limit: int) -> Iterable[Hit]:
    for row in domains_visible(actor).filter(name__icontains=text)[:limit]:
        url = reverse("fleet:topology", args=[row.cluster.slug]) + f"?domain={row.pk}"
        note = accelerator_name(row.accelerator_model)
        yield Hit(
            label=row.name, kind=_("domain"), icon="sitemap", url=url, place=row.cluster.name, note=note
        )


def _nodes(actor: Actor, text: str, limit: int) -> Iterable[Hit]:
    rows = nodes_visible(actor).filter(Q(name__icontains=text) | Q(serial__iexact=text)).order_by("name")
    nodes = list(rows[:limit])
    cards = cards_on(nodes)
    for row in nodes:
        number = cards.get(row.pk, 0)
        yield Hit(
            label=row.name,
            kind=_("node"),
            icon="server",
            url=reverse("fleet:node", args=[row.cluster.slug, row.pk]),
            place=_place(row.cluster, row.domain),
            state=state_of(row),
            note=ngettext("%(number)s accelerator", "%(number)s accelerators", number)
            % {"number": f"{number:,}"},
        )


def _matrices(actor: Actor, text: str, limit: int) -> Iterable[Hit]:
    rows = matrices_visible(actor).filter(name__icontains=text).prefetch_related("versions")
    for row in rows[:limit]:
        newest = next(iter(row.versions.all()), None)
        yield Hit(
            label=row.name,
            kind=_("matrix"),
            icon="stack-2",
            url=reverse("environments:matrix", args=[row.pk]),
            place=_place(row.cluster, row.domain),
            state=newest.state if newest else "",
            note=f"v{newest.number}" if newest else "",
        )


def _versions(actor: Actor, text: str, limit: int) -> Iterable[Hit]:
    """Versions that nodes report, each with how many do."""
    if not _is_version(text):
        return
    version, components = _version_of(text)
    for row in held_versions(actor, version, of=components, limit=limit):
        query = urlencode({"value": row.value, "cluster": row.cluster.slug})
        holders = reverse("environments:holders", args=[row.component]) + f"?{query}"
        number = ngettext("%(number)s node", "%(number)s nodes", row.nodes) % {"number": f"{row.nodes:,}"}
        yield Hit(
            label=f"{label_of(row.component)} {row.value}",
            kind=_("version"),
            icon="package",
            url=holders,
            place=row.cluster.name,
            note=number,
        )


def _asked_versions(actor: Actor, text: str, limit: int) -> Iterable[Hit]:
    """Matrices that ask for a version."""
    if not _is_version(text):
        return
    wanted, components = _version_of(text)
    for entry in entries_asking(actor, wanted, of=components)[:limit]:
        version = entry.matrix_version
        yield Hit(
            label=str(version),
            kind=_("matrix"),
            icon="stack-2",
            url=reverse("environments:version", args=[version.pk]),
            place=_place(version.matrix.cluster, version.matrix.domain),
            state=version.state,
            note=f"{label_of(entry.component)} {' | '.join(entry.values)}",
        )


def _version_of(text: str) -> tuple[str, list[str] | None]:
    """A version, and the components that are named before it, as in `GPU driver 570.86.15`; None: no one is."""
    name, _blank, version = text.rpartition(" ")
    called = components_called(name) if name.strip() else []
    return (version, called) if called else (text, None)


def _is_version(text: str) -> bool:
    return len(text) > 2 and any(character.isdigit() for character in text)


def _changes(actor: Actor, text: str, limit: int) -> Iterable[Hit]:
    number = text.lstrip("#")
    wanted = Q(title__icontains=text)
    if _is_version(text):
        version, components = _version_of(text)
        wanted |= Q(pk__in=targets_naming(version, of=components).values("change"))
    if number.isdecimal() and len(number) < 10:
        wanted |= Q(pk=int(number))
    for row in changes_visible(actor).filter(wanted)[:limit]:
        yield Hit(
            label=said(row.named),
            kind=_("change"),
            icon="git-compare",
            url=reverse("changes:change", args=[row.pk]),
            place=_place(row.cluster, row.domain),
            state=row.state,
            note=row.requester.name,
        )


def _launches(actor: Actor, text: str, limit: int) -> Iterable[Hit]:
    rows = list(launches_visible(actor).filter(title__icontains=text)[:limit])
    shown = shown_states(rows)
    for row in rows:
        yield Hit(
            label=row.title,
            kind=_("launch"),
            icon="rocket",
            url=reverse("launches:launch", args=[row.pk]),
            place=_place(row.cluster, row.domain),
            state=shown[row.pk],
            note=row.opened_by.name,
        )


def _plans(actor: Actor, text: str, limit: int) -> Iterable[Hit]:
    for row in plans_visible(actor).filter(name__icontains=text)[:limit]:
        yield Hit(
            label=row.name,
            kind=_("plan"),
            icon="scale",
            url=reverse("planning:plan", args=[row.pk]),
            place=row.scope.name,
            note=row.domain.name if row.domain else "",
        )


def _knowledge(_actor: Actor, text: str, limit: int) -> Iterable[Hit]:
    for item in knowledge.search(text)[:limit]:
        told = told_item(item)
        url = reverse("health:item", args=[item.id])
        yield Hit(
            label=told["title"], kind=_("symptom"), icon="book", url=url, note=told["causes"][0]["text"]
        )


def _place(cluster: Cluster, domain: Domain | None) -> str:
    return f"{cluster.name} · {domain.name}" if domain else cluster.name


_Finder = Callable[[Actor, str, int], Iterable[Hit]]
_FINDERS: tuple[_Finder, ...] = (
    _clusters,
    _domains,
    _nodes,
    _versions,
    _matrices,
    _asked_versions,
    _changes,
    _launches,
    _plans,
    _knowledge,
)
