"""Pages of scale-up domains: a whole one is built from a layout."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _

from apps.catalogue.queries import accelerators_for
from apps.core import form_errors
from apps.core.errors import Conflict, Invalid
from apps.core.pages import actor_of
from apps.core.rights import Right
from apps.fleet import queries, services
from apps.fleet.forms import fleet as forms
from apps.fleet.forms.layouts import FreeLayoutForm
from apps.fleet.page import cluster_context
from apps.fleet.words import fits_said


def build_domain(request: HttpRequest, slug: str) -> HttpResponse:
    """A whole domain from a ready layout: looked at first (GET, or POST with look), then built (POST)."""
    return _build(request, slug, forms.DomainForm, free=False)


def build_free(request: HttpRequest, slug: str) -> HttpResponse:
    """The same from a layout of one's own: counts, links, bandwidth per link, tiers."""
    return _build(request, slug, FreeLayoutForm, free=True)


def _build(
    request: HttpRequest, slug: str, form_class: type[forms.DomainForm | FreeLayoutForm], *, free: bool
) -> HttpResponse:
    actor = actor_of(request)
    cluster = queries.cluster_for(actor, slug, Right.OPERATE)
    form = form_class(request.POST or request.GET or None, initial={"name": _free_name(cluster)})
    if not form.is_bound:  # what it begins with can be built as well, so it is shown
        form = form_class({name: form.get_initial_for_field(one, name) for name, one in form.fields.items()})
    preview, parts = None, accelerators_for(cluster.scope_id)
    if form.is_valid():
        try:
            if request.method == "POST" and "look" not in request.POST:
                domain = services.build_domain(actor=actor, cluster_id=cluster.pk, **form.build_values(parts))
                messages.success(request, _("The domain %(name)s is built.") % {"name": domain.name})
                return redirect(f"{reverse('fleet:topology', args=[slug])}?domain={domain.pk}")
            preview = queries.domain_preview(cluster=cluster, **form.build_values(parts))
        except (Invalid, Conflict) as error:
            form_errors.show(form, error)
    context = cluster_context(cluster) | {
        "cluster": cluster,
        "form": form,
        "preview": preview,
        "fits": fits_said(preview.fabric.fits) if preview else [],
        "free": free,
    }
    template = "fleet/_preview.html" if request.headers.get("HX-Request") else "fleet/build_domain.html"
    return render(request, template, context)


def _free_name(cluster: Any) -> str:
    """A name such as sn2 that no domain of the cluster has yet."""
    taken = set(queries.domains_of(cluster).values_list("name", flat=True))
    return next(name for number in range(1, len(taken) + 2) if (name := f"sn{number}") not in taken)
