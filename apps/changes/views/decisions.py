"""Deciding about a change: each a form that is sent, answered by the page of the change."""

from __future__ import annotations

from collections.abc import Callable

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from apps.changes import services
from apps.changes.engine.states import State
from apps.changes.models import Change
from apps.core.errors import Conflict, Invalid
from apps.core.pages import actor_of, version_in
from apps.core.speech import said


@require_POST
def submit(request: HttpRequest, change_id: int) -> HttpResponse:
    services.submit_change(actor=actor_of(request), change_id=change_id, expected_version=version_in(request))
    messages.success(request, _("Handed in. A second person is asked to approve it."))
    return redirect("changes:change", change_id)


@require_POST
def approve(request: HttpRequest, change_id: int) -> HttpResponse:
    """Approve or refuse, by the button that was pressed."""
    actor, version = actor_of(request), version_in(request)
    note = request.POST.get("note", "")
    if request.POST.get("voice") == "approve":
        row = services.approve_change(actor=actor, change_id=change_id, expected_version=version, note=note)
        is_enough = row.state == State.APPROVED
        messages.success(
            request,
            _("Approved.") if is_enough else _("Your approval counts; more are needed."),
        )
        return redirect("changes:change", change_id)
    try:
        services.refuse_change(actor=actor, change_id=change_id, expected_version=version, note=note)
    except Invalid:
        messages.error(request, _("Say in the note why you refuse."))
    return redirect("changes:change", change_id)


@require_POST
def start(request: HttpRequest, change_id: int) -> HttpResponse:
    done = _("Started. What the nodes ran was recorded first.")
    return _stepped(request, change_id, services.start_change, done)


@require_POST
def pass_stage(request: HttpRequest, change_id: int) -> HttpResponse:
    return _stepped(request, change_id, services.pass_stage)


@require_POST
def finish(request: HttpRequest, change_id: int) -> HttpResponse:
    return _stepped(request, change_id, services.finish_change, _("Done. The nodes are free again."))


def _stepped(
    request: HttpRequest, change_id: int, step: Callable[..., Change], done: str = ""
) -> HttpResponse:
    """One step of a change as it was seen; what it waits for is said on its page."""
    try:
        step(actor=actor_of(request), change_id=change_id, expected_version=version_in(request))
    except Conflict as error:
        messages.error(request, said(error.message))
    else:
        if done:
            messages.success(request, done)
    return redirect("changes:change", change_id)


@require_POST
def fail(request: HttpRequest, change_id: int) -> HttpResponse:
    services.fail_change(
        actor=actor_of(request),
        change_id=change_id,
        expected_version=version_in(request),
        reason=request.POST.get("reason", ""),
    )
    messages.warning(request, _("Recorded as failed. Its nodes stay held until it is rolled back."))
    return redirect("changes:change", change_id)


@require_POST
def cancel(request: HttpRequest, change_id: int) -> HttpResponse:
    services.cancel_change(
        actor=actor_of(request),
        change_id=change_id,
        expected_version=version_in(request),
        reason=request.POST.get("reason", ""),
    )
    return redirect("changes:change", change_id)


@require_POST
def review(request: HttpRequest, change_id: int) -> HttpResponse:
    services.review_rollback(
        actor=actor_of(request),
        change_id=change_id,
        expected_version=version_in(request),
        review=request.POST.get("review", ""),
    )
    messages.success(request, _("The review is recorded."))
    return redirect("changes:change", change_id)
