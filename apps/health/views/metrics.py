"""The Prometheus server that a cluster's GPU metrics are fetched from."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from apps.core import form_errors
from apps.core.errors import Invalid, Missing
from apps.core.pages import actor_of, version_in
from apps.core.rights import Right
from apps.fleet.models import Cluster
from apps.fleet.page import cluster_context
from apps.fleet.queries import cluster_for
from apps.health import forms, queries, services
from apps.health.models import MetricsSource

_FRESH = {"host_label": "Hostname", "every_minutes": 5, "enabled": True, "auth": "none"}


def source(request: HttpRequest, slug: str) -> HttpResponse:
    """Where it is, how it is asked, and how the last look went."""
    actor = actor_of(request)
    cluster = cluster_for(actor, slug, Right.ADMIN)
    held = _held(cluster)
    form = forms.MetricsForm(
        request.POST or None, initial=_initial(held), has_secret=held is not None and held.has_secret
    )
    if request.method == "POST" and form.is_valid():
        values: dict[str, Any] = dict(form.cleaned_data)
        every_s = values.pop("every_minutes") * 60
        try:
            services.set_metrics_source(
                actor=actor,
                cluster_id=cluster.pk,
                expected_version=version_in(request),
                every_s=every_s,
                **values,
            )
        except Invalid as error:
            form_errors.show(form, error)
        else:
            messages.success(request, _("The settings are saved."))
            return redirect("health:metrics", slug)
    context = cluster_context(cluster) | {
        "cluster": cluster,
        "source": held,
        "form": form,
        "version": held.version if held else 0,
    }
    return render(request, "health/metrics.html", context)


@require_POST
def remove(request: HttpRequest, slug: str) -> HttpResponse:
    """Ask no more, and forget the credentials."""
    actor = actor_of(request)
    cluster = cluster_for(actor, slug, Right.ADMIN)
    services.remove_metrics_source(actor=actor, cluster_id=cluster.pk, expected_version=version_in(request))
    messages.success(request, _("The server is asked no more, and its credentials are forgotten."))
    return redirect("health:metrics", slug)


@require_POST
def fetch(request: HttpRequest, slug: str) -> HttpResponse:
    """Ask now."""
    actor = actor_of(request)
    cluster = cluster_for(actor, slug, Right.ADMIN)
    job = services.ask_metrics_now(actor=actor, cluster_id=cluster.pk)
    return redirect("jobs:job", job.pk)


def _held(cluster: Cluster) -> MetricsSource | None:
    try:
        return queries.metrics_source_of(cluster)
    except Missing:
        return None


def _initial(held: MetricsSource | None) -> dict[str, Any]:
    """What the form begins with; never the secret."""
    if held is None:
        return dict(_FRESH)
    names = ("url", "host_label", "enabled", "auth", "username")
    return {name: getattr(held, name) for name in names} | {"every_minutes": held.every_s // 60}
