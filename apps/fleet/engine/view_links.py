"""The links of a fleet between the boxes of a picture: each end is the nearest thing around it that is drawn."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from apps.fleet.engine.description import FleetDescription
from apps.fleet.engine.view import Picture
from apps.fleet.engine.view_boxes import Box, Kind


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawnLink:
    """All links between two boxes. bandwidth_bytes_per_s: of all of them, one way; None where one is unknown."""

    a: str
    b: str
    count: int
    bandwidth_bytes_per_s: int | None


def drawn_links(fleet: FleetDescription, picture: Picture) -> tuple[DrawnLink, ...]:
    """Links between boxes, those inside one box left out, and links from a switch to what is beneath it where
    the fleet lists no links at all."""
    drawn = {(box.kind, box.key): box for box in picture.boxes}
    homes = {node.name: node.domain for node in fleet.nodes}
    tiers = {switch.name: f"tier-{switch.tier}" for switch in fleet.switches}
    sums: dict[tuple[str, str], DrawnLink] = {}
    for a, b, count, bandwidth in _ends(fleet):
        keys = _nearest(a, drawn, homes, tiers), _nearest(b, drawn, homes, tiers)
        if None in keys or keys[0] == keys[1]:
            continue
        first, second = str(keys[0]), str(keys[1])
        before = sums.get((first, second))
        total = None if bandwidth is None else bandwidth * count
        if before is not None:
            known = total is not None and before.bandwidth_bytes_per_s is not None
            total = (before.bandwidth_bytes_per_s or 0) + (total or 0) if known else None
            count += before.count
        sums[first, second] = DrawnLink(a=first, b=second, count=count, bandwidth_bytes_per_s=total)
    return tuple(sums.values())


def _ends(fleet: FleetDescription) -> list[tuple[str, str, int, int | None]]:
    if fleet.links:
        return [(one.a, one.b, one.count, one.bandwidth_bytes_per_s) for one in fleet.links]
    return [
        (switch.name, below, 1, None)
        for switch in fleet.switches
        for below in (*switch.switches, *switch.nodes)
    ]


def _nearest(
    end: str,
    drawn: Mapping[tuple[Kind, str], Box],
    homes: Mapping[str, str],
    tiers: Mapping[str, str],
) -> str | None:
    """The key of the box that stands for an end; None where nothing of it is drawn."""
    node = end.split("/", 1)[0]
    for kind, key in (
        (Kind.ACCELERATOR, end),
        (Kind.SWITCH, end),
        (Kind.NODE, node),
        (Kind.SWITCHES, tiers.get(end, "")),
        (Kind.DOMAIN, homes.get(node, "")),
    ):
        if (kind, key) in drawn and (kind is not Kind.DOMAIN or node in homes):
            return key
    return None
