"""Rules: switched off and on, and given other limits, everywhere or in one cluster."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace

from django.utils.translation import gettext as _

from apps.audit.services import decision, record
from apps.core import clock
from apps.core.actor import Actor
from apps.core.errors import FieldError, Invalid, Missing, Stale
from apps.core.reasons import says_something
from apps.core.rights import Right
from apps.core.seen import write_seen
from apps.fleet.models import Cluster, Node
from apps.health import queries
from apps.health.engine.thresholds import Direction, HealthRule, built_in_rules, verdict_of
from apps.health.models import HealthState, RuleSetting
from apps.health.services.standing import lock_nodes, renew_health


@decision
def set_rule(
    *,
    actor: Actor,
    rule_id: str,
    cluster_id: int | None,
    expected_version: int,
    enabled: bool,
    warn: float | None,
    fail: float | None,
    reason: str,
) -> RuleSetting:
    """Set a rule's switch and limits for one cluster, or (None) for all that say nothing themselves.

    What a rule that is switched off had settled is forgotten; other limits are held against the figures that were
    seen last. The health of those nodes follows. expected_version: 0 where nothing was set yet.
    Raises Missing, Invalid (limits, reason), NotAllowed (role), Stale.
    """
    cluster = None if cluster_id is None else Cluster.objects.get(pk=cluster_id)
    actor.require(Right.ADMIN, cluster.scope_id if cluster else None)
    rule = next((one for one in built_in_rules() if one.id == rule_id), None)
    if rule is None:
        raise Missing(_("there is no such rule"))
    _check(rule, warn, fail, reason)
    held = queries.rule_settings(cluster_id).get(rule_id)
    values = {"enabled": enabled, "warn": warn, "fail": fail, "reason": reason.strip()[:300]}
    said = values | {"changed_by_id": actor.person_id, "changed_at": clock.now()}
    key = {"rule": rule_id, "cluster_id": cluster_id}
    if not write_seen(RuleSetting, key, said, expected_version=expected_version):
        raise Stale(_("the rule was changed meanwhile; look at it again"))
    setting = RuleSetting.objects.get(**key)
    _settle_anew(replace(rule, is_enabled=enabled, warn=warn, fail=fail), cluster_id)
    record(
        actor=actor,
        action="health.rule_set",
        on=setting,
        scope_id=cluster.scope_id if cluster else None,
        before=None if held is None else {"enabled": held.enabled, "warn": held.warn, "fail": held.fail},
        after={"rule": rule_id, "enabled": enabled, "warn": warn, "fail": fail},
        reason=reason.strip(),
    )
    return setting


def _settle_anew(rule: HealthRule, cluster_id: int | None) -> None:
    """Judge the figures of a rule as it is now, or drop them where it is off.

    For all clusters (None) those are left out that have a setting of their own.
    """
    nodes = Node.objects.all() if cluster_id is None else Node.objects.filter(cluster_id=cluster_id)
    if cluster_id is None:
        own = RuleSetting.objects.filter(rule=rule.id, cluster__isnull=False)
        nodes = nodes.exclude(cluster_id__in=own.values("cluster_id"))
    states = HealthState.objects.filter(rule=rule.id, node__in=nodes)
    touched = lock_nodes(Node.objects.filter(pk__in=states.values("node")))
    if rule.is_enabled:
        _judge(rule, states)
    else:
        states.delete()
    renew_health(touched)


def _judge(rule: HealthRule, states: Iterable[HealthState]) -> None:
    changed = []
    for state in states:
        verdict = verdict_of(rule, float("nan") if state.value is None else state.value).value
        if {state.verdict, *state.recent} == {verdict}:
            continue
        if verdict != state.verdict:
            state.verdict, state.since = verdict, clock.now()
        state.recent = [verdict]
        changed.append(state)
    HealthState.objects.bulk_update(changed, ["recent", "verdict", "since"], batch_size=100)


def _check(rule: HealthRule, warn: float | None, fail: float | None, reason: str) -> None:
    errors = []
    for name, value in (("warn", warn), ("fail", fail)):
        if value is not None and not math.isfinite(value):
            errors.append(FieldError(pointer=f"/{name}", message=_("a number is needed")))
    if warn is None and fail is None:
        errors.append(FieldError(pointer="/fail", message=_("a rule needs a limit to warn or to fail at")))
    if not errors and warn is not None and fail is not None:
        is_ordered = warn <= fail if rule.direction is Direction.ABOVE else warn >= fail
        if not is_ordered:
            errors.append(FieldError(pointer="/warn", message=_("a rule warns before it fails")))
    if not says_something(reason):
        errors.append(FieldError(pointer="/reason", message=_("a reason is needed")))
    if errors:
        raise Invalid(errors[0].message, code="rule", errors=errors)
