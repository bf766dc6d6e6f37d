"""Decisions about changes, by noun."""

from apps.changes.services.approvals import approve_change, refuse_change
from apps.changes.services.drafting import (
    Content,
    Wish,
    cancel_change,
    draft_change,
    edit_change,
    stages_for,
    submit_change,
)
from apps.changes.services.rollbacks import Origin, review_rollback, roll_back_change, start_rollback
from apps.changes.services.rollout import (
    consider_reports,
    fail_change,
    finish_change,
    pass_stage,
    start_change,
)

__all__ = [
    "Content",
    "Origin",
    "Wish",
    "approve_change",
    "cancel_change",
    "consider_reports",
    "draft_change",
    "edit_change",
    "fail_change",
    "finish_change",
    "pass_stage",
    "refuse_change",
    "review_rollback",
    "roll_back_change",
    "stages_for",
    "start_change",
    "start_rollback",
    "submit_change",
]
