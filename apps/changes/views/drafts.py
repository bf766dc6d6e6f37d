"""Asking for a change, and editing it before it starts."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _

from apps.changes import forms, page, prefill, queries, services
from apps.changes.history import stage_name
from apps.changes.models import Change
from apps.changes.queries.gates import ALL_REDUCE_NEEDS
from apps.changes.queries.targets import run_already
from apps.core import form_errors
from apps.core.errors import Invalid, PortalError, Stale
from apps.core.hostlist import expand, fold
from apps.core.pages import actor_of, version_in
from apps.core.rights import Right
from apps.core.speech import said
from apps.core.whole_numbers import whole_number
from apps.fleet.models import Domain, Node
from apps.fleet.page import cluster_context
from apps.fleet.queries import clusters_visible, domain_for, node_ids_named


def new(request: HttpRequest) -> HttpResponse:
    """Ask for a change. ?domain=, ?node= and ?component= fill the form in, as findings of drift do."""
    actor = actor_of(request)
    domain = _domain(request)
    if domain is None:
        return _choose_domain(request)
    actor.require(Right.OPERATE, domain.cluster.scope_id)
    given = prefill.from_findings(domain, request.GET.getlist("node"), request.GET.getlist("component"))
    form = forms.NewForm(request.POST or None, initial=given.fields)
    items = forms.ItemFormSet(request.POST or None, initial=_labelled(given.items), prefix="items")
    context: dict[str, Any] = {"form": form, "items": items, "domain": domain, "findings": given.findings}
    if request.method == "POST" and form.is_valid() and items.is_valid():
        try:
            node_ids = node_ids_named(domain.cluster, form.cleaned_data["nodes"])
            if _is_warned(request, domain, items, node_ids):
                context["changes_nothing"] = True
                return render(request, "changes/new.html", context | _shown(domain, given.fields["nodes"]))
            change = services.draft_change(
                actor=actor,
                domain_id=domain.pk,
                kind=form.cleaned_data["kind"],
                content=form.content(forms.wishes_in(items)),
                node_ids=node_ids,
            )
        except Invalid as error:
            _show(form, items, error)
        else:
            messages.success(request, _("The draft is kept. Hand it in when it is ready for approval."))
            return redirect("changes:change", change.pk)
    return render(request, "changes/new.html", context | _shown(domain, given.fields["nodes"]))


def edit(request: HttpRequest, change_id: int) -> HttpResponse:
    """Edit a change before it starts; approvals of what it was count no more."""
    actor = actor_of(request)
    change = queries.change_for(actor, change_id, Right.OPERATE)
    held = _held(change)
    rows = [{"component": name, "version": version} for name, version in held["items"].items()]
    form = forms.ContentForm(request.POST or None, initial=held)
    items = forms.ItemFormSet(request.POST or None, initial=_labelled(rows), prefix="items")
    context: dict[str, Any] = {"form": form, "items": items, "change": change, "domain": change.domain}
    context |= {"version": change.version, "seen": json.dumps(held), "status": 200}
    if request.method == "POST" and form.is_valid() and items.is_valid():
        try:
            services.edit_change(
                actor=actor,
                change_id=change_id,
                expected_version=version_in(request),
                content=form.content(forms.wishes_in(items)),
                node_ids=node_ids_named(change.cluster, form.cleaned_data["nodes"]),
            )
        except Invalid as error:
            _show(form, items, error)
        except Stale as error:
            context |= {"stale": error, "conflict": _three_ways(request, form, items, held), "status": 412}
        else:
            return redirect("changes:change", change_id)
    return render(request, "changes/edit.html", context | _shown(change.domain, ""), status=context["status"])


def _labelled(rows: Iterable[Mapping[str, str]]) -> list[dict[str, str]]:
    """Rows of components as the form shows them."""
    shown = forms.shown_names()
    return [{**row, "component": shown.get(row["component"], row["component"])} for row in rows]


def _is_warned(request: HttpRequest, domain: Domain, items: Any, node_ids: list[int]) -> bool:
    """Whether the change would change nothing, and who asks was not yet told so."""
    if "all_the_same" in request.POST:
        return False
    ids = node_ids or list(Node.objects.in_use().under(domain).values_list("pk", flat=True))
    return run_already(ids, {wish.component: wish.values for wish in forms.wishes_in(items)})


def _domain(request: HttpRequest) -> Domain | None:
    domain_id = whole_number(request.GET.get("domain", ""))
    if domain_id is not None:
        return domain_for(actor_of(request), domain_id)
    domains = _domains(request)
    return domains[0] if len(domains) == 1 else None


def _domains(request: HttpRequest) -> Any:
    clusters = clusters_visible(actor_of(request))
    if slug := request.GET.get("cluster"):
        clusters = clusters.filter(slug=slug)
    rows = Domain.objects.filter(cluster__in=clusters, retired_at__isnull=True)
    return rows.select_related("cluster").order_by("cluster__name", "name")


def _choose_domain(request: HttpRequest) -> HttpResponse:
    form = forms.DomainForm(domains=_domains(request))
    return render(request, "changes/choose_domain.html", {"form": form, "domains": _domains(request)})


def _shown(domain: Domain, nodes: str) -> dict[str, Any]:
    """The cluster, the suggestions, and the stages in which a change of these nodes would go."""
    rows = list(Node.objects.in_use().under(domain).order_by("index", "name"))
    names = {node.pk: node.name for node in rows}
    wanted = set(expand(nodes)) if nodes else set(names.values())
    planned = services.stages_for([node for node in rows if node.name in wanted])
    stages = [
        {
            "name": stage_name(stage.name),
            "nodes": fold(names[pk] for pk in stage.node_ids),
            "count": len(stage.node_ids),
        }
        for stage in planned
    ]
    ahead = {"stages": stages, "all_reduce_needs": ALL_REDUCE_NEEDS}
    return cluster_context(domain.cluster) | page.suggestions_for(rows) | ahead


def _held(change: Change) -> dict[str, Any]:
    """A change as the form's values; items as component to version."""
    names = dict.fromkeys(
        change.targets.order_by("node__index", "node__name").values_list("node__name", flat=True)
    )
    soaks = [soak_s // 60 for soak_s in change.stages.values_list("soak_s", flat=True)] + [15, 60]
    items = {row.component: row.wanted for row in queries.differences_of([change.pk]).get(change.pk, [])}
    return {
        "title": change.title,
        "reason": change.reason,
        "back_out": change.back_out,
        "nodes": fold(names),
        "approvals_needed": change.approvals_needed,
        "soak_first": soaks[0],
        "soak_second": soaks[1],
        "items": items,
    }


def _three_ways(request: HttpRequest, form: Any, items: Any, held: dict[str, Any]) -> list[dict[str, Any]]:
    """Row by row what was on the page when it was opened, what it is now, and what was typed; only what differs."""
    seen = _seen(request.POST.get("seen", ""))
    typed = {wish.component: " | ".join(wish.values) for wish in forms.wishes_in(items)}
    rows = [
        _row(str(field.label), seen.get(name), held.get(name), form.cleaned_data.get(name))
        for name, field in form.fields.items()
    ]
    was = seen["items"]
    parts = sorted({*was, *held["items"], *typed})
    rows += [_row(part, was.get(part), held["items"].get(part), typed.get(part)) for part in parts]
    return [row for row in rows if len({row["seen"], row["now"], row["yours"]}) > 1]


def _seen(text: str) -> dict[str, Any]:
    """What the form held when the page was opened; nothing of it where the browser sends something else."""
    try:
        seen = json.loads(text)
    except (ValueError, RecursionError):
        seen = {}
    if not isinstance(seen, dict) or not isinstance(seen.get("items"), dict):
        return {"items": {}}
    return seen


def _row(key: str, seen: Any, now: Any, yours: Any) -> dict[str, Any]:
    texts = ["" if value is None else str(value) for value in (seen, now, yours)]
    return {
        "key": key,
        "seen": texts[0],
        "now": texts[1],
        "yours": texts[2],
        "both": texts[0] != texts[1] and texts[0] != texts[2] and texts[1] != texts[2],
    }


def _show(form: Any, items: Any, error: PortalError) -> None:
    """Errors at the fields that they are about: /items/0 is a row, everything else a field of the form."""
    rest = [item for item in error.errors if not item.pointer.startswith("/items/")]
    filled = [row for row in items.forms if row.wish() is not None]
    for item in error.errors:
        place = item.pointer.removeprefix("/items/").partition("/")[0]
        if item.pointer.startswith("/items/") and int(place) < len(filled):
            filled[int(place)].add_error("component", said(item.message))
    if rest or not error.errors:
        form_errors.show(form, Invalid(error.message, errors=rest))
