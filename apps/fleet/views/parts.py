"""Page of the boards and cards outside of nodes: spares, repairs, what swaps left over."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from apps.core import form_errors
from apps.core.errors import Conflict, Invalid, Stale
from apps.core.filtering import refuse_unknown
from apps.core.pages import actor_of
from apps.core.paging import page_of
from apps.core.rights import Right
from apps.fleet import queries, services
from apps.fleet.engine.part_life import PartStage
from apps.fleet.filters import PartFilter
from apps.fleet.forms.parts import MovePartForm, SpareForm
from apps.fleet.models import PartKind
from apps.fleet.page import cluster_context

_PROBLEMS = (Invalid, Conflict, Stale)


def parts(request: HttpRequest, slug: str) -> HttpResponse:
    """Spares and repairs of a cluster; a POST puts one on the shelf."""
    actor = actor_of(request)
    cluster = queries.cluster_for(actor, slug)
    form = SpareForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        values = dict(form.cleaned_data)
        kind = PartKind(values.pop("kind"))
        try:
            services.add_spare(actor=actor, cluster_id=cluster.pk, kind=kind, **values)
        except _PROBLEMS as error:
            form_errors.show(form, error)
        else:
            messages.success(request, _("It is on the shelf."))
            return redirect("fleet:parts", slug)
    return _page(request, slug, form)


def _page(
    request: HttpRequest, slug: str, form: SpareForm, refused: tuple[int, MovePartForm] | None = None
) -> HttpResponse:
    actor = actor_of(request)
    cluster = queries.cluster_for(actor, slug)
    refuse_unknown(PartFilter, request.GET)
    found = PartFilter(request.GET, queryset=queries.parts_visible(actor).filter(cluster=cluster))
    page = page_of(request, found.qs)
    forms = {part.pk: MovePartForm.of(part) for part in page if part.moves}
    forms |= dict([refused]) if refused else {}
    context = cluster_context(cluster) | {
        "cluster": cluster,
        "page": page,
        "rows": [(part, forms.get(part.pk)) for part in page],
        "form": form,
        "may_operate": actor.may(Right.OPERATE, cluster.scope_id),
    }
    return render(request, "fleet/parts.html", context, status=400 if form.errors or refused else 200)


@require_POST
def move_part(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Say what becomes of a board or card."""
    form = MovePartForm(request.POST, auto_id=f"part-{pk}-%s")
    if form.is_valid():
        values = form.cleaned_data
        try:
            services.move_part(
                actor=actor_of(request),
                part_id=pk,
                expected_version=values["version"],
                to=PartStage(values["to"]),
                reason=values["reason"],
            )
        except _PROBLEMS as error:
            form_errors.show(form, error)
        else:
            messages.success(request, _("The part has moved."))
            return redirect("fleet:parts", slug)
    return _page(request, slug, SpareForm(), refused=(pk, form))
