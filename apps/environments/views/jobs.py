"""The environment of a job, checked before it starts."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from apps.core.pages import actor_of
from apps.environments.engine import job_env
from apps.environments.forms import JobCheckForm
from apps.environments.words import job_finding_rows


def job_check(request: HttpRequest) -> HttpResponse:
    """Paste what a job exports; nothing is kept."""
    actor_of(request)
    form = JobCheckForm(request.POST or None)
    context = {"form": form, "report": None}
    if request.method == "POST" and form.is_valid():
        report = job_env.check_text(form.cleaned_data["text"])
        context |= {"report": report, "findings": job_finding_rows(report.findings)}
    return render(request, "environments/job_check.html", context)
