"""Work of environments that a worker does."""

from __future__ import annotations

from typing import Any

from apps.environments import services
from apps.jobs.registry import job
from apps.jobs.running import RunningJob


@job("environments.check_drift")
def check_drift(run: RunningJob) -> dict[str, Any]:
    """Check one domain."""
    run.progress(0, 1, "comparing")
    with run.finishing() as outcome:
        check = services.check_domain(domain_id=run.arguments["domain_id"])
        outcome.result = {"check": check.pk, "verdict": check.verdict, "findings": check.finding_count}
    return outcome.result
