"""Kinds: what decides whether others published how long runs like a plan's took."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from apps.catalogue.engine.models import ModelSpec
from apps.planning.engine.coefficients import document
from apps.planning.engine.system import System
from apps.planning.engine.workload import Workload


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """Hardware generation, number format, software and sort of model."""

    architecture: str
    precision: str
    framework: str
    experts: bool


def kind_of(model: ModelSpec, system: System, workload: Workload) -> Kind:
    """The kind of a plan or of a published run."""
    return Kind(
        architecture=system.accelerator.architecture,
        precision=str(workload.precision),
        framework=str(workload.framework),
        experts=model.is_moe,
    )


@cache
def published_kinds() -> frozenset[Kind]:
    """The kinds of the runs that are part of the validation."""
    return frozenset(Kind(**row) for row in document()["published_kinds"])


@cache
def is_validated(architecture: str) -> bool:
    """Whether published runs of this architecture are part of the validation."""
    return any(kind.architecture == architecture for kind in published_kinds())
