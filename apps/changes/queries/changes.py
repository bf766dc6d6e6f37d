"""Changes: which there are, and which touch these nodes."""

from __future__ import annotations

import json
from collections.abc import Iterable

from django.db.models import Count, Exists, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.utils.translation import gettext as _

from apps.changes.engine.states import OPEN, UNDER_WAY
from apps.changes.models import Change, Snapshot, Target
from apps.core.actor import Actor
from apps.core.errors import Missing
from apps.core.rights import Right


def changes_visible(actor: Actor) -> QuerySet[Change]:
    """Changes of clusters that the actor may read, newest first, with people and places joined."""
    rows = Change.objects.select_related(
        "cluster",
        "domain",
        "requester",
        "last_editor",
        "executor",
        "reviewed_by",
        "reverses",
        "restores_version__matrix",
    )
    scopes = actor.scope_ids(Right.READ)
    return rows if scopes is None else rows.filter(cluster__scope_id__in=scopes)


def with_node_count(changes: QuerySet[Change]) -> QuerySet[Change]:
    """The changes with `node_count`: on how many nodes they have targets."""
    counted = (
        Target.objects.filter(change=OuterRef("pk"))
        .order_by()
        .values("change")
        .annotate(n=Count("node", distinct=True))
    )
    return changes.annotate(node_count=Coalesce(Subquery(counted.values("n")), 0))


def change_for(actor: Actor, change_id: int, right: Right = Right.READ) -> Change:
    """One change. Raises Missing, NotAllowed."""
    change = changes_visible(actor).filter(pk=change_id).first()
    if change is None:
        raise Missing(_("there is no such change, or you may not see it"))
    actor.require(right, change.cluster.scope_id)
    return change


def open_changes_on(node_ids: Iterable[int], *, under_way_only: bool = False) -> QuerySet[Change]:
    """Changes that are not over and touch any of these nodes."""
    states = UNDER_WAY if under_way_only else OPEN
    touching = Target.objects.filter(node_id__in=list(node_ids)).values("change")
    return Change.objects.filter(pk__in=touching, state__in=[state.value for state in states])


def is_changing(node: OuterRef) -> Exists:
    """Whether a change is under way on the node of an outer query, as a condition of it."""
    states = [state.value for state in UNDER_WAY]
    return Exists(Target.objects.filter(node_id=node, change__state__in=states).order_by())


def waiting_targets(node_ids: Iterable[int]) -> QuerySet[Target]:
    """Targets on these nodes of changes under way that are not reached yet, in stages that have begun."""
    return Target.objects.filter(
        node_id__in=list(node_ids),
        reached_at__isnull=True,
        change__state__in=[state.value for state in UNDER_WAY],
        stage__started_at__isnull=False,
    ).select_related("change", "stage", "node")


def snapshot_versions(snapshot: Snapshot) -> dict[str, dict[str, list[str]]]:
    """Node name to component to the versions that it ran, from the snapshot's exact text."""
    nodes: dict[str, dict[str, list[str]]] = json.loads(snapshot.body)["nodes"]
    return nodes
