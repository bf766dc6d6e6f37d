"""Nodes: where they stand in their life and in the hall, and the other names that they are called by."""

from __future__ import annotations

from django.db import IntegrityError, transaction
from django.db.models import F
from django.utils.translation import gettext as _

from apps.audit.services import decision, record
from apps.core.actor import Actor
from apps.core.errors import Conflict, FieldError, Invalid, Missing, Stale
from apps.core.reasons import require_reason
from apps.core.rights import Right, TokenScope
from apps.core.texts import say
from apps.fleet import queries
from apps.fleet.engine import life_cycle
from apps.fleet.engine.cells import is_name, name_wanted
from apps.fleet.engine.life_cycle import Stage
from apps.fleet.models import Hold, Node, NodeAlias
from apps.fleet.services.hardware import note_other_board

_PLACE = ("rack", "position", "serial")


@decision
def move_node(*, actor: Actor, node_id: int, expected_version: int, to: Stage, reason: str) -> Node:
    """Move a node to another stage of its life.

    Raises Invalid without a reason, Stale (edited meanwhile), Conflict (life_cycle) where the move is not one.
    """
    node = _to_change(actor, node_id)
    require_reason(reason)
    holds = Hold.objects.filter(node=node, released_at__isnull=True)
    held = frozenset(holds.values_list("kind", flat=True))
    if why_not := life_cycle.refusal(now=node.life_cycle, to=to, holds=held):
        raise Conflict(why_not, code="life_cycle", state=node.life_cycle)
    before = {"life_cycle": node.life_cycle}
    _update(node, expected_version, life_cycle=to.value)
    record(
        actor=actor,
        action="node.moved",
        on=node,
        scope_id=node.cluster.scope_id,
        reason=reason.strip(),
        before=before,
        after={"life_cycle": node.life_cycle},
    )
    return node


@decision
def edit_node(
    *, actor: Actor, node_id: int, expected_version: int, rack: str, position: str, serial: str
) -> Node:
    """Where a node stands, and the serial number of its board. Raises Stale; a save of the same writes nothing."""
    node = _to_change(actor, node_id)
    after = {"rack": rack.strip(), "position": position.strip(), "serial": serial.strip()}
    before = {name: getattr(node, name) for name in _PLACE}
    if before == after and node.version == expected_version:
        return node
    _update(node, expected_version, **after)
    if before["serial"] and after["serial"] and before["serial"] != after["serial"]:
        note_other_board(node=node, before=before["serial"])
    record(
        actor=actor, action="node.edited", on=node, scope_id=node.cluster.scope_id, before=before, after=after
    )
    return node


@decision
def add_alias(*, actor: Actor, node_id: int, name: str) -> NodeAlias:
    """Another name of a node. Raises Invalid (name), Conflict (alias_taken) where it means a node already."""
    node = _to_change(actor, node_id)
    name = name.strip()
    if not is_name(name, 255):
        message = name_wanted(255)
        raise Invalid(message, errors=[FieldError(pointer="/name", message=message)])
    if Node.objects.filter(cluster=node.cluster, name__iexact=name).exists():
        raise Conflict(say("there is a node of the name %(name)s already", name=name), code="alias_taken")
    if NodeAlias.objects.filter(cluster=node.cluster, name__iexact=name).exists():
        raise Conflict(say("%(name)s means a node already", name=name), code="alias_taken")
    try:
        with transaction.atomic():
            alias = NodeAlias.objects.create(cluster=node.cluster, node=node, name=name)
    except IntegrityError as error:
        raise Conflict(say("%(name)s means a node already", name=name), code="alias_taken") from error
    record(
        actor=actor,
        action="node.alias.added",
        on=node,
        scope_id=node.cluster.scope_id,
        after={"alias": name},
    )
    return alias


@decision
def remove_alias(*, actor: Actor, alias_id: int) -> Node:
    """Take another name away from a node. Raises Missing."""
    alias = NodeAlias.objects.filter(pk=alias_id).first()
    if alias is None:
        raise Missing(_("there is no such alias, or you may not see it"))
    node = _to_change(actor, alias.node_id)
    alias.delete()
    record(
        actor=actor,
        action="node.alias.removed",
        on=node,
        scope_id=node.cluster.scope_id,
        before={"alias": alias.name},
    )
    return node


def _to_change(actor: Actor, node_id: int) -> Node:
    actor.require_token_scope(TokenScope.FLEET_WRITE)
    return queries.node_for(actor, node_id, Right.OPERATE)


def _update(node: Node, expected_version: int, **values: str) -> None:
    moved = Node.objects.filter(pk=node.pk, version=expected_version).update(
        version=F("version") + 1, **values
    )
    if not moved:
        raise Stale(version=node.version)
    node.refresh_from_db()
