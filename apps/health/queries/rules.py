"""The rules as a cluster has them: those that come with the portal, under what a team set."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from django.db.models import Q

from apps.health.engine.thresholds import HealthRule, built_in_rules
from apps.health.models import RuleSetting


def rules_of(cluster_id: int | None) -> tuple[HealthRule, ...]:
    """All rules with the limits and switches that hold in a cluster; None: where no cluster says otherwise.

    A setting of the cluster goes before one for all clusters.
    """
    return _under_settings(RuleSetting.objects.filter(Q(cluster_id=cluster_id) | Q(cluster__isnull=True)))


def rules_of_each(cluster_ids: Iterable[int]) -> dict[int, tuple[HealthRule, ...]]:
    """Cluster id to its rules as `rules_of` gives them, in one query for all of them."""
    ids = set(cluster_ids)
    rows = list(RuleSetting.objects.filter(Q(cluster_id__in=ids) | Q(cluster__isnull=True)))
    return {pk: _under_settings(row for row in rows if row.cluster_id in (pk, None)) for pk in ids}


def rule_settings(cluster_id: int | None) -> dict[str, RuleSetting]:
    """Rule id to what was set for exactly this cluster, or (None) for all of them."""
    rows = RuleSetting.objects.filter(cluster_id=cluster_id).select_related("changed_by")
    return {row.rule: row for row in rows}


def _under_settings(rows: Iterable[RuleSetting]) -> tuple[HealthRule, ...]:
    settings = _by_rule(rows)
    return tuple(_under(rule, settings.get(rule.id)) for rule in built_in_rules())


def _by_rule(rows: Iterable[RuleSetting]) -> dict[str, RuleSetting]:
    return {row.rule: row for row in sorted(rows, key=lambda row: row.cluster_id is not None)}


def _under(rule: HealthRule, setting: RuleSetting | None) -> HealthRule:
    if setting is None:
        return rule
    return replace(rule, is_enabled=setting.enabled, warn=setting.warn, fail=setting.fail)
