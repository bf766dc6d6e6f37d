"""Pages of imports and exports: hand in, look, map, apply; and the fleet as files."""

from __future__ import annotations

import csv

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from apps.core import form_errors
from apps.core.errors import Conflict, Invalid, Missing, PortalError, Stale, TooLarge
from apps.core.filtering import refuse_unknown
from apps.core.pages import STOP_POLLING, actor_of, version_in
from apps.core.paging import page_of
from apps.core.rights import Right
from apps.core.speech import said
from apps.fleet import queries
from apps.fleet.engine.cells import guarded
from apps.fleet.engine.decoding import Form
from apps.fleet.engine.outcomes import Fate
from apps.fleet.engine.tables import SCHEMAS, Table
from apps.fleet.forms.imports import NODES_EXAMPLE, ImportForm, MappingForm
from apps.fleet.models import BulkImport, ImportState
from apps.fleet.page import cluster_context, download
from apps.fleet.queries.exports import export
from apps.fleet.queries.imports import import_for, imports_visible, outcomes
from apps.fleet.services import imports as service
from apps.fleet.words import FATES, FATES_TO_COME

_RECENT = 20
_SIGNS = {
    Fate.ERROR: "fail",
    Fate.CREATED: "pass",
    Fate.UPDATED: "warn",
    Fate.REMOVED: "warn",
    Fate.SKIPPED: "skipped",
    Fate.UNCHANGED: "draft",
}


def imports(request: HttpRequest, slug: str) -> HttpResponse:
    """Files in and out: hand one in, see earlier ones, take the fleet with you."""
    actor = actor_of(request)
    cluster = queries.cluster_for(actor, slug)
    form = ImportForm(request.POST or None, request.FILES or None)
    if request.method == "POST" and form.is_valid():
        try:
            row = service.receive_import(actor=actor, cluster_id=cluster.pk, **form.values())
        except (Invalid, TooLarge) as error:
            form_errors.show(form, error)
        else:
            return redirect("fleet:import", slug, row.pk)
    context = cluster_context(cluster) | {
        "cluster": cluster,
        "form": form,
        "rows": imports_visible(actor).filter(cluster=cluster)[:_RECENT],
        "tables": list(Table),
        "schemas": SCHEMAS.items(),
        "example": NODES_EXAMPLE,
        "may_operate": actor.may(Right.OPERATE, cluster.scope_id),
    }
    return render(request, "fleet/imports.html", context, status=400 if form.errors else 200)


def one_import(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """What a file would do, or has done, row by row."""
    actor = actor_of(request)
    cluster = queries.cluster_for(actor, slug)
    row = import_for(actor, pk)
    refuse_unknown(None, request.GET, also=frozenset({"fate", "table"}))
    found = outcomes(row, fate=request.GET.get("fate", ""), table=request.GET.get("table", ""))
    page, words = page_of(request, found), FATES if row.state == ImportState.APPLIED else FATES_TO_COME
    for one in page.object_list:
        one |= {"word": words[Fate(one["fate"])], "sign": _SIGNS[Fate(one["fate"])]}
    context = cluster_context(cluster) | {
        "cluster": cluster,
        "row": row,
        "job": row.job,
        "page": page,
        "place": _("Line") if row.form == Form.CSV else _("Entry"),
        "fates": [(fate, words[fate], number) for fate, number in _totals(row)],
        "fate": request.GET.get("fate", ""),
        "mapping": MappingForm(row=row) if row.head and row.state == ImportState.PLANNED else None,
        "may_operate": actor.may(Right.OPERATE, cluster.scope_id),
    }
    if request.headers.get("HX-Request"):
        over = row.job is None or row.job.is_over
        return render(request, "fleet/_import.html", context, status=STOP_POLLING if over else 200)
    return render(request, "fleet/import.html", context)


def _totals(row: BulkImport) -> list[tuple[Fate, int]]:
    names = {Fate.ERROR: "errors"}
    return [(fate, sum(one.get(names.get(fate, fate), 0) for one in row.counts.values())) for fate in Fate]


@require_POST
def map_columns(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Say which column of the file is which of ours, and look again."""
    actor = actor_of(request)
    row = import_for(actor, pk)
    if not row.table:  # not a CSV file
        raise Missing()
    form = MappingForm(request.POST, row=row)
    if not form.is_valid():
        raise form_errors.refused(form)
    try:
        service.map_columns(
            actor=actor,
            import_id=pk,
            expected_version=version_in(request),
            columns=form.columns(),
            table=Table(row.table),
        )
    except (Invalid, Conflict, Stale) as error:
        messages.error(request, said(error.message))
    return redirect("fleet:import", slug, pk)


@require_POST
def apply_import(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Do what was looked at."""
    try:
        row = service.apply_import(
            actor=actor_of(request), import_id=pk, expected_version=version_in(request)
        )
    except (Invalid, Conflict, Stale) as error:
        messages.error(request, _text(error))
    else:
        done = row.state == ImportState.APPLIED
        messages.success(request, _("The import is applied.") if done else _("A worker applies the import."))
    return redirect("fleet:import", slug, pk)


def _text(error: PortalError) -> str:
    if error.code == "import_changed":
        return _(
            "The fleet changed since this was looked at, so nothing was written. Hand the file in again."
        )
    return said(error.message)


def import_errors(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Every error of an import as CSV."""
    row = import_for(actor_of(request), pk)
    answer = HttpResponse(content_type="text/csv; charset=utf-8")
    answer["Content-Disposition"] = f'attachment; filename="import-{row.pk}-errors.csv"'
    names = ["table", "row", "column", "value", "message", "code"]
    writer = csv.DictWriter(answer, names, extrasaction="ignore")
    writer.writeheader()
    for one in outcomes(row, fate=Fate.ERROR):
        writer.writerow({name: guarded(str(one[name])) for name in names})
    return answer


def export_fleet(request: HttpRequest, slug: str) -> StreamingHttpResponse:
    """The fleet, or one table of it, as a file."""
    cluster = queries.cluster_for(actor_of(request), slug)
    refuse_unknown(None, request.GET, also=frozenset({"form", "table"}))
    return download(
        export(cluster, form=request.GET.get("form", "json"), table=request.GET.get("table") or None)
    )
