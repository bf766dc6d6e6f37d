"""Which driver a CUDA toolkit needs, how long a driver branch lives, and which CUDA an architecture runs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from apps.catalogue.engine.reference import table
from apps.catalogue.engine.versions import Scheme, branch_of, parse


@dataclass(frozen=True, slots=True, kw_only=True)
class DriverFloor:
    """The lowest Linux driver that runs programs of one CUDA major (minor-version compatibility)."""

    cuda_major: int
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
    """A driver branch; kind: LTSB, PB or NFB; eol: year-month, None where not known."""

    branch: int
    kind: str | None
    eol: str | None
    is_ended: bool
    confidence: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Architecture:
    """A GPU architecture and the CUDA releases that know it; None: no end known."""

    name: str
    compute_capability: str
    first_cuda: str
    last_cuda: str | None
    last_driver_branch: int | None
    examples: tuple[str, ...]
    confidence: str


@cache
def driver_floors() -> dict[int, DriverFloor]:
    """CUDA major to its driver floor."""
    source = next(
        row["url"] for row in table("cuda_driver")["meta"]["sources"] if row["id"] == "minor_compat"
    )
    return {
        row["major"]: DriverFloor(
            cuda_major=row["major"], min_driver=row["min_linux"], note=row["note"], source=source
        )
        for row in table("cuda_driver")["minor_version_compat"]
    }


def driver_floor_of(cuda: str) -> DriverFloor | None:
    """The driver floor for a CUDA version as any tool writes it; None for an unknown form or major."""
    numbers = parse(cuda, Scheme.CUDA).numbers
    return driver_floors().get(numbers[0]) if numbers else None


@cache
def toolkits() -> tuple[Toolkit, ...]:
    """All toolkits, newest first."""
    return tuple(
        Toolkit(
            version=row["version"],
            name=row["name"],
            driver=row["linux_x86_64_driver"],
            confidence=row["confidence"],
            note=row.get("note", ""),
        )
        for row in table("cuda_driver")["toolkits"]
    )


def toolkit_of(cuda: str) -> Toolkit | None:
    """The oldest toolkit release of the minor version that `cuda` belongs to (12.8 of 12.8.93)."""
    branch = branch_of(parse(cuda, Scheme.CUDA))
    if branch is None:
        return None
    same = [kit for kit in toolkits() if branch_of(parse(kit.version, Scheme.CUDA)) == branch]
    return same[-1] if same else None


@cache
def driver_branches() -> dict[int, DriverBranch]:
    """Branch number (570) to what is known of the branch."""
    return {
        row["branch"]: DriverBranch(
            branch=row["branch"],
            kind=row["type"],
            eol=str(row["eol"]) if row["eol"] else None,
            is_ended=row["end_of_life"],
            confidence=row["confidence"],
        )
        for row in table("cuda_driver")["driver_branches"]
    }


def driver_branch_of(driver: str) -> DriverBranch | None:
    """The branch of a driver version; None for an unknown form or branch."""
    numbers = parse(driver, Scheme.DOTTED_NUMERIC).numbers
    return driver_branches().get(numbers[0]) if numbers else None


@cache
def architectures() -> tuple[Architecture, ...]:
    """GPU architectures, oldest first."""
    return tuple(
        Architecture(
            name=row["arch"],
            compute_capability=row["compute_capability"],
            first_cuda=row["first_cuda"],
            last_cuda=row["last_cuda"],
            last_driver_branch=row["last_driver_branch"],
            examples=tuple(row["examples"]),
            confidence=row["confidence"],
        )
        for row in table("cuda_driver")["architectures"]
    )
