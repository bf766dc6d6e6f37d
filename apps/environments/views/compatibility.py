"""Rules between components: all of a cluster (or everywhere), and setting one."""

from __future__ import annotations

from typing import Any

import yaml
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from apps.core import form_errors
from apps.core.errors import Invalid
from apps.core.filtering import refuse_unknown
from apps.core.pages import actor_of, version_in
from apps.core.rights import Right
from apps.environments import forms, queries, services
from apps.fleet.models import Cluster
from apps.fleet.page import cluster_context
from apps.fleet.queries import cluster_for

_NAMES = frozenset({"cluster"})


def rules(request: HttpRequest) -> HttpResponse:
    """The rules as they hold everywhere or (?cluster=) in one cluster."""
    actor, cluster = actor_of(request), _cluster(request)
    context = _place(cluster) | {
        "rules": queries.compatibility_rules(cluster.pk if cluster else None),
        "may_write": actor.may(Right.ADMIN, cluster.scope_id if cluster else None),
    }
    return render(request, "environments/compatibility.html", context)


def rule(request: HttpRequest, rule_id: str = "") -> HttpResponse:
    """Set one rule, switch it off, or (without an id) add one."""
    actor, cluster = actor_of(request), _cluster(request)
    actor.require(Right.ADMIN, cluster.scope_id if cluster else None)
    cluster_id = cluster.pk if cluster else None
    held = next((one for one in queries.compatibility_rules(cluster_id) if one.id == rule_id), None)
    form = forms.CompatibilityRuleForm(request.POST or None, initial=_initial(rule_id, held))
    if request.method == "POST" and form.is_valid():
        try:
            services.set_compatibility_rule(
                actor=actor,
                cluster_id=cluster_id,
                expected_version=version_in(request),
                rule_id=rule_id or form.cleaned_data["rule"],
                definition=form.cleaned_data["definition"] if form.cleaned_data["enabled"] else None,
                reason=form.cleaned_data["reason"],
            )
        except Invalid as error:
            form_errors.show(form, error)
        else:
            messages.success(request, _("The rule is set."))
            return redirect(_list_of(cluster))
    context = _place(cluster) | {"rule_id": rule_id, "held": held, "form": form}
    context["version"] = held.own_version if held else 0
    return render(request, "environments/compatibility_rule.html", context)


@require_POST
def clear(request: HttpRequest, rule_id: str) -> HttpResponse:
    """Take back what was set here."""
    cluster = _cluster(request)
    services.clear_compatibility_rule(
        actor=actor_of(request),
        rule_id=rule_id,
        cluster_id=cluster.pk if cluster else None,
        expected_version=version_in(request),
    )
    messages.success(request, _("The rule is as it was before it was set here."))
    return redirect(_list_of(cluster))


def _initial(rule_id: str, held: queries.HeldRule | None) -> dict[str, Any]:
    if held is None:
        return {"rule": rule_id, "enabled": True, "definition": forms.RULE_EXAMPLE}
    text = yaml.safe_dump(dict(held.definition), sort_keys=False, allow_unicode=True, width=100)
    return {"rule": rule_id, "enabled": held.is_enabled, "definition": text}


def _place(cluster: Cluster | None) -> dict[str, Any]:
    return (cluster_context(cluster) if cluster else {}) | {"cluster": cluster}


def _cluster(request: HttpRequest) -> Cluster | None:
    refuse_unknown(None, request.GET, also=_NAMES)
    slug = request.GET.get("cluster", "")
    return cluster_for(actor_of(request), slug) if slug else None


def _list_of(cluster: Cluster | None) -> str:
    return reverse("environments:compatibility_rules") + (f"?cluster={cluster.slug}" if cluster else "")
