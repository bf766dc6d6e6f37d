"""Decisions about environments, by noun."""

from apps.environments.services.drift import check_domain, request_check
from apps.environments.services.matrices import (
    draft_from_reports,
    draft_from_version,
    lock_matrix,
    mark_known_good,
    retire_matrix,
    set_entry,
)
from apps.environments.services.reports import record_report

__all__ = [
    "check_domain",
    "draft_from_reports",
    "draft_from_version",
    "lock_matrix",
    "mark_known_good",
    "record_report",
    "request_check",
    "retire_matrix",
    "set_entry",
]
