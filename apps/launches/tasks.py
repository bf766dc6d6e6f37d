"""Work of launches that a worker does."""

from __future__ import annotations

from typing import Any

from apps.core.texts import say
from apps.jobs.registry import job
from apps.jobs.running import RunningJob
from apps.launches import services


@job("launches.evaluate")
def evaluate(run: RunningJob) -> dict[str, Any]:
    """Evaluate one launch."""
    run.progress(0, 1, say("checking"))
    with run.finishing() as outcome:
        evaluation = services.evaluate(evaluation_id=run.arguments["evaluation_id"])
        outcome.result = {"evaluation": str(evaluation.pk), "verdict": evaluation.verdict}
    return outcome.result
