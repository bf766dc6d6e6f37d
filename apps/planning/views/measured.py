"""Pages of what was measured: step times noted beside a prediction, and the calibration of a domain."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from apps.core import form_errors
from apps.core.errors import Invalid
from apps.core.pages import actor_of
from apps.core.paging import page_of
from apps.core.rights import Right
from apps.core.speech import said
from apps.fleet.page import cluster_context
from apps.planning import queries, services
from apps.planning.measured_forms import MeasuredStepForm, WithdrawForm


def calibration(request: HttpRequest, domain_id: int) -> HttpResponse:
    """What was measured on a domain, and the factor on its predictions that follows."""
    actor = actor_of(request)
    domain = queries.measured_domain_for(actor, domain_id)
    steps = list(queries.measured_steps_visible(actor).filter(domain=domain))
    context = {
        "domain": domain,
        "cluster": domain.cluster,
        "steps": page_of(request, steps),
        "calibration": queries.calibration_of(domain),
        "versions": page_of(request, queries.calibration_versions(steps)),
        "may_operate": actor.may(Right.OPERATE, domain.cluster.scope_id),
    }
    return render(request, "planning/calibration.html", context | cluster_context(domain.cluster))


@require_POST
def note(request: HttpRequest, plan_id: int, number: int) -> HttpResponse:
    """A step of this layout took so long; a figure that is none is said above the version."""
    actor, form = actor_of(request), MeasuredStepForm(request.POST)
    try:
        if not form.is_valid():
            raise form_errors.refused(form)
        services.note_measured_step(actor=actor, plan_id=plan_id, number=number, **form.cleaned_data)
    except Invalid as error:
        messages.error(request, said(error.message))
    else:
        messages.success(request, _("The measured step is noted; new versions weigh it in."))
    return redirect("planning:version", plan_id, number)


@require_POST
def withdraw(request: HttpRequest, step_id: int) -> HttpResponse:
    """A measured step was wrong."""
    actor, form = actor_of(request), WithdrawForm(request.POST)
    reason = form.cleaned_data["reason"] if form.is_valid() else ""
    step = queries.measured_step_for(actor, step_id)
    try:
        services.withdraw_measured_step(actor=actor, step_id=step_id, reason=reason)
    except Invalid as error:
        messages.error(request, said(error.message))
    else:
        messages.success(
            request, _("The measured step is withdrawn; the calibration is what it was without it.")
        )
    return redirect("planning:calibration", step.domain_id)
