"""The calendar of upkeep."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from apps.core import clock, form_errors
from apps.core.errors import Invalid
from apps.core.filtering import refuse_unknown
from apps.core.pages import actor_of, version_in
from apps.core.paging import page_of
from apps.core.rights import Right
from apps.core.speech import said
from apps.fleet.page import cluster_context
from apps.fleet.queries import cluster_for, clusters_visible
from apps.health import filters, forms, queries, services


def calendar(request: HttpRequest) -> HttpResponse:
    """What is due when; what is overdue stands first."""
    actor = actor_of(request)
    refuse_unknown(filters.UpkeepFilter, request.GET)
    found = filters.UpkeepFilter(request.GET, queryset=queries.tasks_visible(actor))
    writable = actor.scope_ids(Right.OPERATE)
    clusters = clusters_visible(actor)
    if writable is not None:
        clusters = clusters.filter(scope_id__in=writable)
    planned = queries.tasks_visible(actor).order_by().values("cluster")
    context = {
        "filter": found,
        "filtered": any(request.GET.get(name) for name in found.filters),
        "page": page_of(request, found.qs),
        "today": clock.now().date(),
        "clusters_to_plan": clusters,
        "clusters_without": clusters.exclude(pk__in=planned),
    }
    return render(request, "health/upkeep.html", context)


def plan(request: HttpRequest, slug: str) -> HttpResponse:
    """Put upkeep on the calendar of a cluster."""
    actor = actor_of(request)
    cluster = cluster_for(actor, slug, Right.OPERATE)
    form = forms.UpkeepForm(request.POST or None, cluster=cluster, initial={"every_days": 30})
    if request.method == "POST" and form.is_valid():
        data = form.cleaned_data
        try:
            services.plan_upkeep(
                actor=actor,
                cluster_id=cluster.pk,
                kind=data["kind"],
                title=data["title"],
                every_days=data["every_days"],
                due_on=data["due_on"],
                domain_id=data["domain"].pk if data["domain"] else None,
                downgrade_path=data["downgrade_path"],
            )
        except Invalid as error:
            form_errors.show(form, error)
        else:
            return redirect(_of(slug))
    context = cluster_context(cluster) | {"cluster": cluster, "form": form}
    return render(request, "health/plan_upkeep.html", context)


@require_POST
def plan_usual(request: HttpRequest, slug: str) -> HttpResponse:
    """Put the usual calendar of a liquid-cooled room on that of a cluster."""
    actor = actor_of(request)
    cluster = cluster_for(actor, slug, Right.OPERATE)
    services.plan_usual_upkeep(actor=actor, cluster_id=cluster.pk)
    messages.success(request, _("The usual upkeep is planned."))
    return redirect(_of(slug))


def task(request: HttpRequest, pk: int) -> HttpResponse:
    """One task: when it was done, by whom, and what was found; done again; taken off."""
    actor = actor_of(request)
    row = queries.task_for(actor, pk)
    form = forms.DoneForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            services.record_upkeep(
                actor=actor,
                task_id=pk,
                expected_version=version_in(request),
                note=form.cleaned_data["note"],
                done_on=form.cleaned_data["done_on"],
            )
        except Invalid as error:
            form_errors.show(form, error)
        else:
            messages.success(request, _("Written down; the next time is on the calendar."))
            return redirect("health:task", pk)
    context = cluster_context(row.cluster) | {
        "cluster": row.cluster,
        "task": row,
        "is_overdue": row.retired_at is None and row.due_on < clock.now().date(),
        "records": row.records.select_related("done_by")[:100],
        "form": form,
        "may_write": row.retired_at is None and actor.may(Right.OPERATE, row.cluster.scope_id),
    }
    return render(request, "health/task.html", context)


@require_POST
def retire(request: HttpRequest, pk: int) -> HttpResponse:
    """Take upkeep off the calendar."""
    try:
        row = services.retire_upkeep(
            actor=actor_of(request),
            task_id=pk,
            expected_version=version_in(request),
            reason=request.POST.get("reason", ""),
        )
    except Invalid as error:
        messages.error(request, said(error.message))
        return redirect("health:task", pk)
    return redirect(_of(row.cluster.slug))


def _of(slug: str) -> str:
    return f"{reverse('health:upkeep')}?cluster={slug}"
