"""A team's own figures laid over the shipped reference: value by value, each with its source and confidence.

Fields are named by their dotted path in the data file (dense_tflops.bf16). Only figures that the portal
computes with, or shows, can be set.
"""

from __future__ import annotations

import copy
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from apps.catalogue.engine import version_tables
from apps.catalogue.engine.accelerators import Accelerator, parse_accelerator
from apps.catalogue.engine.component_rows import as_shipped, component_row
from apps.catalogue.engine.components import AREAS, Component, RuleKind, parse_component
from apps.catalogue.engine.reference import table
from apps.catalogue.engine.versions import Scheme
from apps.core.errors import FieldError, Invalid
from apps.core.rights import Right
from apps.core.texts import say
from apps.core.verdicts import Verdict


class Kind(StrEnum):
    ACCELERATOR = "accelerator"
    SUPERNODE = "supernode"
    COMPONENT = "component"
    CUDA_MAJOR = "cuda_major"
    TOOLKIT = "toolkit"
    BRANCH = "branch"
    TORCH = "torch"


# Tables that rules between components look versions up in.
VERSION_TABLES = tuple(Kind(name) for name in version_tables.FIELDS)
KIND_CHOICES = [(kind.value, kind.value) for kind in Kind]


class Confidence(StrEnum):
    """How far a figure can be trusted, best first. measured: by the team itself."""

    MEASURED = "measured"
    VENDOR_DOC = "vendor_doc"
    VENDOR_SECONDARY = "vendor_secondary"
    THIRD_PARTY = "third_party"
    REPORTED = "reported"
    RECALLED = "recalled"
    UNKNOWN = "unknown"


# path → unit; "" is a text, "n" a whole number
FIELDS: Mapping[Kind, Mapping[str, str]] = {
    Kind.ACCELERATOR: {
        "name": "",
        "vendor": "",
        "architecture": "",
        "memory_gb": "GB",
        "memory_bandwidth_gb_s": "GB/s",
        "dense_tflops.fp32": "TFLOPS",
        "dense_tflops.bf16": "TFLOPS",
        "dense_tflops.fp16": "TFLOPS",
        "dense_tflops.fp8": "TFLOPS",
        "dense_tflops.int8": "TFLOPS",
        "scale_up.kind": "",
        "scale_up.unidirectional_gb_s": "GB/s",
        "scale_up.max_domain": "n",
        "tdp_w": "W",
    },
    Kind.SUPERNODE: {
        "name": "",
        "vendor": "",
        "accelerator": "",
        "accelerators": "n",
        "nodes": "n",
        "accelerators_per_node": "n",
        "sub_domains": "n",
        "scale_up.kind": "",
        "scale_up.switches": "n",
        "scale_up.unidirectional_gb_s_per_accelerator": "GB/s",
        "scale_up.bisection_share": "",
        "power.per_rack_kw": "kW",
        "power.system_kw": "kW",
    },
    Kind.COMPONENT: {
        "name": "",
        "vendor": "",
        "area": "",
        "scheme": "",
        "branch_depth": "n",
        "rule": "",
        "multiple": "",
        "read_from": "",
        "severity": "",
        "packages": "",
    },
    **{kind: dict.fromkeys(version_tables.FIELDS[kind], "") for kind in VERSION_TABLES},
}
# Fields of components that hold one of a few words.
CHOICES: Mapping[str, tuple[str, ...]] = {
    "area": AREAS,
    "scheme": tuple(Scheme),
    "rule": tuple(RuleKind),
    "multiple": ("yes", "no"),
    "severity": (Verdict.FAIL.value, Verdict.WARN.value),
}
_KINDS_OF_EVIDENCE = re.compile(r"[a-z0-9_]{1,40}(\s*,\s*[a-z0-9_]{1,40}){0,30}")
_PACKAGE = r"[A-Za-z0-9_][\w.+-]{0,79}\*?"
_PACKAGES = re.compile(rf"{_PACKAGE}(\s*,\s*{_PACKAGE}){{0,20}}")
_SHARES = {"scale_up.bisection_share"}
_TABLES = {Kind.ACCELERATOR: ("accelerators", "accelerators"), Kind.SUPERNODE: ("supernodes", "systems")}


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    """One figure that a team set. value: None says that it is not known."""

    entry: str
    path: str
    value: str | float | int | None
    source: str
    confidence: str


def shipped_rows(kind: Kind) -> dict[str, dict[str, Any]]:
    """The rows that come with the portal, by id; callers must not change them."""
    if kind is Kind.COMPONENT:
        return {row["id"]: component_row(row) for row in table("components")["components"]}
    if kind in VERSION_TABLES:
        return version_tables.shipped_rows(kind)
    name, key = _TABLES[kind]
    return {row["id"]: row for row in table(name)[key]}


def rows(kind: Kind, edits: Iterable[Edit]) -> dict[str, dict[str, Any]]:
    """The shipped rows with the edits laid over, later ones over earlier ones; new entries come last."""
    result = dict(shipped_rows(kind))
    touched: set[str] = set()
    for edit in edits:
        if edit.entry not in touched:
            result[edit.entry] = copy.deepcopy(result.get(edit.entry) or blank(kind, edit.entry))
            touched.add(edit.entry)
        row = result[edit.entry]
        set_path(row, edit.path, edit.value)
        row.setdefault("field_confidence", {})[edit.path] = edit.confidence
        row["source"] = [*row["source"], edit.source]
    return result


def blank(kind: Kind, entry: str) -> dict[str, Any]:
    """A row in which nothing is known yet."""
    if kind in VERSION_TABLES:
        return version_tables.blank(kind, entry)
    row: dict[str, Any] = {path: None for path in FIELDS[kind] if "." not in path}
    row |= {"id": entry, "name": entry, "vendor": "", "confidence": "unknown", "source": []}
    if kind is Kind.COMPONENT:
        return component_row({"id": entry, "label": entry}) | {"source": []}
    if kind is Kind.ACCELERATOR:
        link = dict.fromkeys(("kind", "unidirectional_gb_s", "pairwise_unidirectional_gb_s", "max_domain"))
        return row | {"architecture": "", "dense_tflops": {}, "scale_up": link | {"kind": ""}}
    link = dict.fromkeys(
        ("kind", "topology", "switch_layers", "switches", "unidirectional_gb_s_per_accelerator")
    )
    power = dict.fromkeys(("per_rack_kw", "system_kw", "cooling"))
    link["bisection_share"] = None
    return row | {"status": "", "year": None, "layout": None, "scale_up": link, "power": power}


def accelerators(edits: Iterable[Edit]) -> dict[str, Accelerator]:
    """Parsed accelerators with the edits laid over."""
    return {key: parse_accelerator(row) for key, row in rows(Kind.ACCELERATOR, edits).items()}


def components(edits: Iterable[Edit]) -> dict[str, Component]:
    """Parsed components with the edits laid over."""
    return {key: parse_component(as_shipped(row)) for key, row in rows(Kind.COMPONENT, edits).items()}


def tables(edits: Mapping[Kind, Iterable[Edit]]) -> version_tables.VersionTables:
    """The version tables with the edits of each laid over."""
    return version_tables.tables_of({kind: rows(kind, edits.get(kind, ())) for kind in VERSION_TABLES})


def right_to_set(kind: Kind) -> Right:
    """What it takes to set a figure: of tables that decide whether a matrix is locked as much as of rules."""
    return Right.ADMIN if kind in VERSION_TABLES else Right.OPERATE


def get_path(row: Mapping[str, Any], path: str) -> Any:
    """The value at a dotted path; None where it is not there."""
    value: Any = row
    for part in path.split("."):
        value = value.get(part) if isinstance(value, Mapping) else None
    return value


def set_path(row: dict[str, Any], path: str, value: Any) -> None:
    *parents, last = path.split(".")
    for part in parents:
        row = row.setdefault(part, {})
    row[last] = value


def checked_value(kind: Kind, path: str, raw: object) -> str | float | int | None:
    """A value as its field holds it; empty text is None. Raises Invalid (unknown_field, bad_value)."""
    if path not in FIELDS[kind]:
        raise _wrong(
            "/path",
            say("%(path)s is not one of %(fields)s", path=path, fields=", ".join(FIELDS[kind])),
            "unknown_field",
        )
    if raw is None or (isinstance(raw, str) and not raw.strip()):
        return None
    if kind is Kind.COMPONENT and (path in CHOICES or path in ("read_from", "packages")):
        return _checked_word(path, raw)
    if kind in VERSION_TABLES:
        return _checked_version(kind, path, raw)
    unit = FIELDS[kind][path]
    if unit == "" and path not in _SHARES:
        if not isinstance(raw, str) or len(raw) > 200:
            raise _wrong("/value", say("a text of at most 200 characters"), "bad_value")
        return raw.strip()
    number = _number(raw)
    most = 1.0 if path in _SHARES else 1e12
    if not 0 < number <= most or (unit == "n" and number != int(number)):
        wanted = (
            say("a share from 0 to 1")
            if path in _SHARES
            else say("a whole number")
            if unit == "n"
            else "a number"
        )
        raise _wrong("/value", say("%(wanted)s above zero", wanted=wanted), "bad_value")
    return int(number) if unit == "n" else number


def _checked_word(path: str, raw: object) -> str:
    text = raw.strip() if isinstance(raw, str) else ""
    if path == "read_from" and not _KINDS_OF_EVIDENCE.fullmatch(text):
        raise _wrong("/value", say("kinds of evidence, separated by commas"), "bad_value")
    if path == "packages" and not (_PACKAGES.fullmatch(text) and len(text) <= 200):
        raise _wrong("/value", say("names of packages, separated by commas"), "bad_value")
    if path in CHOICES and text not in CHOICES[path]:
        words = ", ".join(CHOICES[path])
        raise _wrong("/value", say("one of %(words)s", words=words), "bad_value")
    return text


def _checked_version(kind: Kind, path: str, raw: object) -> str:
    text = raw.strip() if isinstance(raw, str) and len(raw) <= 200 else ""
    if wanted := version_tables.fault_of_value(kind, path, text):
        raise _wrong("/value", wanted, "bad_value")
    return text


def _number(raw: object) -> float:
    if isinstance(raw, bool) or not isinstance(raw, str | int | float):
        raise _wrong("/value", say("a number above zero"), "bad_value")
    try:
        number = float(raw)
    except (ValueError, OverflowError):
        raise _wrong("/value", say("a number above zero"), "bad_value") from None
    return number if math.isfinite(number) else -1.0


def _wrong(pointer: str, message: str, code: str) -> Invalid:
    return Invalid(message, code=code, errors=[FieldError(pointer=pointer, message=message, code=code)])
