"""Which driver a CUDA toolkit needs, and how long a driver branch lives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from apps.catalogue.engine.versions import Scheme, branch_of, parse


@dataclass(frozen=True, slots=True, kw_only=True)
class DriverFloor:
    """The lowest Linux driver that runs programs of one CUDA major (minor-version compatibility)."""

    min_driver: str
    note: str
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Toolkit:
    """One CUDA toolkit release; driver: what it was released with, None where it bundles none."""

    version: str
    name: str
    driver: str | None
    confidence: str
    note: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DriverBranch:
    """A driver branch; kind: LTSB, PB or NFB."""

    branch: int
    kind: str | None
    is_ended: bool
    confidence: str


def driver_floor_of(cuda: str, floors: Mapping[int, DriverFloor]) -> DriverFloor | None:
    """The driver floor for a CUDA version as any tool writes it; None for an unknown form or major."""
    numbers = parse(cuda, Scheme.CUDA).numbers
    return floors.get(numbers[0]) if numbers else None


def toolkit_of(cuda: str, kits: Sequence[Toolkit]) -> Toolkit | None:
    """The oldest release (kits: newest first) of the minor version that `cuda` belongs to (12.8 of 12.8.93)."""
    branch = branch_of(parse(cuda, Scheme.CUDA))
    if branch is None:
        return None
    same = [kit for kit in kits if branch_of(parse(kit.version, Scheme.CUDA)) == branch]
    return same[-1] if same else None
