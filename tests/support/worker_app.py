"""The Celery application as a worker runs it, and a job that a test can hold in the middle."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING

from apps.jobs.registry import job
from supernode_portal.celery import application

if TYPE_CHECKING:
    from apps.jobs.running import RunningJob

__all__ = ["application"]


@job("test.hold")
def hold(run: RunningJob) -> None:
    """Say that it began, wait for leave to go on, then leave exactly one effect."""
    from apps.accounts.models import Scope
    from apps.audit import services as audit

    folder = Path(run.arguments["folder"])
    run.progress(0, 2, "began")
    (folder / f"began-{os.getpid()}").touch()
    while not (folder / "go").exists():
        time.sleep(0.05)
        run.progress(1, 2, "waiting")
    with run.finishing() as outcome:
        scope = Scope.objects.create(slug=f"made-{time.time_ns()}", name="made by a job")
        audit.record(actor=run.actor, action="test.held", on=scope)
        outcome.result = {"scope": scope.pk}
