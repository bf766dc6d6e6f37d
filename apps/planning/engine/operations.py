"""Operations data: failure presets, cooling bands and power figures that the product ships, all editable."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

import yaml

DATA = Path(__file__).resolve().parent.parent / "data" / "operations.yaml"


@dataclass(frozen=True, slots=True, kw_only=True)
class FailurePreset:
    """How often nodes fail: probability per node and week."""

    id: str
    title: str
    per_node_week: float
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CoolingBand:
    """Rack power, in kW, that a way of cooling usually carries away; no upper end where None."""

    id: str
    low_kw: float
    high_kw: float | None
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedRack:
    """A rack that ships, whose power may lie outside of the usual band of its cooling."""

    name: str
    cooling: str
    low_kw: float
    high_kw: float
    source: str


@cache
def _document() -> Mapping[str, Any]:
    return MappingProxyType(yaml.safe_load(DATA.read_text(encoding="utf-8")))


def failure_presets() -> Mapping[str, FailurePreset]:
    """Presets by id."""
    rows = _document()["failure_presets"]
    return {key: FailurePreset(id=key, **row) for key, row in rows.items()}


def cooling_bands() -> tuple[CoolingBand, ...]:
    """Bands, weakest cooling first."""
    return tuple(CoolingBand(**row) for row in _document()["cooling_bands"])


def published_racks() -> tuple[PublishedRack, ...]:
    """Racks whose power is published."""
    return tuple(PublishedRack(**row) for row in _document()["published_racks"])


def power_figure(name: str) -> float:
    """One of the power figures."""
    return float(_document()["power"][name]["value"])


def power_source(name: str) -> str:
    """Where a power figure comes from."""
    return str(_document()["power"][name]["source"])
