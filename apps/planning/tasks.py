"""Work of planning that a worker does."""

from __future__ import annotations

from typing import Any

from apps.core.texts import say
from apps.jobs.registry import job
from apps.jobs.running import RunningJob
from apps.planning.services import computing, plans
from apps.planning.services.studies import KIND as STUDY
from apps.planning.studies import study_named


@job("planning.estimate")
def estimate(run: RunningJob) -> dict[str, Any]:
    """Compute one version of a plan: one layout, or a search."""
    version_id = run.arguments["version_id"]
    run.progress(0, 1, say("computing"))
    result = plans.compute_version(version_id=version_id, on_progress=_reporting(run))
    with run.finishing() as outcome:
        version = plans.keep_result(version_id=version_id, result=result)
        outcome.result = {"version": version.pk, "number": version.number, "fits": version.fits}
        outcome.url = f"/plans/{version.plan_id}/versions/{version.number}/"
    return outcome.result


@job("planning.ask")
def ask(run: RunningJob) -> dict[str, Any]:
    """Compute a document that belongs to no plan."""
    run.progress(0, 1, say("computing"))
    return computing.answer_to(run.arguments["document"], _reporting(run))


@job(STUDY)
def study(run: RunningJob) -> dict[str, Any]:
    """Answer a study that takes longer than a page should wait."""
    asked, values = study_named(run.arguments["study"]), run.arguments["values"]
    answer = asked.compute(values) if asked.work is None else asked.work(values, _reporting(run))
    with run.finishing() as outcome:
        outcome.result = answer
        outcome.url = f"/plans/studies/{asked.key}/?job={run.job.pk}"
    return answer


def _reporting(run: RunningJob) -> computing.Progress:
    return lambda done, total: run.progress(done, total, say("searching"))
