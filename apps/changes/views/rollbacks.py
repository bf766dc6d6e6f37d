"""The way back: what would be restored, why, and go."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from apps.changes import queries, services
from apps.changes.queries import restoring
from apps.core import clock, form_errors
from apps.core.actor import Actor
from apps.core.confirming import ConfirmedForm
from apps.core.errors import Conflict, Invalid
from apps.core.pages import actor_of, version_in
from apps.core.rights import Right
from apps.core.speech import said
from apps.core.texts import say
from apps.core.whole_numbers import whole_number
from apps.fleet.models import Domain
from apps.fleet.page import cluster_context
from apps.fleet.queries import domain_for, node_ids_named


def roll_back(request: HttpRequest, change_id: int) -> HttpResponse:
    """Undo a change: back to what its nodes ran before."""
    actor = actor_of(request)
    change = queries.change_for(actor, change_id, Right.OPERATE)
    confirm_password_first(actor)
    form = ConfirmedForm(request.POST or None, cluster_name=change.cluster.name)
    if request.method == "POST" and form.is_valid():
        started = services.roll_back_change(
            actor=actor,
            change_id=change_id,
            expected_version=version_in(request),
            reason=form.cleaned_data["reason"],
        )
        return redirect("changes:change", started.pk)
    try:
        preview = restoring.preview_undo(change)
    except Conflict as error:
        messages.error(request, said(error.message))
        return redirect("changes:change", change_id)
    context = {"form": form, "change": change, "preview": preview, "version": change.version}
    context["nothing_to_do"] = restoring.restores_nothing(preview, change)
    return render(request, "changes/roll_back.html", context | cluster_context(change.cluster))


def roll_back_to(request: HttpRequest) -> HttpResponse:
    """Back to a known-good version: ?domain=, perhaps ?nodes= and ?matrix_version=."""
    actor = actor_of(request)
    domain = _domain(request)
    actor.require(Right.OPERATE, domain.cluster.scope_id)
    confirm_password_first(actor)
    asked: dict[str, Any] = {
        "matrix_version_id": whole_number(request.GET.get("matrix_version", "")),
        "node_ids": node_ids_named(domain.cluster, request.GET.get("nodes", "")),
    }
    form = ConfirmedForm(request.POST or None, cluster_name=domain.cluster.name)
    context = {"form": form, "domain": domain, "targets": restoring.known_good_versions(domain).values()}
    context |= {"nodes": request.GET.get("nodes", "")} | cluster_context(domain.cluster)
    if request.method == "POST" and form.is_valid():
        try:
            started = services.start_rollback(
                actor=actor, domain_id=domain.pk, reason=form.cleaned_data["reason"], **asked
            )
        except Conflict as error:
            form_errors.show(form, error)
        else:
            return redirect("changes:change", started.pk)
    try:
        context["preview"] = restoring.preview_rollback(domain=domain, **asked)
    except Conflict as error:
        context["nothing_to_do"] = error
    return render(request, "changes/roll_back_to.html", context)


def confirm_password_first(actor: Actor) -> None:
    """Lead to the password page before the form is filled in, rather than after. Raises NotAllowed."""
    actor.require_recent_password(now=clock.now(), within_s=settings.REAUTHENTICATE_AFTER_S)


def _domain(request: HttpRequest) -> Domain:
    domain_id = whole_number(request.GET.get("domain", ""))
    if domain_id is None:
        raise Invalid(say("say which domain: ?domain=ID"), code="domain")
    return domain_for(actor_of(request), domain_id)
