"""Pages of nodes: the list of a cluster, one node, and what can be decided about it."""

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
from apps.core.paging import arrange
from apps.core.rights import Right
from apps.fleet import queries, services
from apps.fleet.engine.life_cycle import Stage
from apps.fleet.filters import NodeOfClusterFilter
from apps.fleet.forms import fleet as forms
from apps.fleet.models import HoldKind
from apps.fleet.page import cluster_context
from apps.fleet.queries.troubles import troubles_of_node
from apps.fleet.tables import NodeTable

_PROBLEMS = (Invalid, Conflict, Stale)


def nodes(request: HttpRequest, slug: str) -> HttpResponse:
    """The nodes of a cluster."""
    actor = actor_of(request)
    cluster = queries.cluster_for(actor, slug)
    refuse_unknown(NodeOfClusterFilter, request.GET)
    found = NodeOfClusterFilter(request.GET, queryset=queries.node_rows(actor, cluster), cluster=cluster)
    table = NodeTable(found.qs)
    arrange(request, table, size=50)
    context = cluster_context(cluster) | {
        "cluster": cluster,
        "table": table,
        "filter": found,
        "filtered": any(request.GET.get(name) for name in NodeOfClusterFilter.get_filters()),
        "may_operate": actor.may(Right.OPERATE, cluster.scope_id),
    }
    return render(request, "fleet/nodes.html", context)


def node(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """One node: what it is, what it is held for, what happened to its parts."""
    return _node_page(request, slug, pk)


def _node_page(request: HttpRequest, slug: str, pk: int, **sent: object) -> HttpResponse:
    actor = actor_of(request)
    cluster = queries.cluster_for(actor, slug)
    page = queries.node_page(actor, cluster, pk)
    context = cluster_context(cluster) | {
        "cluster": cluster,
        "page": page,
        "node": page.node,
        "troubles": troubles_of_node(page.node),
        "may_operate": actor.may(Right.OPERATE, cluster.scope_id),
        "hold_form": forms.HoldForm(auto_id="hold-%s"),
        "release_form": forms.ReasonForm(auto_id="release-%s"),
        "alias_form": forms.AliasForm(auto_id="alias-%s"),
        "edit_form": forms.NodeForm(initial=forms.NodeForm.values_of(page.node)),
        "move_form": forms.MoveForm(node=page.node, auto_id="move-%s"),
        **sent,
    }
    return render(request, "fleet/node.html", context, status=400 if sent else 200)


@require_POST
def edit_node(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Where it stands, and its board."""
    form = forms.NodeForm(request.POST)
    if form.is_valid():
        values = dict(form.cleaned_data)
        try:
            services.edit_node(
                actor=actor_of(request), node_id=pk, expected_version=values.pop("version"), **values
            )
        except _PROBLEMS as error:
            form_errors.show(form, error)
        else:
            messages.success(request, _("The node is changed."))
            return redirect("fleet:node", slug, pk)
    return _node_page(request, slug, pk, edit_form=form)


@require_POST
def move_node(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Move it to another stage of its life."""
    actor = actor_of(request)
    form = forms.MoveForm(request.POST, node=queries.node_for(actor, pk))
    if form.is_valid():
        values = form.cleaned_data
        try:
            services.move_node(
                actor=actor,
                node_id=pk,
                expected_version=values["version"],
                to=Stage(values["to"]),
                reason=values["reason"],
            )
        except _PROBLEMS as error:
            form_errors.show(form, error)
        else:
            messages.success(request, _("The node has moved."))
            return redirect("fleet:node", slug, pk)
    return _node_page(request, slug, pk, move_form=form)


@require_POST
def hold_node(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Take it out of work."""
    form = forms.HoldForm(request.POST)
    if form.is_valid():
        values = form.cleaned_data
        try:
            services.hold_node(
                actor=actor_of(request), node_id=pk, kind=HoldKind(values["kind"]), reason=values["reason"]
            )
        except _PROBLEMS as error:
            form_errors.show(form, error)
        else:
            messages.success(request, _("The node is held."))
            return redirect("fleet:node", slug, pk)
    return _node_page(request, slug, pk, hold_form=form)


@require_POST
def release_hold(request: HttpRequest, slug: str, pk: int, hold_id: int) -> HttpResponse:
    """Give it back to work."""
    form = forms.ReasonForm(request.POST)
    if form.is_valid():
        try:
            services.release_hold(
                actor=actor_of(request), hold_id=hold_id, reason=form.cleaned_data["reason"]
            )
        except _PROBLEMS as error:
            form_errors.show(form, error)
        else:
            messages.success(request, _("The hold is released."))
            return redirect("fleet:node", slug, pk)
    return _node_page(request, slug, pk, release_form=form)


@require_POST
def add_alias(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Another name for it."""
    form = forms.AliasForm(request.POST)
    if form.is_valid():
        try:
            services.add_alias(actor=actor_of(request), node_id=pk, name=form.cleaned_data["name"])
        except _PROBLEMS as error:
            form_errors.show(form, error)
        else:
            messages.success(request, _("The name is added."))
            return redirect("fleet:node", slug, pk)
    return _node_page(request, slug, pk, alias_form=form)


@require_POST
def remove_alias(request: HttpRequest, slug: str, pk: int, alias_id: int) -> HttpResponse:
    """Take a name away."""
    services.remove_alias(actor=actor_of(request), alias_id=alias_id)
    messages.success(request, _("The name is removed."))
    return redirect("fleet:node", slug, pk)
