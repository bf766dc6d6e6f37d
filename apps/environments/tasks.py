"""Work of environments that a worker does."""

from __future__ import annotations

from typing import Any

from django.urls import reverse

from apps.core.texts import say
from apps.environments import services
from apps.environments.services.drift import CHECK_DRIFT
from apps.environments.services.policy import CHECK_EVERY_S
from apps.jobs.registry import job
from apps.jobs.running import RunningJob


@job(CHECK_DRIFT)
def check_drift(run: RunningJob) -> dict[str, Any]:
    """Check one domain: compared without a transaction, then written and completed in one."""
    run.progress(0, 1, say("comparing"))
    domain_id = run.arguments["domain_id"]
    compared = services.compare_domain(domain_id=domain_id)
    with run.finishing() as outcome:
        check = services.keep_check(compared)
        outcome.result = {"check": check.pk, "verdict": check.verdict, "findings": check.finding_count}
        outcome.url = reverse("environments:drift", args=[domain_id])
    return outcome.result


@job("environments.check_due", every_s=CHECK_EVERY_S[0])
def check_due(run: RunningJob) -> dict[str, Any]:
    """Ask for the checks that are due; a check that waits already is asked for once."""
    return {"asked": services.request_due_checks(actor=run.actor)}


@job("environments.thin_history", every_s=86400)
def thin_history(_run: RunningJob) -> dict[str, Any]:
    """Remove old history, a thousand rows at a time."""
    return services.thin_history()
