"""Lists of what nodes are made of and held for, as far as an actor may see it."""

from __future__ import annotations

from typing import Any, TypeVar

from django.db.models import Model, QuerySet
from django.utils.translation import gettext as _

from apps.core.actor import Actor
from apps.core.errors import Missing
from apps.core.rights import Right
from apps.fleet.models import Accelerator, HardwareChange, Hold, Link, NodeAlias, Part, Switch

_M = TypeVar("_M", bound=Model)


def holds_visible(actor: Actor) -> QuerySet[Hold]:
    """Holds, active and past, newest first."""
    return _visible(actor, Hold.objects.select_related("node"), "node__cluster")


def aliases_visible(actor: Actor) -> QuerySet[NodeAlias]:
    rows = NodeAlias.objects.select_related("node", "cluster").order_by("pk")
    return _visible(actor, rows, "cluster")


def accelerators_visible(actor: Actor) -> QuerySet[Accelerator]:
    rows = Accelerator.objects.select_related("node", "sub_domain").order_by("pk")
    return _visible(actor, rows, "node__cluster")


def switches_visible(actor: Actor) -> QuerySet[Switch]:
    rows = Switch.objects.select_related("cluster", "domain").order_by("pk")
    return _visible(actor, rows, "cluster")


def links_visible(actor: Actor) -> QuerySet[Link]:
    """Links with both of their ends joined."""
    rows = Link.objects.select_related("upper", "accelerator__node", "node", "lower").order_by("pk")
    return _visible(actor, rows, "upper__cluster")


def hardware_changes_visible(actor: Actor) -> QuerySet[HardwareChange]:
    """Newest first."""
    return _visible(actor, HardwareChange.objects.select_related("node"), "node__cluster")


def parts_visible(actor: Actor) -> QuerySet[Part]:
    """Boards and cards outside of nodes, or back in one; newest first."""
    return _visible(actor, Part.objects.select_related("cluster", "node"), "cluster")


def part_for(actor: Actor, part_id: int, right: Right = Right.READ) -> Part:
    """One of them. Raises Missing, NotAllowed."""
    part = parts_visible(actor).filter(pk=part_id).first()
    if part is None:
        raise Missing(_("there is no such part, or you may not see it"))
    actor.require(right, part.cluster.scope_id)
    return part


def _visible(actor: Actor, rows: QuerySet[_M], cluster: str) -> QuerySet[_M]:
    scopes = actor.scope_ids(Right.READ)
    within: dict[str, Any] = {f"{cluster}__scope_id__in": scopes}
    return rows if scopes is None else rows.filter(**within)
