"""A matrix with its versions, and one version: what it asks for, beside what the nodes report."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from apps.core.errors import Conflict, Invalid, Missing
from apps.core.pages import actor_of, version_in
from apps.core.rights import Right
from apps.core.speech import said
from apps.core.whole_numbers import whole_number
from apps.environments import queries, services
from apps.environments.engine import exchange
from apps.environments.engine.matrix_diff import compare_entries
from apps.environments.models import MatrixState, MatrixVersion
from apps.environments.page import left_out, only_link, version_table
from apps.environments.words import diff_rows, rule_rows
from apps.fleet.page import cluster_context


def matrix(request: HttpRequest, pk: int) -> HttpResponse:
    """One matrix through all its versions."""
    actor = actor_of(request)
    row = queries.matrix_for(actor, pk)
    context = cluster_context(row.cluster) | {
        "matrix": row,
        "versions": list(queries.versions_of(row)),
        "may_write": actor.may(Right.OPERATE, row.cluster.scope_id),
    }
    return render(request, "environments/matrix.html", context)


def version(request: HttpRequest, pk: int) -> HttpResponse:
    """One version: what it asks for, what the nodes report, and what rules between components say."""
    actor = actor_of(request)
    row = queries.matrix_version_for(actor, pk)
    only_differences = request.GET.get("only") == "differences"
    rules = rule_rows(queries.compatibility_of(row))
    may_write = actor.may(Right.OPERATE, row.matrix.cluster.scope_id)
    context = cluster_context(row.matrix.cluster) | {
        "version": row,
        "matrix": row.matrix,
        "wide": queries.beneath(row, row.matrix.domain) if row.matrix.domain else None,
        "domains": queries.domains_of(row.matrix),
        "table": version_table(row, only_differences=only_differences),
        "left_out": left_out(row) if row.state == MatrixState.DRAFT else [],
        "only_differences": only_differences,
        **only_link(only_differences=only_differences),
        "rules": rules,
        "broken": [rule for rule in rules if rule["verdict"] == "fail"],
        "warned": [rule for rule in rules if rule["verdict"] == "warn"],
        "undecided": queries.undecided(queries.entries_of(row.entries.all())),
        "others": queries.versions_of(row.matrix).exclude(pk=row.pk),
        "elsewhere": queries.in_use_elsewhere(queries.versions_visible(actor).exclude(matrix=row.matrix)),
        "is_draft": row.state == MatrixState.DRAFT,
        "may_write": may_write,
        "editable": may_write and row.state == MatrixState.DRAFT,
    }
    return render(request, "environments/version.html", context)


def compare(request: HttpRequest, pk: int) -> HttpResponse:
    """What changed between two versions: ?to= names the other one, which may be of another matrix."""
    actor = actor_of(request)
    row = queries.matrix_version_for(actor, pk)
    other = queries.matrix_version_for(actor, _other_id(request))
    older, newer = sorted([row, other], key=lambda one: one.pk)
    changes = compare_entries(_entries(older), _entries(newer))
    context = cluster_context(row.matrix.cluster) | {
        "older": older,
        "newer": newer,
        "rows": diff_rows(changes, _entries(newer)),
        "change_count": len(changes),
    }
    return render(request, "environments/compare.html", context)


def export(request: HttpRequest, pk: int) -> HttpResponse:
    """The version as a file: ?as=csv or yaml."""
    row = queries.matrix_version_for(actor_of(request), pk)
    file_format = request.GET.get("as", "yaml")
    writers = {"yaml": exchange.to_yaml, "csv": exchange.to_csv}
    if file_format not in writers:
        raise Invalid(_("say yaml or csv"), code="file_format")
    response = HttpResponse(
        writers[file_format](_entries(row)), content_type=f"text/{file_format}; charset=utf-8"
    )
    name = f"matrix-{row.matrix_id}-v{row.number}.{file_format}"
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


@require_POST
def lock(request: HttpRequest, pk: int) -> HttpResponse:
    """Lock a draft; what stands in the way is said on its page."""
    try:
        locked = services.lock_matrix(
            actor=actor_of(request),
            version_id=pk,
            expected_version=version_in(request),
            override_reason=request.POST.get("reason", ""),
        )
    except (Invalid, Conflict) as error:
        messages.error(request, said(error.message))
    else:
        messages.success(
            request, _("%(version)s is locked; nodes are held against it.") % {"version": locked}
        )
        services.request_checks_of(actor=actor_of(request), version=locked)
    return redirect("environments:version", pk)


@require_POST
def retire(request: HttpRequest, pk: int) -> HttpResponse:
    """Take a version out of force, or put a draft away."""
    try:
        retired = services.retire_matrix(
            actor=actor_of(request),
            version_id=pk,
            expected_version=version_in(request),
            reason=request.POST.get("reason", ""),
        )
    except (Invalid, Conflict) as error:
        messages.error(request, said(error.message))
    else:
        services.request_checks_of(actor=actor_of(request), version=retired)
    return redirect("environments:version", pk)


def _other_id(request: HttpRequest) -> int:
    other_id = whole_number(request.GET.get("to", ""))
    if other_id is None:
        raise Missing(_("say which version to compare with"))
    return other_id


def _entries(version: MatrixVersion) -> list[exchange.MatrixEntry]:
    return queries.entries_of(version.entries.all())
