"""The component catalogue: what a node is made of, how its versions are read, and its default rules."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from functools import cache

from apps.catalogue.engine.reference import table
from apps.catalogue.engine.versions import Scheme


class RuleKind(StrEnum):
    """How a node's version is held against a matrix."""

    EXACT = "exact"
    SAME_BRANCH = "same_branch"
    AT_LEAST = "at_least"
    ONE_OF = "one_of"
    UNIFORM = "uniform"
    NOT_CHECKED = "not_checked"


@dataclass(frozen=True, slots=True, kw_only=True)
class Component:
    """One component. vendor: `any` where several makers have it.

    area: hardware, firmware, driver, library, framework, system, setting or tool. branch_depth: how many
    leading numbers name a branch, None for the default of the scheme. is_multiple: a node has several
    (a VBIOS for each GPU). read_from: kinds of evidence that state it, the best witness first.
    """

    id: str
    label: str
    vendor: str = "any"
    area: str = "system"
    scheme: Scheme = Scheme.OPAQUE
    branch_depth: int | None = None
    rule: RuleKind = RuleKind.EXACT
    is_multiple: bool = False
    read_from: tuple[str, ...] = ()


@cache
def components() -> dict[str, Component]:
    """Id to component, in the order in which pages show them."""
    return {
        row["id"]: Component(
            id=row["id"],
            label=row["label"],
            vendor=row["vendor"],
            area=row["area"],
            scheme=Scheme(row["scheme"]),
            branch_depth=row.get("branch_depth"),
            rule=RuleKind(row["rule"]),
            is_multiple=row.get("multiple", False),
            read_from=tuple(row["read_from"]),
        )
        for row in table("components")["components"]
    }


def component(component_id: str) -> Component:
    """The component of that id; one that the catalogue does not know is compared as opaque text."""
    return components().get(component_id) or Component(id=component_id, label=component_id)
