"""The component catalogue: what a node is made of, how its versions are read, and its default rules.

One vocabulary for the whole portal: what administrators laid over the shipped components is put around a request
or a job by `laid_over`; without it the shipped ones hold. What one team wants otherwise its matrix entries say.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from typing import Any

from apps.catalogue.engine.reference import table
from apps.catalogue.engine.versions import Scheme
from apps.core.verdicts import Verdict

AREAS = ("hardware", "firmware", "driver", "library", "framework", "system", "setting", "tool")


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

    area: one of AREAS. severity: what a node that differs in it comes to, fail or warn. branch_depth: how many
    leading numbers name a branch, None for the default of the scheme. is_multiple: a node has several
    (a VBIOS for each GPU). read_from: kinds of evidence that state it, the best witness first. packages: names
    under which lists of installed packages state it (a trailing * stands for any ending).
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
    severity: Verdict = Verdict.FAIL
    packages: tuple[str, ...] = ()


@cache
def shipped_components() -> dict[str, Component]:
    """Id to component as they come with the portal, in the order in which pages show them."""
    return {row["id"]: parse_component(row) for row in table("components")["components"]}


def parse_component(row: Mapping[str, Any]) -> Component:
    """A row of the data file as a component; what it leaves out is as `Component` has it."""
    return Component(
        id=row["id"],
        label=row.get("label") or row["id"],
        vendor=row.get("vendor") or "any",
        area=row.get("area") or "system",
        scheme=Scheme(row.get("scheme") or Scheme.OPAQUE),
        branch_depth=row.get("branch_depth"),
        rule=RuleKind(row.get("rule") or RuleKind.EXACT),
        is_multiple=bool(row.get("multiple")),
        read_from=tuple(row.get("read_from") or ()),
        severity=Verdict(row.get("severity") or Verdict.FAIL),
        packages=tuple(row.get("packages") or ()),
    )


_Load = Callable[[], Mapping[str, Component]]
_around: ContextVar[_Load | None] = ContextVar("components_around", default=None)


@contextmanager
def laid_over(load: _Load) -> Iterator[None]:
    """Within it `components` are those that `load` gives; it is called once, at the first use."""
    token = _around.set(cache(load))
    try:
        yield
    finally:
        _around.reset(token)


def components() -> Mapping[str, Component]:
    """Id to component, in the order in which pages show them: those laid over, else the shipped ones."""
    load = _around.get()
    return shipped_components() if load is None else load()


def component(component_id: str) -> Component:
    """The component of that id; one that the catalogue does not know is compared as opaque text."""
    return components().get(component_id) or Component(id=component_id, label=component_id)
