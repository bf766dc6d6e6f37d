"""Accelerators: peak compute, memory and scale-up links per part, with source and confidence.

GB and GB/s are decimal. Compute is dense, without structured sparsity. Scale-up bandwidth is kept one way:
a ring uses one direction, vendors' figures are the sum of both.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

import yaml

from apps.core.errors import Missing
from apps.core.texts import say

DATA = Path(__file__).resolve().parent.parent / "data" / "accelerators.yaml"


@dataclass(frozen=True, slots=True, kw_only=True)
class ScaleUp:
    """The private links of one accelerator: bytes per second one way, summed over its links."""

    kind: str
    unidirectional_bytes_per_s: float | None
    max_domain: int | None
    links: int | None

    @property
    def link_bytes_per_s(self) -> float | None:
        """What one link carries one way, as built; None where the rate or the number of links is not known."""
        rate = self.unidirectional_bytes_per_s
        return rate / self.links if rate and self.links else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Accelerator:
    """One part of the catalogue; None where a figure is not known."""

    id: str
    vendor: str
    name: str
    architecture: str
    memory_bytes: float | None
    memory_bytes_per_s: float | None
    dense_flops: Mapping[str, float] = field(hash=False)
    unsupported: tuple[str, ...]
    scale_up: ScaleUp
    tdp_w: float | None
    confidence: str
    sources: tuple[str, ...]
    note: str


def parse_accelerator(row: Mapping[str, Any]) -> Accelerator:
    """One row of the data file as a value; units become bytes, bytes per second and FLOPs per second."""
    link = row["scale_up"]
    return Accelerator(
        id=row["id"],
        vendor=row["vendor"],
        name=row["name"],
        architecture=row["architecture"],
        memory_bytes=_scaled(row["memory_gb"], 1e9),
        memory_bytes_per_s=_scaled(row["memory_bandwidth_gb_s"], 1e9),
        dense_flops=MappingProxyType(
            {name: value * 1e12 for name, value in row["dense_tflops"].items() if value is not None}
        ),
        unsupported=tuple(row.get("unsupported", ())),
        scale_up=ScaleUp(
            kind=link["kind"],
            unidirectional_bytes_per_s=_scaled(link["unidirectional_gb_s"], 1e9),
            max_domain=link["max_domain"],
            links=link.get("links"),
        ),
        tdp_w=row["tdp_w"],
        confidence=row["confidence"],
        sources=tuple(row["source"]),
        note=row.get("note", ""),
    )


def parse_accelerators(rows: Iterable[Mapping[str, Any]]) -> dict[str, Accelerator]:
    """Rows of the data file by id."""
    return {part.id: part for part in map(parse_accelerator, rows)}


@cache
def shipped_accelerators() -> Mapping[str, Accelerator]:
    """The parts that the product ships, by id."""
    document = yaml.safe_load(DATA.read_text(encoding="utf-8"))
    return MappingProxyType(parse_accelerators(document["accelerators"]))


@cache
def source_titles() -> Mapping[str, str]:
    """Titles of the sources that the data file cites, by id."""
    document = yaml.safe_load(DATA.read_text(encoding="utf-8"))
    return MappingProxyType({row["id"]: row["title"] for row in document["meta"]["sources"]})


def accelerator(part_id: str) -> Accelerator:
    """The shipped part of that id. Raises Missing, naming the id."""
    try:
        return shipped_accelerators()[part_id]
    except KeyError:
        raise Missing(
            say("no accelerator %(part_id)s in the catalogue", part_id=f"{part_id!r}"), part_id=part_id
        ) from None


def _scaled(value: float | None, factor: float) -> float | None:
    return None if value is None else value * factor
