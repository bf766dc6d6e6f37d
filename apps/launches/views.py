"""Pages of launches: may this job start, and who says so?"""

from __future__ import annotations

from datetime import timedelta
from uuid import UUID

from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from apps.core import clock, form_errors
from apps.core.confirming import ConfirmedForm
from apps.core.errors import Conflict, Invalid, Stale
from apps.core.filtering import refuse_unknown
from apps.core.pages import STOP_POLLING, actor_of, version_in
from apps.core.paging import arrange
from apps.core.rights import Right
from apps.core.speech import said
from apps.fleet.page import cluster_context
from apps.fleet.queries import cluster_for, node_ids_named
from apps.launches import filters, forms, queries, services
from apps.launches.engine.standing import STANDING_WORDS, Standing
from apps.launches.models import Launch, LaunchState
from apps.launches.page import evaluation_context, launch_context
from apps.launches.tables import LaunchTable
from apps.launches.words import ITEMS


def launches(request: HttpRequest) -> HttpResponse:
    """All launches, newest first."""
    actor = actor_of(request)
    refuse_unknown(filters.LaunchFilter, request.GET)
    found = filters.LaunchFilter(request.GET, queryset=queries.launches_visible(actor))
    table = LaunchTable(found.qs)
    arrange(request, table)
    shown = [row.record for row in table.page.object_list] if table.page else []
    decisions = queries.decisions_of([row for row in shown if row.state == LaunchState.OPEN])
    for row in shown:
        row.standing = decisions[row.pk].standing.value if row.pk in decisions else ""
    context = {"table": table, "filter": found, "may_open": actor.may_anywhere(Right.OPERATE)}
    if slug := request.GET.get("cluster"):
        context |= cluster_context(cluster_for(actor, slug))
    return render(request, "launches/launches.html", context)


def open_launch(request: HttpRequest) -> HttpResponse:
    """Open a launch."""
    actor, slug = actor_of(request), request.GET.get("cluster", "")
    actor.require_anywhere(Right.OPERATE)
    form = forms.LaunchForm(request.POST or None, actor=actor, cluster_slug=slug)
    if request.method == "POST" and form.is_valid():
        data = form.cleaned_data
        try:
            node_ids = node_ids_named(data["domain"].cluster, data["nodes"])
            launch = services.open_launch(
                actor=actor,
                domain_id=data["domain"].pk,
                title=data["title"],
                node_ids=node_ids,
                plan_version_id=data["plan_version"].pk if data["plan_version"] else None,
                job_environment=data["job_environment"],
            )
            services.request_evaluation(actor=actor, launch_id=launch.pk)
        except Invalid as error:
            form_errors.show(form, error)
        else:
            return redirect("launches:launch", launch.pk)
    return render(request, "launches/open.html", {"form": form})


def launch(request: HttpRequest, launch_id: UUID) -> HttpResponse:
    """One launch: where it stands, on what, and what its people can do."""
    actor = actor_of(request)
    row = queries.launch_for(actor, launch_id)
    if request.headers.get("HX-Request"):
        return _changed(request, row)
    context = launch_context(actor, row) | cluster_context(row.cluster)
    return render(request, "launches/launch.html", context)


def _changed(request: HttpRequest, launch: Launch) -> HttpResponse:
    """To a page that waits for an evaluation: nothing while it is under way, then all that it changes."""
    if queries.decision_of(launch).standing is Standing.PENDING:
        return HttpResponse(status=204)
    context = launch_context(actor_of(request), launch)
    context["announcement"] = said(STANDING_WORDS[context["decision"].standing])
    return render(request, "launches/_changed.html", context, status=STOP_POLLING)


def edit(request: HttpRequest, launch_id: UUID) -> HttpResponse:
    """Edit an open launch."""
    actor = actor_of(request)
    row = queries.launch_for(actor, launch_id, Right.OPERATE)
    initial = {"title": row.title, "plan_version": row.plan_id, "job_environment": row.job_environment}
    form = forms.LaunchEditForm(request.POST or None, scope_id=row.cluster.scope_id, initial=initial)
    if request.method == "POST" and form.is_valid():
        data = form.cleaned_data
        try:
            services.edit_launch(
                actor=actor,
                launch_id=launch_id,
                expected_version=version_in(request),
                title=data["title"],
                plan_version_id=data["plan_version"].pk if data["plan_version"] else None,
                job_environment=data["job_environment"],
            )
        except Stale as error:
            context = {"stale": error, "now": initial, "form": form, "launch": row, "version": row.version}
            context |= cluster_context(row.cluster)
            return render(request, "launches/edit.html", context, status=error.status)
        except Invalid as error:
            form_errors.show(form, error)
        else:
            return redirect("launches:launch", launch_id)
    context = {"form": form, "launch": row, "version": row.version} | cluster_context(row.cluster)
    return render(request, "launches/edit.html", context)


def evaluation(request: HttpRequest, evaluation_id: UUID) -> HttpResponse:
    """One evaluation as it was written down, for the record and for printing."""
    row = queries.evaluation_for(actor_of(request), evaluation_id)
    shown = evaluation_context(row, queries.decision_on(row.launch, row))
    context = cluster_context(row.launch.cluster) | shown | {"launch": row.launch, "is_record": True}
    return render(request, "launches/evaluation.html", context)


@require_POST
def evaluate(request: HttpRequest, launch_id: UUID) -> HttpResponse:
    """Evaluate again: anew for who operates; for others the one that stands stays."""
    actor = actor_of(request)
    scope_id = queries.launch_for(actor, launch_id).cluster.scope_id
    services.request_evaluation(actor=actor, launch_id=launch_id, anew=actor.may(Right.OPERATE, scope_id))
    return redirect("launches:launch", launch_id)


def answer(request: HttpRequest, launch_id: UUID) -> HttpResponse:
    """Answer manual items on the page of the launch; a new evaluation follows by itself."""
    actor = actor_of(request)
    row = queries.launch_for(actor, launch_id)
    if request.method != "POST":
        return redirect("launches:launch", launch_id)
    form = forms.AnswersForm(request.POST, items=queries.manual_items(row))
    if not form.is_valid():
        context = launch_context(actor, row, answers=form) | cluster_context(row.cluster)
        return render(request, "launches/launch.html", context)
    services.answer_items(actor=actor, launch_id=launch_id, answers=form.given())
    services.request_evaluation(actor=actor, launch_id=launch_id)
    return redirect("launches:launch", launch_id)


def waive(request: HttpRequest, launch_id: UUID, item: str) -> HttpResponse:
    """Ask for a waiver."""
    actor = actor_of(request)
    row = queries.launch_for(actor, launch_id)
    form = forms.WaiverForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        expires_at = clock.now() + timedelta(hours=form.cleaned_data["hours"])
        services.ask_waiver(
            actor=actor,
            launch_id=launch_id,
            item=item,
            reason=form.cleaned_data["reason"],
            expires_at=expires_at,
        )
        messages.success(request, _("The waiver was asked for; somebody else must approve it."))
        return redirect("launches:launch", launch_id)
    context = {"form": form, "launch": row, "item": item, "item_name": ITEMS.get(item, item)}
    return render(request, "launches/waive.html", context | cluster_context(row.cluster))


@require_POST
def approve_waiver(request: HttpRequest, waiver_id: int) -> HttpResponse:
    actor = actor_of(request)
    waiver = services.approve_waiver(actor=actor, waiver_id=waiver_id)
    services.request_evaluation(actor=actor, launch_id=waiver.launch_id)
    return redirect("launches:launch", waiver.launch_id)


@require_POST
def revoke_waiver(request: HttpRequest, waiver_id: int) -> HttpResponse:
    waiver = services.revoke_waiver(
        actor=actor_of(request), waiver_id=waiver_id, reason=request.POST.get("reason", "")
    )
    return redirect("launches:launch", waiver.launch_id)


@require_POST
def sign(request: HttpRequest, evaluation_id: UUID) -> HttpResponse:
    """Sign the evaluation that was on the page."""
    signed = services.sign_launch(
        actor=actor_of(request),
        evaluation_id=evaluation_id,
        digest=request.POST.get("digest", ""),
        go=request.POST.get("go") == "1",
        comment=request.POST.get("comment", ""),
    )
    messages.success(request, _("Signed GO.") if signed.go else _("Signed NO-GO."))
    return redirect("launches:launch", signed.evaluation.launch_id)


def roll_back(request: HttpRequest, launch_id: UUID) -> HttpResponse:
    """Back to the last known-good on the nodes of the launch: what would change, why, and go."""
    actor = actor_of(request)
    row = queries.launch_for(actor, launch_id, Right.OPERATE)
    actor.require_recent_password(now=clock.now(), within_s=settings.REAUTHENTICATE_AFTER_S)
    reason = _("Drift before %(title)s") % {"title": row.title}
    form = ConfirmedForm(request.POST or None, initial={"reason": reason}, cluster_name=row.cluster.name)
    try:
        if request.method == "POST" and form.is_valid():
            change = services.roll_back_for(
                actor=actor, launch_id=launch_id, reason=form.cleaned_data["reason"]
            )
            return redirect("changes:change", change.pk)
        preview = services.rollback_preview(actor=actor, launch_id=launch_id)
    except Conflict as error:
        messages.error(request, said(error.message))
        return redirect("launches:launch", launch_id)
    context = {"form": form, "launch": row, "preview": preview} | cluster_context(row.cluster)
    return render(request, "launches/rollback.html", context)


@require_POST
def start(request: HttpRequest, launch_id: UUID) -> HttpResponse:
    services.start_launch(actor=actor_of(request), launch_id=launch_id, expected_version=version_in(request))
    messages.success(request, _("The job has started; its nodes are held for training."))
    return redirect("launches:launch", launch_id)


@require_POST
def finish(request: HttpRequest, launch_id: UUID) -> HttpResponse:
    services.finish_launch(
        actor=actor_of(request),
        launch_id=launch_id,
        expected_version=version_in(request),
        reason=request.POST.get("reason", ""),
    )
    return redirect("launches:launch", launch_id)


@require_POST
def cancel(request: HttpRequest, launch_id: UUID) -> HttpResponse:
    services.cancel_launch(
        actor=actor_of(request),
        launch_id=launch_id,
        expected_version=version_in(request),
        reason=request.POST.get("reason", ""),
    )
    return redirect("launches:launch", launch_id)
