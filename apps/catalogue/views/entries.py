"""Accelerators and supernodes with their figures, sources and confidence, and a team's own figures."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_POST

from apps.accounts.models import Scope
from apps.accounts.queries import scope_by_slug, scopes_visible_to
from apps.catalogue import queries, services
from apps.catalogue.engine.component_files import to_yaml
from apps.catalogue.engine.overlays import FIELDS, VERSION_TABLES, Confidence, Kind, right_to_set
from apps.catalogue.forms import FigureForm, ImportForm, NewEntryForm, TeamFilter
from apps.catalogue.words import VERSION_TABLE_NAMES
from apps.core import form_errors
from apps.core.actor import Actor
from apps.core.errors import Invalid, Missing
from apps.core.filtering import refuse_unknown
from apps.core.pages import actor_of
from apps.core.rights import Right


def accelerators(request: HttpRequest) -> HttpResponse:
    """The accelerators that plans and checks compute with."""
    return _list(request, Kind.ACCELERATOR)


def supernodes(request: HttpRequest) -> HttpResponse:
    """Scale-up systems, as starting values."""
    return _list(request, Kind.SUPERNODE)


def components(request: HttpRequest) -> HttpResponse:
    """What nodes are made of, how versions are read, and the rule and severity unless a matrix says otherwise."""
    return _list(request, Kind.COMPONENT)


def version_table(request: HttpRequest, kind: str = Kind.TORCH) -> HttpResponse:
    """One of the tables that rules between components look versions up in."""
    of_kind = _kind(kind)
    if of_kind not in VERSION_TABLES:
        raise Missing()
    return _list(request, of_kind)


def export_components(request: HttpRequest) -> HttpResponse:
    """The components in force as a YAML file, which can be imported again."""
    actor_of(request)
    text = to_yaml(queries.rows_for(None, Kind.COMPONENT).values())
    response = HttpResponse(text, content_type="application/yaml; charset=utf-8")
    response["Content-Disposition"] = 'attachment; filename="components.yaml"'
    return response


def import_components(request: HttpRequest) -> HttpResponse:
    """Set what a YAML file of components says otherwise."""
    actor = actor_of(request)
    actor.require(Right.OPERATE, None)
    form = ImportForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            edits = services.import_components(actor=actor, **form.cleaned_data)
        except Invalid as error:
            form_errors.show(form, error)
        else:
            text = ngettext("%(n)s field is set.", "%(n)s fields are set.", len(edits)) % {"n": len(edits)}
            messages.success(request, text)
            return redirect("catalogue:components")
    return render(request, "catalogue/import_components.html", {"form": form})


def _list(request: HttpRequest, kind: Kind) -> HttpResponse:
    actor = actor_of(request)
    may_edit = _may_edit(actor, kind)
    form = NewEntryForm(request.POST or None, actor=actor, kind=kind) if may_edit else None
    sent = request.method == "POST" and form is not None and form.is_valid()
    if sent and form and _saved(form, actor, kind, form.cleaned_data["entry"]):
        return redirect(_address(kind, form.cleaned_data["entry"], form.cleaned_data["scope"], actor))
    scope = _scope(request, actor)
    context = {
        "kind": kind.value,
        "entries": queries.entries_for(scope.pk if scope else None, kind),
        "form": form,
        "may_edit": may_edit,
        "scope": scope,
    }
    if kind in VERSION_TABLES:
        context |= _about_table(request, actor, kind)
        return render(request, "catalogue/version_table.html", context)
    return render(request, f"catalogue/{kind.value}s.html", context)


def _about_table(request: HttpRequest, actor: Actor, kind: Kind) -> dict[str, Any]:
    slug = request.GET.get("cluster", "")
    return {
        "title": VERSION_TABLE_NAMES[kind],
        "paths": list(FIELDS[kind]),
        "filter": TeamFilter({"cluster": slug}, actor=actor),
        "tables": [
            {"label": word, "url": _table_address(one, slug), "is_shown": one is kind}
            for one, word in VERSION_TABLE_NAMES.items()
        ],
    }


def _table_address(kind: Kind, slug: str) -> str:
    return reverse("catalogue:version_table", args=[kind.value]) + (f"?cluster={slug}" if slug else "")


def entry(request: HttpRequest, kind: str, entry_id: str) -> HttpResponse:
    """One entry: each figure with its source and confidence, and setting one."""
    actor = actor_of(request)
    of_kind = _kind(kind)
    form = None
    if _may_edit(actor, of_kind):
        form = FigureForm(request.POST or None, actor=actor, kind=of_kind)
        if request.method == "POST" and form.is_valid() and _saved(form, actor, of_kind, entry_id):
            return redirect(_address(of_kind, entry_id, form.cleaned_data["scope"], actor))
    scope = _scope(request, actor)
    found = queries.entry_for(scope.pk if scope else None, of_kind, entry_id)
    return render(request, "catalogue/entry.html", {"entry": found, "kind": kind, "form": form})


@require_POST
def clear(request: HttpRequest, edit_id: int) -> HttpResponse:
    """Give a figure back to what is shipped."""
    row = services.clear_figure(actor=actor_of(request), edit_id=edit_id)
    messages.success(request, _("The figure is as shipped again."))
    if Kind(row.kind) in VERSION_TABLES:
        return redirect(_table_address(Kind(row.kind), row.scope.slug if row.scope else ""))
    return redirect(f"catalogue:{row.kind}s")


def _may_edit(actor: Actor, kind: Kind) -> bool:
    """Components are everybody's: only who operates every cluster may set them."""
    if kind is Kind.COMPONENT:
        return actor.may(Right.OPERATE, None)
    return actor.may_anywhere(right_to_set(kind))


def _saved(form: FigureForm, actor: Actor, kind: Kind, entry_id: str) -> bool:
    values = form.cleaned_data
    try:
        services.set_figure(
            actor=actor,
            scope_id=form.cleaned_data["scope"],
            kind=kind,
            entry=entry_id,
            path=values["path"],
            value=values["value"],
            source=values["source"],
            confidence=Confidence(values["confidence"]),
        )
    except Invalid as error:
        form_errors.show(form, error)
        return False
    return True


def _kind(name: str) -> Kind:
    if name not in set(Kind):
        raise Missing()
    return Kind(name)


def _scope(request: HttpRequest, actor: Actor) -> Scope | None:
    refuse_unknown(None, request.GET, also=frozenset({"cluster"}))
    slug = request.GET.get("cluster", "")
    return scope_by_slug(slug, actor=actor) if slug else None


def _address(kind: Kind, entry_id: str, scope_id: int | None, actor: Actor) -> str:
    address = reverse("catalogue:entry", args=[kind.value, entry_id])
    scope = scopes_visible_to(actor).filter(pk=scope_id).first() if scope_id is not None else None
    return f"{address}?cluster={scope.slug}" if scope else address
