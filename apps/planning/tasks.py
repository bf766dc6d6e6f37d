"""Work of planning that a worker does."""

from __future__ import annotations

from typing import Any

from apps.jobs.registry import job
from apps.jobs.running import RunningJob
from apps.planning.services import plans


@job("planning.estimate")
def estimate(run: RunningJob) -> dict[str, Any]:
    """Compute one version of a plan."""
    version_id = run.arguments["version_id"]
    run.progress(0, 1, "computing")
    result = plans.compute_version(version_id=version_id)
    with run.finishing() as outcome:
        version = plans.keep_result(version_id=version_id, result=result)
        outcome.result = {"version": version.pk, "fits": version.fits}
    return outcome.result
