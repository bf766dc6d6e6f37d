"""Pages of benchmarks: is it as fast as it should be, and since when not?"""

from __future__ import annotations

import csv

from django.contrib import messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from apps.benchmarks import forms, queries, services
from apps.benchmarks.filters import RunFilter
from apps.benchmarks.models import Baseline, BenchmarkRun
from apps.benchmarks.page import comparison_rows, ladder_rows, point_rows, run_context
from apps.benchmarks.tables import RunTable
from apps.core import form_errors
from apps.core.actor import Actor
from apps.core.errors import Conflict, Invalid
from apps.core.filtering import refuse_unknown
from apps.core.pages import actor_of
from apps.core.paging import arrange
from apps.fleet.models import Domain
from apps.fleet.page import cluster_context
from apps.fleet.queries import clusters_visible

LADDERS = 4  # domains whose ladder the list shows
BASELINES = 20  # baselines that the list shows


def runs(request: HttpRequest) -> HttpResponse:
    """All runs, newest first, and the ladders of the domains that they belong to."""
    actor = actor_of(request)
    refuse_unknown(RunFilter, request.GET)
    found = RunFilter(request.GET, queryset=queries.runs_visible(actor))
    table = RunTable(found.qs.defer("points"))
    arrange(request, table)
    context = {
        "table": table,
        "filter": found,
        "filtered": any(request.GET.get(name) for name in RunFilter.get_filters() if name != "cluster"),
        "ladders": _ladders(actor, request.GET.get("cluster", "")),
        "baselines": _baselines(actor, request.GET.get("cluster", "")),
    }
    return render(request, "benchmarks/runs.html", context)


def run(request: HttpRequest, run_id: int) -> HttpResponse:
    """One run: how fast, whether that is enough, and what it is bound to."""
    return _run_page(request, run_id)


def points_csv(request: HttpRequest, run_id: int) -> HttpResponse:
    """The rows of a run as CSV, figures as the tool printed them."""
    row = queries.run_for(actor_of(request), run_id)
    response = HttpResponse(content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="run-{run_id}.csv"'
    writer = csv.writer(response)
    writer.writerow(
        ["size_bytes", "dtype", "oop_time_us", "oop_busbw_gb_s", "ip_time_us", "ip_busbw_gb_s", "wrong"]
    )
    writer.writerows(cells[1:] for cells in point_rows(row))
    return response


@require_POST
def state_collective(request: HttpRequest, run_id: int) -> HttpResponse:
    """Say which collective a run was of."""
    actor = actor_of(request)
    form = forms.CollectiveForm(request.POST, run=queries.run_for(actor, run_id))
    if form.is_valid():
        try:
            services.state_collective(actor=actor, run_id=run_id, collective=form.cleaned_data["collective"])
        except (Invalid, Conflict) as error:
            form_errors.show(form, error)
        else:
            messages.success(request, _("The collective is stated."))
            return redirect("benchmarks:run", run_id)
    return _run_page(request, run_id, collective_form=form)


@require_POST
def set_baseline(request: HttpRequest, run_id: int) -> HttpResponse:
    """Compare later runs with this one."""
    form = forms.BaselineForm(request.POST)
    if form.is_valid():
        try:
            services.set_baseline(actor=actor_of(request), run_id=run_id, reason=form.cleaned_data["reason"])
        except (Invalid, Conflict) as error:
            form_errors.show(form, error)
        else:
            messages.success(request, _("Later runs are compared with this one."))
            return redirect("benchmarks:run", run_id)
    return _run_page(request, run_id, baseline_form=form)


def _run_page(request: HttpRequest, run_id: int, **forms_sent: object) -> HttpResponse:
    actor = actor_of(request)
    row = queries.run_for(actor, run_id)
    others = queries.comparable_runs(row)
    compare_form = forms.CompareForm(request.GET if "beside" in request.GET else None, runs=others)
    other: BenchmarkRun | None = compare_form.cleaned_data["beside"] if compare_form.is_valid() else None
    context = run_context(actor, row, other) | cluster_context(row.cluster)
    comparison = context["comparison"]
    context |= {
        "compare_form": compare_form if others.exists() else None,
        "comparison_rows": comparison_rows(comparison) if comparison else [],
        "collective_form": forms.CollectiveForm(run=row),
        "baseline_form": forms.BaselineForm(),
        **forms_sent,
    }
    return render(request, "benchmarks/run.html", context)


def _baselines(actor: Actor, slug: str) -> QuerySet[Baseline]:
    """The baselines in force, newest first."""
    rows = queries.baselines_visible(actor).filter(replaced_at__isnull=True)
    if slug:
        rows = rows.filter(domain__cluster__slug=slug)
    return rows.select_related("domain__cluster", "run", "set_by")[:BASELINES]


def _ladders(actor: Actor, slug: str) -> list[dict[str, object]]:
    """The ladder of each domain in sight that has at least two rungs."""
    clusters = clusters_visible(actor)
    if slug:
        clusters = clusters.filter(slug=slug)
    domains = Domain.objects.filter(cluster__in=clusters, retired_at__isnull=True).order_by("name", "id")
    ladders = ((domain, queries.ladder_of(domain)) for domain in domains[:LADDERS])
    return [{"domain": domain, "rows": ladder_rows(rungs)} for domain, rungs in ladders if len(rungs) > 1]
