"""Questions about health, by noun."""

from apps.health.queries.faults import fault_for, faults_visible, health_of, open_faults, states_visible
from apps.health.queries.metrics import metrics_source_of, metrics_sources
from apps.health.queries.observations import unsettled_observations
from apps.health.queries.proposals import (
    AUTOMATION,
    NodeProposal,
    grounds_of,
    policy_of,
    proposals,
    proposals_for,
    recovered,
)
from apps.health.queries.rules import rule_settings, rules_of
from apps.health.queries.upkeep import downgrade_paths, overdue_upkeep, task_for, tasks_visible

__all__ = [
    "AUTOMATION",
    "NodeProposal",
    "downgrade_paths",
    "fault_for",
    "faults_visible",
    "grounds_of",
    "health_of",
    "metrics_source_of",
    "metrics_sources",
    "open_faults",
    "overdue_upkeep",
    "policy_of",
    "proposals",
    "proposals_for",
    "recovered",
    "rule_settings",
    "rules_of",
    "states_visible",
    "task_for",
    "tasks_visible",
    "unsettled_observations",
]
