"""Pages of scheduler files: out with notes on what a format cannot say, in with the differences first."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST

from apps.core.actor import Actor
from apps.core.errors import Conflict, Invalid
from apps.core.filtering import refuse_unknown
from apps.core.pages import actor_of
from apps.core.rights import Right
from apps.core.speech import said
from apps.core.whole_numbers import whole_number
from apps.fleet import queries
from apps.fleet.models import Domain
from apps.fleet.page import cluster_context
from apps.fleet.queries.schedulers import comparison_of, scheduler_file, topology_receipts
from apps.fleet.services.schedulers import import_from_file
from apps.fleet.words import SCHEDULER_FORMATS

_RECENT = 20


def schedulers(request: HttpRequest, slug: str) -> HttpResponse:
    """One format of the fleet to look at, and files that came in."""
    actor = actor_of(request)
    cluster = queries.cluster_for(actor, slug)
    refuse_unknown(None, request.GET, also=frozenset({"form", "domain"}))
    form, domain = request.GET.get("form", next(iter(SCHEDULER_FORMATS))), request.GET.get("domain", "")
    file, problem = None, None
    try:
        chosen = _domain(actor, domain)
        file = scheduler_file(cluster, form=form, domain=chosen)
    except Invalid as error:
        problem = error
    context = cluster_context(cluster) | {
        "cluster": cluster,
        "formats": SCHEDULER_FORMATS,
        "form": form,
        "domains": queries.domains_of(cluster),
        "domain": domain,
        "file": file,
        "problem": problem,
        "receipts": topology_receipts(actor, cluster)[:_RECENT],
    }
    return render(request, "fleet/schedulers.html", context)


def scheduler_download(request: HttpRequest, slug: str, form: str) -> HttpResponse:
    """The same as a file."""
    actor = actor_of(request)
    cluster = queries.cluster_for(actor, slug)
    refuse_unknown(None, request.GET, also=frozenset({"domain"}))
    domain = _domain(actor, request.GET.get("domain", ""))
    file = scheduler_file(cluster, form=form, domain=domain)
    answer = HttpResponse(file.text, content_type="text/plain; charset=utf-8")
    answer["Content-Disposition"] = f'attachment; filename="{file.file_name}"'
    return answer


def _domain(actor: Actor, asked: str) -> Domain | None:
    """The domain that the file is about; None for the whole cluster."""
    domain_id = whole_number(asked)
    return None if domain_id is None else queries.domain_for(actor, domain_id)


def compare_file(request: HttpRequest, slug: str, receipt_id: int) -> HttpResponse:
    """A delivered file against the fleet on record: every difference, before anything changes."""
    actor = actor_of(request)
    cluster = queries.cluster_for(actor, slug)
    context = cluster_context(cluster) | {
        "cluster": cluster,
        "found": comparison_of(actor, cluster, receipt_id),
        "may_operate": actor.may(Right.OPERATE, cluster.scope_id),
    }
    return render(request, "fleet/compare.html", context)


@require_POST
def import_file(request: HttpRequest, slug: str, receipt_id: int) -> HttpResponse:
    """Make an import of what the file says; it is looked at before it is applied."""
    actor = actor_of(request)
    cluster = queries.cluster_for(actor, slug, Right.OPERATE)
    try:
        row = import_from_file(actor=actor, cluster_id=cluster.pk, receipt_id=receipt_id)
    except (Invalid, Conflict) as error:
        messages.error(request, said(error.message))
        return redirect("fleet:compare_file", slug, receipt_id)
    return redirect("fleet:import", slug, row.pk)
