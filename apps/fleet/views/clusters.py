"""Pages of clusters: the list, a new one, editing one."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _

from apps.core import form_errors
from apps.core.errors import Conflict, Invalid, Stale
from apps.core.pages import actor_of
from apps.core.rights import Right
from apps.fleet import queries, services
from apps.fleet.forms import fleet as forms
from apps.fleet.page import cluster_context
from apps.fleet.queries.troubles import troubles_of


def clusters(request: HttpRequest) -> HttpResponse:
    """Every cluster that one may see, with what it is made of and where its trouble is."""
    actor = actor_of(request)
    rows = list(queries.cluster_rows(actor))
    troubles = troubles_of(rows)
    context = {
        "rows": [(row, troubles[row.pk]) for row in rows],
        "may_create": actor.may(Right.OPERATE, None),
    }
    return render(request, "fleet/clusters.html", context)


def create_cluster(request: HttpRequest) -> HttpResponse:
    """A new cluster, without nodes yet."""
    actor = actor_of(request)
    actor.require(Right.OPERATE, None)
    form = forms.NewClusterForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            made = services.create_cluster(actor=actor, **form.cleaned_data)
        except (Invalid, Conflict) as error:
            form_errors.show(form, error)
        else:
            messages.success(request, _("The cluster is there; build its first domain now."))
            return redirect("fleet:build_domain", made.slug)
    return render(request, "fleet/create_cluster.html", {"form": form})


def edit_cluster(request: HttpRequest, slug: str) -> HttpResponse:
    """What people read about a cluster."""
    actor = actor_of(request)
    cluster = queries.cluster_for(actor, slug, Right.OPERATE)
    form = forms.ClusterForm(request.POST or None, initial=forms.ClusterForm.values_of(cluster))
    if request.method == "POST" and form.is_valid():
        values = dict(form.cleaned_data)
        try:
            services.edit_cluster(
                actor=actor, cluster_id=cluster.pk, expected_version=values.pop("version"), **values
            )
        except (Invalid, Stale) as error:
            form_errors.show(form, error)
        else:
            messages.success(request, _("The cluster is changed."))
            return redirect("portal:cluster", slug)
    context = cluster_context(cluster) | {"cluster": cluster, "form": form}
    return render(request, "fleet/edit_cluster.html", context)
