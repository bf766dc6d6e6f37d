"""A change filled in from findings of drift: the nodes that differ, back to what the matrix asks for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from django.utils.translation import gettext as _

from apps.catalogue.engine.components import component
from apps.core.hostlist import fold
from apps.core.speech import listed
from apps.core.verdicts import Verdict
from apps.environments.engine.drift import FindingKind
from apps.environments.models import DriftFinding
from apps.environments.queries import matrix_in_force, open_findings
from apps.environments.words import label_of
from apps.fleet.models import Domain

KIND_OF_AREA = {"driver": "driver", "firmware": "firmware", "framework": "framework", "system": "system"}
COLLECTIVE_LIBRARIES = frozenset({"nccl", "rccl", "hccl"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Prefilled:
    """Values for the form, rows for its items, and the findings that they come from."""

    fields: dict[str, Any]
    items: list[dict[str, str]] = field(default_factory=list)
    findings: list[DriftFinding] = field(default_factory=list)


def from_findings(domain: Domain, nodes: Sequence[str], parts: Sequence[str]) -> Prefilled:
    """The open findings on these nodes and components as a change.

    No components: all of them. No nodes: all that fail in these components. Neither gives an empty form.
    """
    if not nodes and not parts:
        return Prefilled(fields={"nodes": ""})
    found = open_findings(domain=domain).filter(kind=FindingKind.DRIFT.value).exclude(intended="")
    found = found.order_by("node__index", "node__name", "component")
    found = found.filter(node__name__in=list(nodes)) if nodes else found.filter(verdict=Verdict.FAIL.value)
    if parts:
        found = found.filter(component__in=list(parts))
    findings = list(found)
    names = list(dict.fromkeys(finding.node.name for finding in findings)) or list(nodes)
    wanted = {finding.component: finding.intended for finding in findings}
    wanted |= {part: "" for part in parts if part not in wanted}
    items = [{"component": part, "version": version} for part, version in wanted.items()]
    if not names:
        return Prefilled(fields={"nodes": ""}, items=items)
    matrix = matrix_in_force(domain)
    texts = {
        "nodes": fold(names),
        "matrix": str(matrix) if matrix else _("its matrix"),
        "parts": listed(label_of(part) for part in wanted),
    }
    fields = {
        "nodes": fold(names),
        "kind": kind_of(list(wanted)),
        "title": (_("%(parts)s on %(nodes)s back to %(matrix)s") % texts)[:200],
        "reason": _("Drift: %(nodes)s does not match %(matrix)s.") % texts,
    }
    return Prefilled(fields=fields, items=items, findings=findings)


def kind_of(parts: Sequence[str]) -> str:
    """The kind of a change of these components: that of the first one whose area has a kind of its own."""
    for part in parts:
        if part in COLLECTIVE_LIBRARIES:
            return "nccl"
        if kind := KIND_OF_AREA.get(component(part).area):
            return kind
    return "system"
