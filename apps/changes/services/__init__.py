"""Decisions about changes, by noun."""

from apps.changes.services.approvals import approve_change, refuse_change
from apps.changes.services.drafting import Wish, cancel_change, draft_change, edit_change, submit_change
from apps.changes.services.rollbacks import (
    RollbackPreview,
    preview_rollback,
    review_rollback,
    roll_back_change,
    start_rollback,
)
from apps.changes.services.rollout import (
    consider_reports,
    fail_change,
    finish_change,
    pass_stage,
    start_change,
)

__all__ = [
    "RollbackPreview",
    "Wish",
    "approve_change",
    "cancel_change",
    "consider_reports",
    "draft_change",
    "edit_change",
    "fail_change",
    "finish_change",
    "pass_stage",
    "preview_rollback",
    "refuse_change",
    "review_rollback",
    "roll_back_change",
    "start_change",
    "start_rollback",
    "submit_change",
]
