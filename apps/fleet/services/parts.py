"""Boards and cards outside of nodes: what a swap leaves over, what lies on the shelf, what is sent back (RMA)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from django.db import IntegrityError, transaction
from django.db.models import F, Q, QuerySet
from django.utils.translation import gettext as _

from apps.audit.services import decision, record
from apps.core import clock
from apps.core.actor import Actor
from apps.core.errors import Conflict, FieldError, Invalid, Stale
from apps.core.reasons import require_reason
from apps.core.rights import Right, TokenScope
from apps.fleet import queries
from apps.fleet.engine import part_life
from apps.fleet.engine.part_life import PartStage
from apps.fleet.models import Accelerator, Cluster, Node, Part, PartKind


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """Which board or card it is; "" for what is not known. slot: where in its node."""

    kind: PartKind
    slot: str
    model: str = ""
    serial: str = ""
    uuid: str = ""

    def is_same(self, other: Identity) -> bool:
        """Whether both are one piece: by serial number where both have one, else by UUID."""
        if self.kind != other.kind:
            return False
        if self.serial and other.serial:
            return self.serial == other.serial
        return bool(self.uuid) and self.uuid == other.uuid

    def matching(self) -> Q:
        """The condition for rows with this identity; only for one that has a serial number or a UUID."""
        found = Q(serial=self.serial) if self.serial else Q(pk__in=())
        return found | Q(uuid=self.uuid) if self.uuid else found


def identity_of(card: Accelerator) -> Identity:
    """The identity of a card as it is on record."""
    return Identity(
        kind=PartKind.ACCELERATOR,
        slot=str(card.index),
        model=card.model,
        serial=card.serial,
        uuid=card.uuid,
    )


def note_swaps(
    *, node: Node, was: Iterable[Identity], now: Iterable[Identity], slots: set[str], at: datetime
) -> None:
    """What left the node waits for a decision; what came from the shelf or from repair is installed.

    was, now: the identities of all of its parts before and after a report. slots: where something changed. What only
    changed its slot, or sits in another node of the cluster by now, has not left. Part of the caller's transaction.
    """
    was, now = list(was), list(now)
    for old in was:
        if old.slot in slots and not any(old.is_same(new) for new in now):
            _note_removed(node, old, at)
    for new in now:
        if new.slot in slots and not any(new.is_same(old) for old in was):
            _parts_like(node.cluster, new).update(
                stage=PartStage.INSTALLED, node=node, slot=new.slot, changed_at=at, version=F("version") + 1
            )


def _note_removed(node: Node, old: Identity, at: datetime) -> None:
    if not (old.serial or old.uuid) or _is_in_a_node(node.cluster, old):
        return
    values = {"stage": PartStage.REMOVED, "node": node, "slot": old.slot, "changed_at": at}
    if not _parts_like(node.cluster, old).update(version=F("version") + 1, **values):
        names = {"kind": old.kind, "model": old.model, "serial": old.serial, "uuid": old.uuid}
        Part.objects.create(cluster=node.cluster, **names, **values)


def _parts_like(cluster: Cluster, one: Identity) -> QuerySet[Part]:
    return Part.objects.filter(one.matching(), cluster=cluster, kind=one.kind)


def _is_in_a_node(cluster: Cluster, one: Identity) -> bool:
    if one.kind == PartKind.BOARD:
        return Node.objects.in_use().filter(cluster=cluster, serial=one.serial).exists()
    cards = Accelerator.objects.filter(one.matching(), node__cluster=cluster)
    return cards.exists()


@decision
def add_spare(
    *,
    actor: Actor,
    cluster_id: int,
    kind: PartKind,
    model: str = "",
    serial: str = "",
    uuid: str = "",
    note: str = "",
) -> Part:
    """Put a board or card on the shelf. Raises Invalid without an identity, Conflict (part_known, part_installed)."""
    cluster = Cluster.objects.get(pk=cluster_id)
    actor.require(Right.OPERATE, cluster.scope_id)
    actor.require_token_scope(TokenScope.FLEET_WRITE)
    one = Identity(kind=kind, slot="", model=model.strip(), serial=serial.strip(), uuid=uuid.strip())
    if not (one.serial or (one.uuid and kind != PartKind.BOARD)):
        message = _("a serial number, or the UUID of an accelerator, tells which one it is")
        raise Invalid(message, errors=[FieldError(pointer="/serial", message=message)])
    if _is_in_a_node(cluster, one):
        raise Conflict(_("%(part)s is in a node") % {"part": one.serial or one.uuid}, code="part_installed")
    known = Conflict(_("%(part)s is on record already") % {"part": one.serial or one.uuid}, code="part_known")
    if _parts_like(cluster, one).exists():
        raise known
    values = {
        "kind": one.kind,
        "model": one.model,
        "serial": one.serial,
        "uuid": one.uuid,
        "note": note.strip(),
    }
    try:
        with transaction.atomic():
            part = Part.objects.create(
                cluster=cluster, stage=PartStage.SPARE, changed_at=clock.now(), **values
            )
    except IntegrityError as error:
        raise known from error
    record(
        actor=actor,
        action="part.added",
        on=part,
        scope_id=cluster.scope_id,
        reason=part.note,
        after={"stage": part.stage, "kind": part.kind, "serial": part.serial, "uuid": part.uuid},
    )
    return part


@decision
def move_part(*, actor: Actor, part_id: int, expected_version: int, to: PartStage, reason: str) -> Part:
    """Say what becomes of a part: spare, repair (RMA), retired.

    Raises Invalid without a reason, Stale (changed meanwhile), Conflict (part_life) where the move is not one.
    """
    actor.require_token_scope(TokenScope.FLEET_WRITE)
    part = queries.part_for(actor, part_id, Right.OPERATE)
    require_reason(reason)
    if why_not := part_life.refusal(now=part.stage, to=to):
        raise Conflict(why_not, code="part_life", state=part.stage)
    before = {"stage": part.stage}
    moved = Part.objects.filter(pk=part.pk, version=expected_version, stage=part.stage).update(
        stage=to, note=reason.strip()[:300], changed_at=clock.now(), version=F("version") + 1
    )
    if not moved:
        raise Stale(version=part.version)
    part.refresh_from_db()
    record(
        actor=actor,
        action="part.moved",
        on=part,
        scope_id=part.cluster.scope_id,
        reason=reason.strip(),
        before=before,
        after={"stage": part.stage},
    )
    return part
