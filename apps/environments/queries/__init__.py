"""Questions about environments, by noun."""

from apps.environments.queries.compatibility import HeldRule, compatibility_rules, rules_in_force
from apps.environments.queries.drift import (
    checks_visible,
    finding_for,
    findings_visible,
    newest_check,
    open_findings,
)
from apps.environments.queries.hardware import ABOUT_CARDS, hardware_faults
from apps.environments.queries.holders import Held, entries_asking, held_versions, nodes_running
from apps.environments.queries.intent import (
    Intent,
    compatibility_of,
    differing,
    domains_of,
    entries_of,
    intent_of,
    known_good_versions,
    laid_together,
    undecided,
)
from apps.environments.queries.matrices import (
    beneath,
    in_use_elsewhere,
    known_good,
    matrices_visible,
    matrix_for,
    matrix_in_force,
    matrix_version_for,
    versions_of,
    versions_visible,
)
from apps.environments.queries.policy import policies_of, policy_of
from apps.environments.queries.reports import (
    facts_visible,
    newest_reports,
    observed_by_domain,
    report_marks,
    reported_by_domain,
    reported_versions,
)
from apps.environments.queries.standing import (
    DomainStanding,
    domain_for,
    domain_standings,
    domains_visible,
    newest_checks,
)

__all__ = [
    "ABOUT_CARDS",
    "DomainStanding",
    "Held",
    "HeldRule",
    "Intent",
    "beneath",
    "checks_visible",
    "compatibility_of",
    "compatibility_rules",
    "differing",
    "domain_for",
    "domain_standings",
    "domains_of",
    "domains_visible",
    "entries_asking",
    "entries_of",
    "facts_visible",
    "finding_for",
    "findings_visible",
    "hardware_faults",
    "held_versions",
    "in_use_elsewhere",
    "intent_of",
    "known_good",
    "known_good_versions",
    "laid_together",
    "matrices_visible",
    "matrix_for",
    "matrix_in_force",
    "matrix_version_for",
    "newest_check",
    "newest_checks",
    "newest_reports",
    "nodes_running",
    "observed_by_domain",
    "open_findings",
    "policies_of",
    "policy_of",
    "report_marks",
    "reported_by_domain",
    "reported_versions",
    "rules_in_force",
    "undecided",
    "versions_of",
    "versions_visible",
]
