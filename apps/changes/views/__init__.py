"""Pages of changes: what was, what will be, who agreed, and how do I get back?"""

from apps.changes.views.decisions import (
    approve,
    cancel,
    fail,
    finish,
    pass_stage,
    review,
    start,
    submit,
)
from apps.changes.views.drafts import edit, new
from apps.changes.views.pages import change, changes, inventory, snapshot
from apps.changes.views.rollbacks import roll_back, roll_back_to

__all__ = [
    "approve",
    "cancel",
    "change",
    "changes",
    "edit",
    "fail",
    "finish",
    "inventory",
    "new",
    "pass_stage",
    "review",
    "roll_back",
    "roll_back_to",
    "snapshot",
    "start",
    "submit",
]
