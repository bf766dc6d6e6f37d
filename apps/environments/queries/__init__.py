"""Questions about environments, by noun."""

from apps.environments.queries.drift import newest_check, open_findings
from apps.environments.queries.matrices import (
    differing,
    entries_of,
    known_good,
    matrices_visible,
    matrix_for,
    matrix_in_force,
    matrix_version_for,
    versions_of,
    versions_visible,
)
from apps.environments.queries.reports import reported_by_domain, reported_versions
from apps.environments.queries.standing import (
    DomainStanding,
    domain_for,
    domain_standings,
    domains_visible,
    newest_checks,
)

__all__ = [
    "DomainStanding",
    "differing",
    "domain_for",
    "domain_standings",
    "domains_visible",
    "entries_of",
    "known_good",
    "matrices_visible",
    "matrix_for",
    "matrix_in_force",
    "matrix_version_for",
    "newest_check",
    "newest_checks",
    "open_findings",
    "reported_by_domain",
    "reported_versions",
    "versions_of",
    "versions_visible",
]
