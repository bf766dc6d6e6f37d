"""Known scale-up systems (supernodes) and generic layouts, as starting values that a user may edit."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

from apps.catalogue.engine.reference import table
from apps.core.units import gb


@dataclass(frozen=True, slots=True, kw_only=True)
class Supernode:
    """One scale-up system; None means not known.

    accelerator: id in the accelerator table. unidirectional_bytes_per_s: scale-up bandwidth of one
    accelerator, one way. bisection_share: 1.0 where any half reaches the other at full rate.
    is_template: well enough documented to be offered ready-made.
    """

    id: str
    name: str
    vendor: str
    status: str
    year: int | None
    accelerator: str | None
    accelerators: int | None
    nodes: int | None
    accelerators_per_node: int | None
    sub_domains: int | None
    layout: str | None
    interconnect: str | None
    topology: str | None
    switch_layers: int | None
    switches: int | None
    unidirectional_bytes_per_s: float | None
    bisection_share: float | None
    power_per_rack_kw: float | None
    system_power_kw: float | None
    cooling: str | None
    confidence: str
    source: tuple[str, ...]
    is_template: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """A generic way to build a domain of a size, of no vendor."""

    id: str
    accelerators: int
    nodes: int
    accelerators_per_node: int
    sub_domains: int | None
    note: str


@cache
def supernodes() -> dict[str, Supernode]:
    """Id to system, in the order of the table."""
    ready = frozenset(table("supernodes")["templates"])
    return {
        row["id"]: parse_supernode(row, is_template=row["id"] in ready)
        for row in table("supernodes")["systems"]
    }


def parse_supernode(row: dict[str, Any], *, is_template: bool) -> Supernode:
    """One row of the data file as a value; GB/s become bytes per second."""
    link, power = row["scale_up"], row["power"]
    one_way_gb_s = link["unidirectional_gb_s_per_accelerator"]
    return Supernode(
        id=row["id"],
        name=row["name"],
        vendor=row["vendor"],
        status=row["status"],
        year=row["year"],
        accelerator=row["accelerator"],
        accelerators=row["accelerators"],
        nodes=row["nodes"],
        accelerators_per_node=row["accelerators_per_node"],
        sub_domains=row["sub_domains"],
        layout=row["layout"],
        interconnect=link["kind"],
        topology=link["topology"],
        switch_layers=link["switch_layers"],
        switches=link["switches"],
        unidirectional_bytes_per_s=None if one_way_gb_s is None else gb(one_way_gb_s),
        bisection_share=link["bisection_share"],
        power_per_rack_kw=power["per_rack_kw"],
        system_power_kw=power["system_kw"],
        cooling=power["cooling"],
        confidence=row["confidence"],
        source=tuple(row["source"]),
        is_template=is_template,
    )


@cache
def generic_layouts() -> tuple[Layout, ...]:
    """72 as 9×8 or 18×4, 144 as 4×36, 6×24 or 18×8, 384 as 48×8."""
    return tuple(
        Layout(
            id=row["id"],
            accelerators=row["accelerators"],
            nodes=row["nodes"],
            accelerators_per_node=row["accelerators_per_node"],
            sub_domains=row.get("sub_domains"),
            note=row.get("note", ""),
        )
        for row in table("supernodes")["generic_layouts"]
    )
