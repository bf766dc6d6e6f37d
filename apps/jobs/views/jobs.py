"""Pages of jobs and of schedules."""

from __future__ import annotations

import json

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from apps.audit.queries import events_visible_to
from apps.core import clock, form_errors
from apps.core.actor import Actor
from apps.core.administration import tabs
from apps.core.errors import Invalid
from apps.core.filtering import refuse_unknown
from apps.core.pages import STOP_POLLING, actor_of
from apps.core.paging import page_of
from apps.core.rights import Right
from apps.jobs import forms, queries, services
from apps.jobs.filters import JobFilter
from apps.jobs.models import Job
from apps.jobs.running import SUMMARY
from apps.jobs.services import audit_work
from apps.jobs.services.schedules import change_schedule

_LONGEST_SHOWN_CHARS = 50_000


def jobs(request: HttpRequest) -> HttpResponse:
    """Work that is under way, and work that is over."""
    actor = actor_of(request)
    refuse_unknown(JobFilter, request.GET)
    found = JobFilter(request.GET, queryset=queries.jobs_visible_to(actor))
    context = {
        "filter": found,
        "page": page_of(request, found.qs),
        "filtered": any(request.GET.get(name) for name in JobFilter.get_filters()),
        "administration": tabs(actor),
        "worker_seen": queries.worker_seen(clock.now()),
    }
    return render(request, "jobs/jobs.html", context)


def job(request: HttpRequest, job_id: int) -> HttpResponse:
    """One job: how far it is, what came out, and stopping it."""
    return render(request, "jobs/job.html", _job_context(request, job_id))


def fragment(request: HttpRequest, job_id: int) -> HttpResponse:
    """The part of the job's page that changes; ends the polling once the job is over."""
    context = _job_context(request, job_id)
    status = STOP_POLLING if context["job"].is_over else 200
    return render(request, "jobs/_job.html", context, status=status)


def bell(request: HttpRequest) -> HttpResponse:
    """The bell with the number of one's jobs that are under way."""
    running = queries.running_jobs(actor_of(request)).count()
    return render(request, "components/bell.html", {"jobs_running": running})


@require_POST
def cancel(request: HttpRequest, job_id: int) -> HttpResponse:
    """Ask for a job to stop."""
    services.cancel(job_id=job_id, actor=actor_of(request))
    return redirect("jobs:job", job_id)


@require_POST
def retry(request: HttpRequest, job_id: int) -> HttpResponse:
    """Ask anew for what failed or was cancelled."""
    return redirect("jobs:job", services.retry(job_id=job_id, actor=actor_of(request)).pk)


@require_POST
def verify_audit(request: HttpRequest) -> HttpResponse:
    """Ask for a walk along the audit trail."""
    return redirect("jobs:job", audit_work.ask_for_verification(actor=actor_of(request)).pk)


@require_POST
def checkpoint_audit(request: HttpRequest) -> HttpResponse:
    """Ask for a checkpoint of the audit trail."""
    return redirect("jobs:job", audit_work.ask_for_checkpoint(actor=actor_of(request)).pk)


def schedules(request: HttpRequest) -> HttpResponse:
    """Work that is due again and again."""
    actor = actor_of(request)
    context = {"schedules": queries.schedules_visible_to(actor), "administration": tabs(actor)}
    return render(request, "jobs/schedules.html", context)


def schedule(request: HttpRequest, schedule_id: int) -> HttpResponse:
    """How often one kind of work is due."""
    actor = actor_of(request)
    found = queries.schedule(schedule_id, actor=actor)
    initial = {"every_s": found.every_s, "enabled": found.enabled, "version": found.version}
    form = forms.ScheduleForm(request.POST or None, initial=initial)
    if request.method == "POST" and form.is_valid():
        values = dict(form.cleaned_data)
        try:
            change_schedule(
                schedule_id=schedule_id, expected_version=values.pop("version"), **values, actor=actor
            )
        except Invalid as error:
            form_errors.show(form, error)
        else:
            messages.success(request, _("The schedule is changed."))
            return redirect("jobs:schedules")
    return render(request, "jobs/schedule.html", {"schedule": found, "form": form})


def _job_context(request: HttpRequest, job_id: int) -> dict[str, object]:
    actor = actor_of(request)
    found: Job = queries.job(job_id, actor=actor)
    return {
        "job": found,
        "may_control": queries.may_control(found, actor),
        "may_retry": found.state in ("failed", "cancelled"),
        "summary": found.result.get(SUMMARY) if isinstance(found.result, dict) else None,
        "result_text": _text_of(found.result),
        "about_audit": found.kind in (audit_work.VERIFY, audit_work.CHECKPOINT),
        "bad_event": _bad_event(found, actor),
    }


def _text_of(result: object) -> str:
    """A result as JSON over several lines, without what is said above it; empty where there is none."""
    if isinstance(result, dict):
        result = {name: value for name, value in result.items() if name != SUMMARY}
    if not result:
        return ""
    text = json.dumps(result, ensure_ascii=False, indent=2)
    return text if len(text) <= _LONGEST_SHOWN_CHARS else f"{text[:_LONGEST_SHOWN_CHARS]}…"


def _bad_event(job: Job, actor: Actor) -> int | None:
    """The event at which a verification found the audit trail broken, where it is there and the actor may see it."""
    seq = (job.problem or {}).get("first_bad_seq")
    if seq is None or not actor.may_anywhere(Right.AUDIT):
        return None
    found: int | None = events_visible_to(actor).filter(seq=seq).values_list("seq", flat=True).first()
    return found
