"""What a node reports about its own parts: a board or card that was swapped is noticed and written down."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import Q

from apps.core import clock
from apps.fleet.engine.slots import slots_of
from apps.fleet.models import Accelerator, Cluster, HardwareChange, Node, NodeHealth, PartKind
from apps.fleet.services.parts import Identity, identity_of, note_swaps

_IDENTITY = ("uuid", "serial", "bus_id")
_BLANKED = "00000000-0000-0000-0000-"
_MOST_TWINS = 3


@transaction.atomic
def note_hardware(
    *,
    node_id: int,
    cards: Iterable[Mapping[str, Any]],
    board_serial: str = "",
    system_serial: str = "",
    sha256: str = "",
    at: datetime | None = None,
) -> list[HardwareChange]:
    """Compare the reported machine, board and cards with those on record, slot by slot.

    cards: mappings with any of uuid, serial, bus_id (None where the report does not say), in the order reported.
    board_serial, system_serial: "" where it does not say. A first report fills in; a different identity is recorded
    as a change, and what left or came is noted among the parts. Cards that another node of the cluster has on record
    too are noted at both; those of this node are given back. A report is no decision and makes no audit event.
    """
    at = at or clock.now()
    node = Node.objects.select_related("cluster").get(pk=node_id)
    slots = {card.index: card for card in Accelerator.objects.filter(node=node)}
    before = {index: identity_of(card) for index, card in slots.items()}
    board = Identity(kind=PartKind.BOARD, slot="board", serial=node.serial)
    swaps, touched = [], []
    addresses = {index: card.bus_id for index, card in slots.items()}
    for index, reported in slots_of(addresses, list(cards)):
        card_changes, is_touched = _card_changes(slots[index], reported)
        swaps += [_change(node, str(index), *change, sha256, at) for change in card_changes]
        touched += [slots[index]] if is_touched else []
    news = [card for card in touched if identity_of(card) != before[card.index]]
    if news:
        # Two nodes that report the same cards at once would both look before the other is committed: one by one, then,
        # and locked as imports do it, before any row of a node is written.
        Cluster.objects.select_for_update(no_key=True).get(pk=node.cluster_id)
    changes = _board_changes(node, board_serial.strip()[:120], sha256, at)
    changes += _system_changes(node, system_serial.strip()[:120], sha256, at)
    changes += swaps
    Accelerator.objects.bulk_update(touched, _IDENTITY)
    if changes:
        swapped = {change.slot for change in changes}
        now = [identity_of(card) for card in slots.values()]
        now.append(Identity(kind=PartKind.BOARD, slot="board", serial=node.serial))
        was = [*before.values(), board]
        note_swaps(node=node, was=was, now=now, slots=swapped, at=at)
    there = []
    for other, ids in _twins(node, news):
        changes.append(_change(node, "cards", HardwareChange.TWIN, other.name, ids, sha256, at))
        there.append(_change(other, "cards", HardwareChange.TWIN, node.name, ids, sha256, at))
    HardwareChange.objects.bulk_create(there)
    return HardwareChange.objects.bulk_create(changes)


def _twins(node: Node, cards: Iterable[Accelerator]) -> list[tuple[Node, str]]:
    """Other nodes of the cluster, a few at most, that have these very cards on record, and which.

    By UUID, or by serial number where there is none. A UUID of zeros and a counter was blanked out and tells nothing.
    """
    uuids = {card.uuid for card in cards if card.uuid and _BLANKED not in card.uuid}
    serials = {card.serial for card in cards if card.serial and not card.uuid}
    if not uuids and not serials:
        return []
    others = Node.objects.in_use().filter(cluster=node.cluster).exclude(pk=node.pk)
    same = Accelerator.objects.filter(Q(uuid__in=uuids) | Q(serial__in=serials, uuid=""), node__in=others)
    found: dict[Node, list[str]] = {}
    for card in same.select_related("node").order_by("node__name", "index")[:64]:
        found.setdefault(card.node, []).append(card.uuid or card.serial)
    return [
        (other, ", ".join([*ids[:2], "…"] if len(ids) > 3 else ids)[:200])
        for other, ids in list(found.items())[:_MOST_TWINS]
    ]


def note_other_board(*, node: Node, before: str) -> None:
    """A person wrote down another board than the one on record, inside of a decision."""
    at = clock.now()
    _change(node, "board", "serial", before, node.serial, "", at).save()
    was, now = (Identity(kind=PartKind.BOARD, slot="board", serial=one) for one in (before, node.serial))
    note_swaps(node=node, was=[was], now=[now], slots={"board"}, at=at)


def _card_changes(card: Accelerator, reported: Mapping[str, Any]) -> tuple[list[tuple[str, str, str]], bool]:
    """(what, before, after) of each part of its identity that is another; whether anything is to be saved."""
    changes, touched = [], False
    for name in _IDENTITY:
        before = getattr(card, name)
        value = str(reported.get(name) or "")[: Accelerator._meta.get_field(name).max_length or 80]
        if not value or value == before:
            continue
        setattr(card, name, value)
        touched = True
        if before and name != "bus_id":
            changes.append((name, before, value))
    if changes:  # another card: what the report leaves out is not known of it
        for name in {"uuid", "serial"} - {name for name in _IDENTITY if reported.get(name)}:
            setattr(card, name, "")
    return changes, touched


def _board_changes(node: Node, serial: str, sha256: str, at: datetime) -> list[HardwareChange]:
    """The board that answers to the node's name, where it is another than before."""
    if not serial or serial == node.serial:
        return []
    before = node.serial
    Node.objects.filter(pk=node.pk).update(serial=serial)
    node.serial = serial
    return [_change(node, "board", "serial", before, serial, sha256, at)] if before else []


def _system_changes(node: Node, serial: str, sha256: str, at: datetime) -> list[HardwareChange]:
    """The machine that answers to the node's name, where it is another than before. It is no part with a stage."""
    if not serial or serial == node.system_serial:
        return []
    before = node.system_serial
    Node.objects.filter(pk=node.pk).update(system_serial=serial)
    node.system_serial = serial
    return [_change(node, "system", "serial", before, serial, sha256, at)] if before else []


def _change(
    node: Node, slot: str, what: str, before: str, after: str, sha256: str, at: datetime
) -> HardwareChange:
    return HardwareChange(
        node=node, slot=slot, what=what, before=before, after=after, seen_at=at, sha256=sha256
    )


def set_health(*, node_ids: Iterable[int], health: NodeHealth) -> int:
    """Write down what the health rules make of nodes. Returns for how many that is news. No decision, no event."""
    return Node.objects.filter(pk__in=node_ids).exclude(health=health).update(health=health)
