"""The version tables behind rules between components, as rows that a team may lay its own figures over.

Four tables: the driver that each CUDA major needs at least (`cuda_major`), the driver that each toolkit came with
(`toolkit`), driver branches and their end (`branch`), and what each build of PyTorch pins (`torch`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from apps.catalogue.engine.cuda_driver import DriverBranch, DriverFloor, Toolkit
from apps.catalogue.engine.reference import listed, table
from apps.catalogue.engine.torch_stack import TorchRelease
from apps.core.texts import say

# table → field → form of its values, one of _FORMS
FIELDS: Mapping[str, Mapping[str, str]] = {
    "cuda_major": {"min_driver": "version"},
    "toolkit": {"driver": "version"},
    "branch": {"kind": "branch kind", "eol": "month", "is_ended": "yes or no"},
    "torch": {
        "default_cuda": "version",
        "nccl": "version",
        "cudnn": "version",
        "triton": "version",
        "pythons": "versions",
        "cuda_builds": "versions",
    },
}
_VERSION = r"(?:~=)?[0-9][0-9A-Za-z.+-]{0,59}"
_FORMS = {
    "version": (re.compile(_VERSION), say("a version, such as 580.65.06")),
    "versions": (
        re.compile(rf"{_VERSION}(?:\s*,\s*{_VERSION}){{0,60}}"),
        say("versions, separated by commas"),
    ),
    "month": (re.compile(r"[12][0-9]{3}-(?:0[1-9]|1[0-2])"), say("a month, such as 2028-07")),
    "branch kind": (re.compile(r"LTSB|PB|NFB"), say("LTSB, PB or NFB")),
    "yes or no": (re.compile(r"yes|no"), say("yes or no")),
}
# What the id of an entry says: the version that is looked up by.
_IDS = {
    "cuda_major": (re.compile(r"[1-9][0-9]{0,2}"), say("a CUDA major, such as 13")),
    "toolkit": (re.compile(r"[0-9]{1,3}(?:\.[0-9]{1,3}){1,2}"), say("a toolkit release, such as 13.2.1")),
    "branch": (re.compile(r"[1-9][0-9]{1,3}"), say("a driver branch, such as 580")),
    "torch": (
        re.compile(r"[0-9][0-9a-z]*(?:\.[0-9a-z]+){1,4}(?:\+[0-9a-z]+(?:\.[0-9a-z]+)*)?"),
        say("a release or a build of PyTorch, such as 2.8.0 or 2.8.0+cu126"),
    ),
}
_NAMES = {
    "cuda_major": ("CUDA {}", "NVIDIA"),
    "toolkit": ("CUDA toolkit {}", "NVIDIA"),
    "branch": ("Driver branch {}", "NVIDIA"),
    "torch": ("PyTorch {}", ""),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionTables:
    """All four tables. toolkits: newest first. releases: by release, or by build where a team says it apart."""

    floors: Mapping[int, DriverFloor]
    toolkits: tuple[Toolkit, ...]
    branches: Mapping[int, DriverBranch]
    releases: Mapping[str, TorchRelease]


@cache
def shipped_rows(name: str) -> dict[str, dict[str, Any]]:
    """The rows of a table as they come with the portal, by id; callers must not change them."""
    return {row["id"]: row for row in _SHIPPED[name]()}


def blank(name: str, entry: str) -> dict[str, Any]:
    """A row in which nothing is known yet."""
    return _row(name, entry, dict.fromkeys(FIELDS[name]), confidence="unknown")


def fault_of_id(name: str, entry: str) -> str:
    """What an id of this table would have to be; empty for one that is right."""
    form, wanted = _IDS[name]
    return "" if form.fullmatch(entry) else wanted


def fault_of_value(name: str, path: str, text: str) -> str:
    """What the value of a field would have to be; empty for one that is right."""
    form, wanted = _FORMS[FIELDS[name][path]]
    return "" if form.fullmatch(text) else wanted


def tables_of(rows: Mapping[str, Mapping[str, Mapping[str, Any]]]) -> VersionTables:
    """The tables from their rows: table → id → row. A row without the figure that it is for says nothing."""
    kits = sorted(rows["toolkit"].values(), key=lambda row: order_of(row["id"]), reverse=True)
    return VersionTables(
        floors={
            int(row["id"]): _floor(row)
            for row in rows["cuda_major"].values()
            if row["min_driver"] is not None
        },
        toolkits=tuple(_toolkit(row) for row in kits),
        branches={int(row["id"]): _branch(row) for row in rows["branch"].values()},
        releases={
            row["id"]: _release(row) for row in rows["torch"].values() if row["default_cuda"] is not None
        },
    )


@cache
def shipped_tables() -> VersionTables:
    """The tables as they come with the portal."""
    return tables_of({name: shipped_rows(name) for name in FIELDS})


def order_of(entry: str) -> tuple[int, ...]:
    """The numbers of an id, by which the entries of a table are sorted."""
    return tuple(map(int, re.findall(r"\d+", entry)))


def _floor(row: Mapping[str, Any]) -> DriverFloor:
    return DriverFloor(
        min_driver=row["min_driver"],
        note=row["note"],
        source=row["source"][-1],
    )


def _toolkit(row: Mapping[str, Any]) -> Toolkit:
    return Toolkit(
        version=row["id"],
        name=row["name"],
        driver=row["driver"],
        confidence=row["confidence"],
        note=row["note"],
    )


def _branch(row: Mapping[str, Any]) -> DriverBranch:
    return DriverBranch(
        branch=int(row["id"]),
        kind=row["kind"],
        is_ended=row["is_ended"] == "yes",
        confidence=row["confidence"],
    )


def _release(row: Mapping[str, Any]) -> TorchRelease:
    builds = row["cuda_builds"]
    return TorchRelease(
        version=row["id"],
        default_cuda=row["default_cuda"],
        nccl=row["nccl"],
        cudnn=row["cudnn"],
        triton=row["triton"],
        pythons=listed(row["pythons"]),
        cuda_builds=None if builds is None else listed(builds),
        source=row["source"][-1],
        confidence=row["confidence"],
        note=row["note"],
    )


def _row(
    name: str,
    entry: object,
    fields: Mapping[str, object],
    *,
    confidence: str,
    source: str = "",
    note: str = "",
    called: str = "",
) -> dict[str, Any]:
    title, vendor = _NAMES[name]
    return {
        "id": str(entry),
        "name": title.format(called or entry),
        "vendor": vendor,
        **{key: None if value is None else str(value) for key, value in fields.items()},
        "confidence": confidence,
        "source": [source] if source else [],
        "note": note,
    }


def _shipped_floors() -> Iterable[dict[str, Any]]:
    held = table("cuda_driver")
    origin = {
        "confidence": "vendor_doc",
        "source": next(row["url"] for row in held["meta"]["sources"] if row["id"] == "minor_compat"),
    }
    for row in held["minor_version_compat"]:
        fields = {"min_driver": row["min_linux"]}
        yield _row("cuda_major", row["major"], fields, **origin, note=row["note"])


def _shipped_toolkits() -> Iterable[dict[str, Any]]:
    for row in table("cuda_driver")["toolkits"]:
        fields = {"driver": row["linux_x86_64_driver"]}
        yield _row("toolkit", row["version"], fields, **_origin(row), called=row["name"])


def _shipped_branches() -> Iterable[dict[str, Any]]:
    for row in table("cuda_driver")["driver_branches"]:
        is_ended = "yes" if row["end_of_life"] else "no"
        fields = {"kind": row["type"], "eol": row["eol"] or None, "is_ended": is_ended}
        yield _row("branch", row["branch"], fields, **_origin(row))


def _shipped_releases() -> Iterable[dict[str, Any]]:
    for row in table("torch_stack")["releases"]:
        builds = row["cuda_variants"]
        fields = {
            **{key: row[key] for key in ("default_cuda", "nccl", "cudnn", "triton")},
            "pythons": ", ".join(map(str, row["python_wheels_linux_x86_64"])),
            "cuda_builds": None if builds is None else ", ".join(map(str, builds)),
        }
        found = _row("torch", row["version"], fields, **_origin(row))
        yield found | {"field_confidence": {"cuda_builds": row["cuda_variants_confidence"]}}


def _origin(row: Mapping[str, Any]) -> dict[str, str]:
    return {"confidence": row["confidence"], "source": row["source"], "note": row.get("note", "")}


_SHIPPED: Mapping[str, Callable[[], Iterable[dict[str, Any]]]] = {
    "cuda_major": _shipped_floors,
    "toolkit": _shipped_toolkits,
    "branch": _shipped_branches,
    "torch": _shipped_releases,
}
