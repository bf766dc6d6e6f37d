"""Holds: nodes are kept for one thing at a time, and the database says so."""

from __future__ import annotations

from collections.abc import Iterable

from django.db import IntegrityError, transaction
from django.utils.translation import gettext as _

from apps.audit.services import decision, record
from apps.core import clock
from apps.core.actor import Actor, Via
from apps.core.errors import Conflict, FieldError, Invalid, Missing
from apps.core.reasons import require_reason
from apps.core.rights import Right, TokenScope
from apps.core.texts import joined, kept, say, word
from apps.fleet import queries
from apps.fleet.models import BY_HAND, Cluster, Hold, HoldKind, Node

_BY_HAND = "fleet.by_hand"


@decision
def take_holds(
    *, actor: Actor, node_ids: Iterable[int], kind: HoldKind, owner: str, reason: str, automatic: bool = False
) -> list[Hold]:
    """Keep nodes of one cluster for something, all of them or none.

    Raises Conflict that names the nodes that are held already, or quarantined where training is wanted.
    """
    nodes = list(Node.objects.filter(pk__in=list(node_ids)).select_related("cluster").order_by("pk"))
    cluster = _one_cluster(nodes)
    actor.require(Right.OPERATE, cluster.scope_id)
    if kind == HoldKind.TRAINING:
        _refuse_quarantined(nodes)
    now = clock.now()
    rows = [
        Hold(
            node=node,
            kind=kind,
            owner=owner,
            reason=reason[:300],
            reason_said=kept(reason) or None,
            by_id=actor.person_id if actor.via is not Via.SYSTEM else None,
            by_label=actor.label[:200],
            automatic=automatic,
            since=now,
        )
        for node in nodes
    ]
    try:
        with transaction.atomic():
            holds = Hold.objects.bulk_create(rows)
    except IntegrityError as error:
        raise Conflict(_in_the_way(nodes, kind), code="held") from error
    record(
        actor=actor,
        action=f"hold.{kind.value}.taken",
        on=cluster,
        scope_id=cluster.scope_id,
        reason=reason,
        after={"owner": owner, "nodes": [node.name for node in nodes]},
    )
    return holds


@decision
def hold_node(*, actor: Actor, node_id: int, kind: HoldKind, reason: str) -> Hold:
    """Somebody takes a node out of work: for maintenance, or into quarantine. Takes FLEET_WRITE of a token.

    Raises Invalid without a reason or for another kind, Conflict (held).
    """
    actor.require_token_scope(TokenScope.FLEET_WRITE)
    node = queries.node_for(actor, node_id, Right.OPERATE)
    if kind not in BY_HAND:
        message = _("by hand a node is held for maintenance or in quarantine")
        raise Invalid(message, errors=[FieldError(pointer="/kind", message=message)])
    reason = require_reason(reason)
    taken = take_holds(actor=actor, node_ids=[node.pk], kind=kind, owner=_BY_HAND, reason=reason)
    return taken[0]


@decision
def release_hold(*, actor: Actor, hold_id: int, reason: str) -> Hold:
    """Somebody lets go of a maintenance or a quarantine, also one that automation has begun.

    Raises Invalid without a reason, Missing, Conflict (hold_owner) for what a change or a launch holds, and
    (released) where it is over.
    """
    actor.require_token_scope(TokenScope.FLEET_WRITE)
    hold = Hold.objects.select_related("node__cluster").filter(pk=hold_id).first()
    if hold is None or not actor.may(Right.READ, hold.node.cluster.scope_id):
        raise Missing(_("there is no such hold, or you may not see it"))
    actor.require(Right.OPERATE, hold.node.cluster.scope_id)
    if hold.kind not in BY_HAND:
        raise Conflict(
            say("it belongs to %(owner)s, which lets go of it", owner=hold.owner or hold.by_label),
            code="hold_owner",
        )
    require_reason(reason)
    moved = Hold.objects.filter(pk=hold_id, released_at__isnull=True).update(
        released_at=clock.now(), released_by_label=actor.label[:200]
    )
    if not moved:
        raise Conflict(_("the hold is released already"), code="released")
    record(
        actor=actor,
        action=f"hold.{hold.kind}.released",
        on=hold.node,
        scope_id=hold.node.cluster.scope_id,
        reason=reason.strip(),
        before={"owner": hold.owner, "reason": hold.reason, "automatic": hold.automatic},
    )
    hold.refresh_from_db()
    return hold


@decision
def release_holds(*, actor: Actor, owner: str, reason: str = "") -> int:
    """Let go all that an owner holds. Returns how many; none is no error."""
    holds = list(Hold.objects.filter(owner=owner, released_at__isnull=True).select_related("node__cluster"))
    if not holds:
        return 0
    cluster = _one_cluster([hold.node for hold in holds])
    actor.require(Right.OPERATE, cluster.scope_id)
    Hold.objects.filter(pk__in=[hold.pk for hold in holds], released_at__isnull=True).update(
        released_at=clock.now(), released_by_label=actor.label[:200]
    )
    record(
        actor=actor,
        action="hold.released",
        on=cluster,
        scope_id=cluster.scope_id,
        reason=reason,
        before={"owner": owner, "nodes": [hold.node.name for hold in holds]},
    )
    return len(holds)


@decision
def transfer_holds(*, actor: Actor, from_owner: str, to_owner: str, reason: str) -> int:
    """One owner takes over what another holds, so that a rollback never finds its nodes taken between."""
    holds = list(
        Hold.objects.filter(owner=from_owner, released_at__isnull=True).select_related("node__cluster")
    )
    if not holds:
        return 0
    cluster = _one_cluster([hold.node for hold in holds])
    actor.require(Right.OPERATE, cluster.scope_id)
    Hold.objects.filter(pk__in=[hold.pk for hold in holds]).update(
        owner=to_owner, reason=reason[:300], reason_said=kept(reason) or None
    )
    record(
        actor=actor,
        action="hold.transferred",
        on=cluster,
        scope_id=cluster.scope_id,
        reason=reason,
        before={"owner": from_owner},
        after={"owner": to_owner, "nodes": [hold.node.name for hold in holds]},
    )
    return len(holds)


def _one_cluster(nodes: list[Node]) -> Cluster:
    clusters = {node.cluster for node in nodes}
    if len(clusters) != 1:
        raise Conflict(_("the nodes are not of one cluster"), code="several_clusters")
    return clusters.pop()


def _refuse_quarantined(nodes: list[Node]) -> None:
    held = Hold.objects.filter(node__in=nodes, kind=HoldKind.QUARANTINE, released_at__isnull=True)
    names = ", ".join(held.order_by("node__name").values_list("node__name", flat=True)[:5])
    if names:
        raise Conflict(say("in quarantine: %(names)s", names=names), code="quarantined")


def _in_the_way(nodes: list[Node], kind: HoldKind) -> str:
    held = Hold.objects.filter(node__in=nodes, released_at__isnull=True).select_related("node")
    same = (
        held.filter(kind=HoldKind.QUARANTINE)
        if kind == HoldKind.QUARANTINE
        else held.exclude(kind=HoldKind.QUARANTINE)
    )
    found = [
        say(
            "%(node)s (%(kind)s: %(reason)s)",
            node=hold.node.name,
            kind=word(hold.kind),
            reason=hold.told_reason,
        )
        for hold in same[:5]
    ]
    if not found:
        return say("held already: %(found)s", found=say("taken at the same moment, try again"))
    return say("held already: %(found)s", found=joined("; ", found))
