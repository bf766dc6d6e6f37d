"""Decisions about environments, by noun."""

from apps.environments.services.compatibility import clear_compatibility_rule, set_compatibility_rule
from apps.environments.services.drafting import (
    draft_from_file,
    draft_from_reports,
    draft_from_version,
    remove_entry,
    replace_entries,
    set_entry,
)
from apps.environments.services.drift import (
    compare_domain,
    keep_check,
    request_check,
    request_checks_of,
    request_due_checks,
)
from apps.environments.services.findings import assign_finding
from apps.environments.services.history import thin_history
from apps.environments.services.matrices import lock_matrix, mark_known_good, retire_matrix
from apps.environments.services.policy import set_policy
from apps.environments.services.reports import CLOCK_AHEAD_S, Repeat, record_report, record_unchanged

__all__ = [
    "CLOCK_AHEAD_S",
    "Repeat",
    "assign_finding",
    "clear_compatibility_rule",
    "compare_domain",
    "draft_from_file",
    "draft_from_reports",
    "draft_from_version",
    "keep_check",
    "lock_matrix",
    "mark_known_good",
    "record_report",
    "record_unchanged",
    "remove_entry",
    "replace_entries",
    "request_check",
    "request_checks_of",
    "request_due_checks",
    "retire_matrix",
    "set_compatibility_rule",
    "set_entry",
    "set_policy",
    "thin_history",
]
