"""Drafts: where they come from, and their edits."""

from __future__ import annotations

from dataclasses import dataclass

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from apps.core import form_errors
from apps.core.errors import Conflict, Invalid
from apps.core.pages import actor_of, version_in
from apps.core.rights import Right
from apps.core.speech import said
from apps.core.whole_numbers import whole_number
from apps.environments import forms, queries, services
from apps.environments.engine.matrix_diff import compare_entries
from apps.environments.models import MatrixVersion
from apps.environments.services.drafting import read_entries
from apps.environments.words import diff_rows
from apps.fleet.models import Cluster, Domain
from apps.fleet.page import cluster_context
from apps.fleet.queries import cluster_for


@dataclass(frozen=True, slots=True, kw_only=True)
class _Home:
    """What is drafted for: a domain, or the whole cluster."""

    cluster: Cluster
    domain: Domain | None

    @property
    def ids(self) -> dict[str, int]:
        return {"domain_id": self.domain.pk} if self.domain else {"cluster_id": self.cluster.pk}

    def address(self, name: str) -> str:
        """The address of one of the ways to a draft."""
        if self.domain:
            return reverse(f"environments:{name}", args=[self.domain.pk])
        return reverse(f"environments:{_OF_CLUSTER[name]}", args=[self.cluster.slug])


_OF_CLUSTER = {
    "new_draft": "new_cluster_draft",
    "draft_from_reports": "cluster_draft_from_reports",
    "draft_from_file": "cluster_draft_from_file",
    "draft_from_other": "cluster_draft_from_other",
}


def new_draft(request: HttpRequest, pk: int) -> HttpResponse:
    """The ways to a draft for a domain: from reports, from a version, from a file."""
    return _new_draft_page(request, _of_domain(request, pk), forms.FileForm())


def new_cluster_draft(request: HttpRequest, slug: str) -> HttpResponse:
    """The same for a whole cluster."""
    return _new_draft_page(request, _of_cluster(request, slug), forms.FileForm())


@require_POST
def draft_from_reports(request: HttpRequest, pk: int) -> HttpResponse:
    """Draft from what most nodes of a domain report."""
    return _from_reports(request, _of_domain(request, pk))


@require_POST
def cluster_draft_from_reports(request: HttpRequest, slug: str) -> HttpResponse:
    """Draft from what most nodes of a cluster report."""
    return _from_reports(request, _of_cluster(request, slug))


@require_POST
def draft_from_file(request: HttpRequest, pk: int) -> HttpResponse:
    """Draft for a domain from a YAML or CSV file; its faults stay on the page."""
    return _from_file(request, _of_domain(request, pk))


@require_POST
def cluster_draft_from_file(request: HttpRequest, slug: str) -> HttpResponse:
    """Draft for a whole cluster from a file."""
    return _from_file(request, _of_cluster(request, slug))


@require_POST
def draft_from_other(request: HttpRequest, pk: int) -> HttpResponse:
    """Draft for a domain, starting with a version of another matrix."""
    return _from_other(request, _of_domain(request, pk))


@require_POST
def cluster_draft_from_other(request: HttpRequest, slug: str) -> HttpResponse:
    """Draft for a whole cluster, starting with a version of another matrix."""
    return _from_other(request, _of_cluster(request, slug))


def _of_domain(request: HttpRequest, pk: int) -> _Home:
    domain = queries.domain_for(actor_of(request), pk, Right.OPERATE)
    return _Home(cluster=domain.cluster, domain=domain)


def _of_cluster(request: HttpRequest, slug: str) -> _Home:
    return _Home(cluster=cluster_for(actor_of(request), slug, Right.OPERATE), domain=None)


def _from_reports(request: HttpRequest, home: _Home) -> HttpResponse:
    try:
        draft = services.draft_from_reports(
            actor=actor_of(request), note=request.POST.get("note", "")[:2000], **home.ids
        )
    except Conflict as error:
        messages.error(request, said(error.message))
        return redirect(home.address("new_draft"))
    messages.success(request, _("Drafted from what the nodes report. Look at it, then lock it."))
    return redirect("environments:version", draft.pk)


def _from_file(request: HttpRequest, home: _Home) -> HttpResponse:
    form = forms.FileForm(request.POST, request.FILES)
    if form.is_valid():
        data = form.cleaned_data
        try:
            draft = services.draft_from_file(
                actor=actor_of(request), text=data["text"], file_format=data["file_format"], **home.ids
            )
        except (Invalid, Conflict) as error:
            form_errors.show(form, error)
        else:
            return redirect("environments:version", draft.pk)
    return _new_draft_page(request, home, form)


def _from_other(request: HttpRequest, home: _Home) -> HttpResponse:
    version_id = whole_number(request.POST.get("from", ""))
    try:
        draft = services.draft_from_version(actor=actor_of(request), version_id=version_id or 0, **home.ids)
    except Conflict as error:
        messages.error(request, said(error.message))
        return redirect(home.address("new_draft"))
    return redirect("environments:version", draft.pk)


@require_POST
def draft_from_version(request: HttpRequest, pk: int) -> HttpResponse:
    """The next draft, starting with this version's entries."""
    draft = services.draft_from_version(
        actor=actor_of(request), version_id=pk, note=request.POST.get("note", "")[:2000]
    )
    return redirect("environments:version", draft.pk)


def entry(request: HttpRequest, pk: int, component: str = "") -> HttpResponse:
    """Set what a draft asks of one component."""
    actor = actor_of(request)
    row = queries.matrix_version_for(actor, pk, Right.OPERATE)
    form = forms.EntryForm(request.POST or None, fixed_component=component, initial=_initial(row, component))
    if request.method == "POST" and form.is_valid():
        data = form.cleaned_data
        try:
            services.set_entry(
                actor=actor,
                version_id=pk,
                expected_version=version_in(request),
                component=data["component"],
                rule=data["rule"],
                values=data["values"].splitlines(),
                note=data["note"],
            )
        except (Invalid, Conflict) as error:
            form_errors.show(form, error)
        else:
            return redirect("environments:version", pk)
    context = cluster_context(row.matrix.cluster) | {"version": row, "form": form, "component": component}
    return render(request, "environments/entry.html", context)


@require_POST
def remove_entry(request: HttpRequest, pk: int, component: str) -> HttpResponse:
    """Ask nothing of a component any more."""
    services.remove_entry(
        actor=actor_of(request), version_id=pk, expected_version=version_in(request), component=component
    )
    return redirect("environments:version", pk)


def import_file(request: HttpRequest, pk: int) -> HttpResponse:
    """Put the entries of a file in the place of a draft's: first what would change, then, confirmed, done."""
    actor = actor_of(request)
    row = queries.matrix_version_for(actor, pk, Right.OPERATE)
    form = forms.FileForm(request.POST or None, request.FILES or None)
    context = cluster_context(row.matrix.cluster) | {"version": row, "form": form}
    if request.method == "POST" and form.is_valid():
        data = form.cleaned_data
        try:
            if request.POST.get("confirmed"):
                services.replace_entries(
                    actor=actor,
                    version_id=pk,
                    expected_version=version_in(request),
                    text=data["text"],
                    file_format=data["file_format"],
                )
                return redirect("environments:version", pk)
            entries = read_entries(data["text"], data["file_format"])
        except (Invalid, Conflict) as error:
            form_errors.show(form, error)
        else:
            changes = compare_entries(queries.entries_of(row.entries.all()), entries)
            context |= {"preview": diff_rows(changes, entries), "text": data["text"]}
    return render(request, "environments/import.html", context)


def _initial(version: MatrixVersion, component: str) -> dict[str, str]:
    held = version.entries.filter(component=component).first()
    if held is None:
        return {"rule": "exact"}
    return {"rule": held.rule, "values": "\n".join(held.values), "note": held.note}


def _new_draft_page(request: HttpRequest, home: _Home, form: forms.FileForm) -> HttpResponse:
    visible = queries.versions_visible(actor_of(request))
    own = {"matrix__cluster": home.cluster, "matrix__domain": home.domain}
    context = cluster_context(home.cluster) | {
        "home": home.domain or home.cluster,
        "domain": home.domain,
        "form": form,
        "versions": visible.filter(**own)[:20],
        "others": queries.in_use_elsewhere(visible.exclude(**own)),
        "reports_url": home.address("draft_from_reports"),
        "file_url": home.address("draft_from_file"),
        "other_url": home.address("draft_from_other"),
    }
    return render(request, "environments/new_draft.html", context)
