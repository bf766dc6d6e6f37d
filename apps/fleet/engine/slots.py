"""Which reported card sits in which slot of a node: by bus address where that is known, else by place in the list."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any


def bus_key(address: object) -> str:
    """A PCI address in one spelling: tools write its domain with four or with eight digits, and letters as they like.

    "00000000:0F:00.0" and "0000:0f:00.0" are the same. "" where there is none.
    """
    text = str(address or "").strip().lower()
    domain, colon, rest = text.partition(":")
    return f"{domain[-4:]}:{rest}" if colon and rest.count(":") == 1 else text


def slots_of(
    recorded: Mapping[int, str], reported: Sequence[Mapping[str, Any]]
) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """(slot, reported card) for each card whose slot can be told.

    recorded: slot → bus address on record, "" where it is not known. A card that fell off the bus leaves the others
    in their slots; without addresses a list that is shorter than the node tells of no slot for sure.
    """
    by_bus = {bus_key(address): slot for slot, address in recorded.items() if address}
    places = [by_bus.get(bus_key(card.get("bus_id"))) for card in reported]
    taken = {slot for slot in places if slot is not None}
    complete = len(reported) >= len(recorded)
    for place, (slot, card) in enumerate(zip(places, reported, strict=True)):
        if slot is not None:
            yield slot, card
        elif complete and place in recorded and place not in taken:
            yield place, card
