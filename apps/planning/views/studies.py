"""Pages of the studies: the hub, and one page per study with its form beside its answer."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from apps.core.pages import actor_of
from apps.planning.studies import STUDIES, asking, study_named


def hub(request: HttpRequest) -> HttpResponse:
    """All studies; with ?plan=PLAN.NUMBER each starts from that version."""
    actor = actor_of(request)
    asking.require_reader(actor)
    plan = asking.plan_in(actor, request.GET.get("plan"))
    return render(request, "planning/studies/hub.html", {"studies": list(STUDIES.values()), "plan": plan})


def study(request: HttpRequest, key: str) -> HttpResponse:
    """One study: its form, always filled, and the answer to it."""
    actor = actor_of(request)
    asking.require_reader(actor)
    asked = study_named(key)
    form = asking.form_for(asked, request.GET, actor=actor)
    answered = asking.answer(asked, form)
    context: dict[str, Any] = {"study": asked, "form": form, "plan": form.plan}
    if answered is not None:
        context["blocks"] = asked.show(*answered)
    return render(request, "planning/studies/study.html", context)
