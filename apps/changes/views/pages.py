"""Looking at changes: the time line, one change, what nodes ran before it."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render

from apps.changes import filters, page, queries
from apps.changes.engine.states import State
from apps.changes.models import ChangeKind, Snapshot
from apps.core.filtering import refuse_unknown
from apps.core.pages import actor_of
from apps.core.paging import page_of
from apps.core.rights import Right
from apps.fleet.page import cluster_context
from apps.fleet.queries import cluster_for


def changes(request: HttpRequest) -> HttpResponse:
    """All changes as a time line, newest first."""
    actor = actor_of(request)
    refuse_unknown(filters.ChangeFilter, request.GET)
    visible = queries.changes_visible(actor)
    found = filters.ChangeFilter(request.GET, queryset=visible)
    rows = page_of(request, queries.with_node_count(found.qs).prefetch_related("approvals__person"), size=25)
    slug = request.GET.get("cluster", "")
    here = visible.filter(cluster__slug=slug) if slug else visible
    context = {
        "filter": found,
        "page": rows,
        "days": page.days_of(rows.object_list),
        "filtered": any(
            request.GET.get(name) for name in filters.ChangeFilter.get_filters() if name != "cluster"
        ),
        "may_ask": actor.may_anywhere(Right.OPERATE),
        "waiting": here.filter(state=State.SUBMITTED.value).count(),
        "unreviewed": here.filter(kind=ChangeKind.ROLLBACK, reviewed_at__isnull=True).count(),
        "only": f"cluster={slug}&" if slug else "",
    }
    if slug:
        context |= cluster_context(cluster_for(actor, slug))
    return render(request, "changes/changes.html", context)


def change(request: HttpRequest, change_id: int) -> HttpResponse:
    """One change: its content, who agreed, how far it is, and what can be decided."""
    actor = actor_of(request)
    row = queries.change_for(actor, change_id)
    return render(request, "changes/change.html", page.change_context(request, actor, row))


def snapshot(request: HttpRequest, change_id: int) -> HttpResponse:
    """What the nodes ran before the change, against what they report now."""
    row = queries.change_for(actor_of(request), change_id)
    taken = get_object_or_404(Snapshot.objects.select_related("matrix_version__matrix"), change=row)
    context = {"change": row, "snapshot": taken, "rows": page.snapshot_rows(row, taken)}
    return render(request, "changes/snapshot.html", context | cluster_context(row.cluster))


def inventory(request: HttpRequest, change_id: int) -> HttpResponse:
    """The stages as an Ansible inventory: a group for each stage, with the versions that its hosts are to run."""
    row = queries.change_for(actor_of(request), change_id)
    response = HttpResponse(queries.inventory_of(row), content_type="application/yaml; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="change-{row.pk}.yml"'
    return response
