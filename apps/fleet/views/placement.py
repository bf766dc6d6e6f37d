"""The placement check as a page: do heavy groups stay inside their domain?"""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from apps.core import form_errors
from apps.core.errors import Invalid
from apps.core.pages import actor_of
from apps.fleet import queries
from apps.fleet.engine.parallel import Dimension
from apps.fleet.engine.rank_inputs import read_ranks
from apps.fleet.forms.placement import PlacementForm
from apps.fleet.models import Cluster
from apps.fleet.page import cluster_context
from apps.fleet.queries.placement import PlacementPage, nodes_in_order, placement_page, ranks_on

_SHOWN = 200  # violations


def placement(request: HttpRequest, slug: str) -> HttpResponse:
    """Check a rank map (GET for a link, POST for a long one); nothing is written either way."""
    cluster = queries.cluster_for(actor_of(request), slug)
    form = PlacementForm(request.POST or request.GET or None, cluster=cluster)
    found = None
    if form.is_bound and form.is_valid():
        try:
            found = _checked(cluster, form)
        except Invalid as error:
            form_errors.show(form, error)
    context: dict[str, Any] = cluster_context(cluster) | {
        "cluster": cluster,
        "form": form,
        "found": found,
        "violations": found.checked.violations[:_SHOWN] if found else (),
    }
    return render(request, "fleet/placement.html", context)


def _checked(cluster: Cluster, form: PlacementForm) -> PlacementPage:
    values = form.cleaned_data
    text = values["ranks"]
    ranks = (
        read_ranks(text, per_node=values["per_node"])
        if text.strip()
        else ranks_on(nodes_in_order(cluster, values["domain"].pk))
    )
    return placement_page(
        cluster, ranks, form.sizes(), order=values["order"], dimension=Dimension(values["dimension"])
    )
