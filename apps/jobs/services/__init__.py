"""Asking for work, watching over it, schedules, and messages to the team's own automation."""

from apps.jobs.services.schedules import ensure_recurring, ensure_schedule, run_due_schedules
from apps.jobs.services.watch import beat, reap, resend
from apps.jobs.services.work import cancel, enqueue, retry, send

__all__ = [
    "beat",
    "cancel",
    "enqueue",
    "ensure_recurring",
    "ensure_schedule",
    "reap",
    "resend",
    "retry",
    "run_due_schedules",
    "send",
]
