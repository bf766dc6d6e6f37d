"""Questions about environments, by noun."""

from apps.environments.queries.drift import newest_check, open_findings
from apps.environments.queries.matrices import (
    differing,
    entries_of,
    known_good,
    matrices_visible,
    matrix_in_force,
    matrix_version_for,
    versions_visible,
)
from apps.environments.queries.reports import reported_by_domain, reported_versions

__all__ = [
    "differing",
    "entries_of",
    "known_good",
    "matrices_visible",
    "matrix_in_force",
    "matrix_version_for",
    "newest_check",
    "open_findings",
    "reported_by_domain",
    "reported_versions",
    "versions_visible",
]
