"""Environment variables of NCCL and of PyTorch's use of it: types, legal values, defaults and risks."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

from apps.catalogue.engine.reference import table


@dataclass(frozen=True, slots=True, kw_only=True)
class Variable:
    """One documented variable.

    kind: bool, int, enum, list, flags, string or path. values: legal words, as text; empty where free.
    low and high: range of an int, None where open. since: the NCCL that brought it, empty where older
    than the guide tells. for_production: False where a launch should not set it even as a tuned value.
    risk, note, deprecated: sentences, may be empty.
    """

    name: str
    kind: str
    values: tuple[str, ...]
    legacy_values: tuple[tuple[str, str], ...]
    low: int | None
    high: int | None
    default: str | None
    since: str
    category: str
    purpose: str
    for_production: bool
    is_case_sensitive: bool
    risk: str
    note: str
    deprecated: str
    old_name: str


@cache
def variables() -> dict[str, Variable]:
    """Name to variable: NCCL's and PyTorch's."""
    env = table("nccl_env")
    found = [_variable(row, category=row["category"]) for row in env["variables"]]
    found += [_variable(row, category="pytorch") for row in env["pytorch"]]
    return {variable.name: variable for variable in found}


def _variable(row: dict[str, Any], *, category: str) -> Variable:
    low, high = row.get("range") or (None, None)
    default = row["default"]
    return Variable(
        name=row["name"],
        kind=row["type"],
        values=tuple(str(value) for value in row["values"] or ()),
        legacy_values=tuple((row.get("legacy_values") or {}).items()),
        low=low,
        high=high,
        default=",".join(map(str, default)) if isinstance(default, list) else _text(default),
        since=_text(row.get("since")) or "",
        category=category,
        purpose=row["purpose"],
        for_production=row.get("production", True),
        is_case_sensitive=row.get("case_sensitive", False),
        risk=row.get("risk", ""),
        note=row.get("note", ""),
        deprecated=row.get("deprecated", ""),
        old_name=row.get("old_name") or "",
    )


def _text(value: object) -> str | None:
    return None if value is None else str(value)


@cache
def known_names() -> frozenset[str]:
    """Every NCCL_ name that the source of `known_names_version` reads, and the documented ones."""
    return frozenset(table("nccl_env")["known_names"]) | frozenset(variables())


def known_names_version() -> str:
    """The NCCL whose source the known names were taken from."""
    return str(table("nccl_env")["known_names_version"])


@cache
def not_variables() -> dict[str, str]:
    """Names that circulate and do nothing, to what is meant instead."""
    return {row["name"]: row["use"] for row in table("nccl_env")["not_nccl"]}


@cache
def plugin_prefixes() -> tuple[str, ...]:
    """Beginnings of names that belong to network and tuner plug-ins."""
    return tuple(table("nccl_env")["plugin_prefixes"])
