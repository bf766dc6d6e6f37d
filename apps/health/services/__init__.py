"""Decisions about health, and what observations make of it."""

from apps.health.services.faults import resolve_fault
from apps.health.services.fetching import fetch_metrics
from apps.health.services.metrics import ask_metrics_now, remove_metrics_source, set_metrics_source
from apps.health.services.observations import forget_stale_health, record_reading
from apps.health.services.quarantine import quarantine_as_proposed, quarantine_by_policy, set_policy
from apps.health.services.rules import set_rule
from apps.health.services.upkeep import plan_upkeep, plan_usual_upkeep, record_upkeep, retire_upkeep

__all__ = [
    "ask_metrics_now",
    "fetch_metrics",
    "forget_stale_health",
    "plan_upkeep",
    "plan_usual_upkeep",
    "quarantine_as_proposed",
    "quarantine_by_policy",
    "record_reading",
    "record_upkeep",
    "remove_metrics_source",
    "resolve_fault",
    "retire_upkeep",
    "set_metrics_source",
    "set_policy",
    "set_rule",
]
