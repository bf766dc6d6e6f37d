"""Where all domains stand, and those of one cluster."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _

from apps.core import form_errors
from apps.core.errors import Invalid
from apps.core.pages import actor_of, version_in
from apps.core.rights import Right
from apps.core.units import as_typed
from apps.environments import forms, queries, services
from apps.fleet.page import cluster_context
from apps.fleet.queries import cluster_for


def overview(request: HttpRequest) -> HttpResponse:
    """Every domain: its matrix in force, its last known-good, and whether its nodes match."""
    actor = actor_of(request)
    context = {
        "standings": queries.domain_standings(queries.domains_visible(actor)),
        "may_draft": actor.may_anywhere(Right.OPERATE),
    }
    return render(request, "environments/overview.html", context)


def cluster(request: HttpRequest, slug: str) -> HttpResponse:
    """The same for one cluster, with its matrices."""
    actor = actor_of(request)
    row = cluster_for(actor, slug)
    domains = queries.domains_visible(actor).filter(cluster=row)
    context = cluster_context(row) | {
        "cluster": row,
        "standings": queries.domain_standings(domains),
        "matrices": queries.matrices_visible(actor).filter(cluster=row),
        "policy": queries.policy_of(row),
        "may_administrate": actor.may(Right.ADMIN, row.scope_id),
        "may_draft": actor.may(Right.OPERATE, row.scope_id),
    }
    return render(request, "environments/cluster.html", context)


def policy(request: HttpRequest, slug: str) -> HttpResponse:
    """After how long a report is stale, and how often domains are checked."""
    actor = actor_of(request)
    row = cluster_for(actor, slug, Right.ADMIN)
    held = queries.policy_of(row)
    initial = {
        "stale_after_hours": as_typed(held.stale_after_s / 3600),
        "check_every_minutes": as_typed(held.check_every_s / 60),
    }
    form = forms.PolicyForm(request.POST or None, initial=initial)
    if request.method == "POST" and form.is_valid():
        try:
            services.set_policy(
                actor=actor,
                cluster_id=row.pk,
                expected_version=version_in(request),
                stale_after_s=round(form.cleaned_data["stale_after_hours"] * 3600),
                check_every_s=round(form.cleaned_data["check_every_minutes"] * 60),
            )
        except Invalid as error:
            form_errors.show(form, error)
        else:
            messages.success(request, _("The settings are saved."))
            return redirect("environments:cluster", row.slug)
    context = cluster_context(row) | {"cluster": row, "form": form, "version": held.version}
    return render(request, "environments/policy.html", context)
