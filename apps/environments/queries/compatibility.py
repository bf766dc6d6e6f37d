"""Rules between components as a cluster has them: the shipped ones, under what teams set and added."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.db.models import F, Q

from apps.environments.engine.compat import CompatibilityRule, read_rules, shipped_rows
from apps.environments.models import CompatibilityEdit


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldRule:
    """One rule. definition: plain data without the id; of a rule that is off, what it would say.

    edit: who set it otherwise, None where it is as shipped. own_version: of the edit of exactly the place that
    was asked about, 0 where that place says nothing itself.
    """

    id: str
    definition: Mapping[str, Any]
    is_enabled: bool
    is_shipped: bool
    edit: CompatibilityEdit | None
    own_version: int

    @property
    def title(self) -> str:
        return str(self.definition.get("title") or self.id)


def compatibility_rules(cluster_id: int | None) -> list[HeldRule]:
    """All rules of a cluster, or (None) those of clusters that set nothing themselves, in one query.

    An edit of the cluster goes before one for all clusters. Shipped rules come first, then added ones.
    """
    held = {name: _shipped(name, row) for name, row in shipped_rows().items()}
    edits = CompatibilityEdit.objects.filter(Q(cluster__isnull=True) | Q(cluster_id=cluster_id))
    ordered = edits.select_related("changed_by").order_by(F("cluster_id").asc(nulls_first=True), "rule", "id")
    for edit in ordered:
        before = held.get(edit.rule)
        held[edit.rule] = HeldRule(
            id=edit.rule,
            definition=edit.definition or (before.definition if before else {}),
            is_enabled=edit.definition is not None,
            is_shipped=edit.rule in shipped_rows(),
            edit=edit,
            own_version=edit.version if edit.cluster_id == cluster_id else 0,
        )
    return list(held.values())


def rules_in_force(cluster_id: int) -> tuple[CompatibilityRule, ...]:
    """The rules that a cluster's matrices are held against; those that are switched off are left out."""
    held = [rule for rule in compatibility_rules(cluster_id) if rule.is_enabled]
    return read_rules([{**rule.definition, "id": rule.id} for rule in held])


def _shipped(name: str, row: Mapping[str, Any]) -> HeldRule:
    definition = {key: value for key, value in row.items() if key != "id"}
    return HeldRule(
        id=name, definition=definition, is_enabled=True, is_shipped=True, edit=None, own_version=0
    )
