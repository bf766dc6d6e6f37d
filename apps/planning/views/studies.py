"""Pages of the studies: the hub, and one page per study with its form beside its answer."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse

from apps.core.errors import Invalid
from apps.core.pages import STOP_POLLING, actor_of
from apps.jobs.models import Job, JobState
from apps.planning.services.studies import ask_study
from apps.planning.studies import STUDIES, asking, study_named
from apps.planning.studies.base import Study
from apps.planning.studies.fields import StudyForm


def hub(request: HttpRequest) -> HttpResponse:
    """All studies; with ?plan=PLAN.NUMBER each starts from that version."""
    actor = actor_of(request)
    asking.require_reader(actor)
    plan = asking.plan_in(actor, request.GET.get("plan"))
    return render(request, "planning/studies/hub.html", {"studies": list(STUDIES.values()), "plan": plan})


def study(request: HttpRequest, key: str) -> HttpResponse:
    """One study: its form, always filled, and the answer to it; at once, or by a job."""
    actor = actor_of(request)
    asking.require_reader(actor)
    asked = study_named(key)
    if asked.is_long:
        return _long(request, asked)
    form = asking.form_for(asked, request.GET, actor=actor)
    answered = asking.answer(asked, form)
    return _page(request, asked, form, blocks=asked.show(*answered) if answered else [])


def _long(request: HttpRequest, asked: Study) -> HttpResponse:
    """A study that a worker answers: POST asks, ?job=ID shows how far it is, and the answer."""
    actor = actor_of(request)
    if request.method == "POST":
        form = asking.form_for(asked, request.POST, actor=actor)
        if form.is_valid():
            try:
                job = ask_study(
                    actor=actor,
                    study=asked.key,
                    scope_id=form.scope_id,
                    values=form.values(),
                    asked=asking.as_sent(form),
                )
            except Invalid as error:
                asking.place_errors(form, error)
            else:
                return redirect(f"{reverse('planning:study', args=[asked.key])}?job={job.pk}")
        return _page(request, asked, form)
    if "job" not in request.GET:
        return _page(request, asked, asking.form_for(asked, request.GET, actor=actor))
    job = asking.job_of(asked, actor, request.GET["job"])
    if request.headers.get("HX-Request"):
        status = STOP_POLLING if job.is_over else 200
        return render(request, "planning/studies/_job.html", {"job": job, "study": asked}, status=status)
    form = asking.form_of_job(asked, job, actor=actor)
    return _page(request, asked, form, job=job, blocks=_blocks(asked, form, job))


def _blocks(asked: Study, form: StudyForm, job: Job) -> Any:
    """What the job answered; its refusal stands at the fields instead."""
    if job.state == JobState.SUCCEEDED and job.result is not None:
        return asked.show(job.arguments["values"], job.result)
    form.is_valid()
    for problem in (job.problem or {}).get("errors", ()):
        name = problem["pointer"].strip("/")
        form.add_error(name if name in form.fields else None, problem["message"])
    return []


def _page(
    request: HttpRequest, asked: Study, form: StudyForm, *, job: Job | None = None, blocks: Any = ()
) -> HttpResponse:
    context = {"study": asked, "form": form, "plan": form.plan, "job": job, "blocks": blocks}
    return render(request, "planning/studies/study.html", context)
