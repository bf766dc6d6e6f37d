"""Decisions about launches, by noun."""

from apps.launches.services.evaluations import evaluate, request_evaluation
from apps.launches.services.launches import (
    cancel_launch,
    edit_launch,
    finish_launch,
    open_launch,
    start_launch,
)
from apps.launches.services.people import (
    answer_item,
    answer_items,
    approve_waiver,
    ask_waiver,
    revoke_waiver,
    sign_launch,
)
from apps.launches.services.rollback import roll_back_for, rollback_preview
from apps.launches.services.templates import standard_template

__all__ = [
    "answer_item",
    "answer_items",
    "approve_waiver",
    "ask_waiver",
    "cancel_launch",
    "edit_launch",
    "evaluate",
    "finish_launch",
    "open_launch",
    "request_evaluation",
    "revoke_waiver",
    "roll_back_for",
    "rollback_preview",
    "sign_launch",
    "standard_template",
    "start_launch",
]
