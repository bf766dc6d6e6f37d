"""Components as rows of figures (every field there, lists and yes or no as text), and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from apps.catalogue.engine.components import RuleKind
from apps.catalogue.engine.reference import listed
from apps.catalogue.engine.versions import Scheme
from apps.core.verdicts import Verdict


def component_row(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row of the data file as one of figures."""
    return {
        "id": row["id"],
        "name": row["label"],
        "vendor": row.get("vendor") or "any",
        "area": row.get("area") or "system",
        "scheme": row.get("scheme") or Scheme.OPAQUE.value,
        "branch_depth": row.get("branch_depth"),
        "rule": row.get("rule") or RuleKind.EXACT.value,
        "multiple": "yes" if row.get("multiple") else "no",
        "read_from": ", ".join(row.get("read_from") or ()),
        "severity": row.get("severity") or Verdict.FAIL.value,
        "packages": ", ".join(row.get("packages") or ()),
        "confidence": "",
        "source": ["comes with the portal"],
    }


def as_shipped(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row of figures in the form of the data file."""
    return {
        **row,
        "label": row["name"],
        "multiple": row["multiple"] == "yes",
        "read_from": listed(row["read_from"]),
        "packages": listed(row["packages"]),
    }
