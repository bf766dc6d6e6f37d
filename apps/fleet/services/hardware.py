"""What a node reports about its own parts: a board or card that was swapped is noticed and written down."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from django.db import transaction

from apps.core import clock
from apps.fleet.models import Accelerator, HardwareChange, Node, NodeHealth

_IDENTITY = ("uuid", "serial", "bus_id")


@transaction.atomic
def note_hardware(
    *,
    node_id: int,
    cards: Iterable[Mapping[str, Any]],
    board_serial: str = "",
    sha256: str = "",
    at: datetime | None = None,
) -> list[HardwareChange]:
    """Compare the reported board and cards with those on record, slot by slot in the order reported.

    cards: mappings with any of uuid, serial, bus_id (None where the report does not say). board_serial: ""
    where it does not say. A first report fills in; a different identity is recorded as a change. A report is
    no decision and makes no audit event.
    """
    node = Node.objects.get(pk=node_id)
    slots = {card.index: card for card in Accelerator.objects.filter(node=node)}
    changes, touched = _board_changes(node, board_serial.strip()[:120], sha256, at), []
    for index, reported in enumerate(cards):
        card = slots.get(index)
        if card is None:
            continue
        before = {name: getattr(card, name) for name in _IDENTITY}
        for name in _IDENTITY:
            value = str(reported.get(name) or "")[: Accelerator._meta.get_field(name).max_length or 80]
            if value and value != before[name]:
                setattr(card, name, value)
                if before[name] and name != "bus_id":
                    changes.append(_change(node, str(index), name, before[name], value, sha256, at))
        if {name: getattr(card, name) for name in _IDENTITY} != before:
            touched.append(card)
    Accelerator.objects.bulk_update(touched, _IDENTITY)
    return HardwareChange.objects.bulk_create(changes)


def _board_changes(node: Node, serial: str, sha256: str, at: datetime | None) -> list[HardwareChange]:
    """The board that answers to the node's name, where it is another than before."""
    if not serial or serial == node.serial:
        return []
    before = node.serial
    Node.objects.filter(pk=node.pk).update(serial=serial)
    return [_change(node, "board", "serial", before, serial, sha256, at)] if before else []


def _change(
    node: Node, slot: str, what: str, before: str, after: str, sha256: str, at: datetime | None
) -> HardwareChange:
    return HardwareChange(
        node=node, slot=slot, what=what, before=before, after=after, seen_at=at or clock.now(), sha256=sha256
    )


def set_health(*, node_id: int, health: NodeHealth) -> bool:
    """Write down what the health rules make of a node. Returns whether that is news. No decision: no audit event."""
    return bool(Node.objects.filter(pk=node_id).exclude(health=health).update(health=health))
