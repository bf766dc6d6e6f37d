"""What Celery calls: run one job, and the tick that makes up for everything that went missing."""

from __future__ import annotations

from celery import shared_task

from apps.core import actor as actors
from apps.jobs import running, services


@shared_task(name="jobs.run", ignore_result=True)
def run(job_id: int) -> None:
    """Do one job, unless somebody else has it."""
    running.run(job_id)


@shared_task(name="jobs.tick", ignore_result=True, expires=60)
def tick() -> None:
    """Lost workers, lost messages, due schedules."""
    services.reap()
    services.run_due_schedules(actor=actors.system("schedule"))
    services.resend()
