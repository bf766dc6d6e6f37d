"""Rules with their switches, and what a cluster lets happen without asking."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _

from apps.core import form_errors
from apps.core.errors import Invalid, Missing
from apps.core.filtering import refuse_unknown
from apps.core.pages import actor_of, version_in
from apps.core.rights import Right
from apps.core.units import as_typed
from apps.fleet.models import Cluster
from apps.fleet.page import cluster_context
from apps.fleet.queries import cluster_for
from apps.health import forms, queries, services
from apps.health.words import DIRECTIONS, UNITS, rule_title, rule_why

_CLUSTER = frozenset({"cluster"})


def rules(request: HttpRequest) -> HttpResponse:
    """All rules, as they hold everywhere or (?cluster=) in one cluster."""
    actor = actor_of(request)
    refuse_unknown(None, request.GET, also=_CLUSTER)
    cluster = _cluster(request)
    own = queries.rule_settings(cluster.pk if cluster else None)
    context = (cluster_context(cluster) if cluster else {}) | {
        "cluster": cluster,
        "rules": [
            {
                "rule": rule,
                "title": rule_title(rule.id, rule.title),
                "why": rule_why(rule),
                "direction": DIRECTIONS[rule.direction.value],
                "unit": UNITS.get(rule.unit, rule.unit),
                "setting": own.get(rule.id),
            }
            for rule in queries.rules_of(cluster.pk if cluster else None)
        ],
        "may_write": actor.may(Right.ADMIN, cluster.scope_id if cluster else None),
    }
    return render(request, "health/rules.html", context)


def rule(request: HttpRequest, rule_id: str) -> HttpResponse:
    """Switch a rule, or set its limits."""
    actor, cluster = actor_of(request), _cluster(request)
    actor.require(Right.ADMIN, cluster.scope_id if cluster else None)
    cluster_id = cluster.pk if cluster else None
    held = next((one for one in queries.rules_of(cluster_id) if one.id == rule_id), None)
    if held is None:
        raise Missing(_("there is no such rule"))
    setting = queries.rule_settings(cluster_id).get(rule_id)
    initial = {"enabled": held.is_enabled, "warn": as_typed(held.warn), "fail": as_typed(held.fail)}
    form = forms.RuleForm(request.POST or None, initial=initial)
    if request.method == "POST" and form.is_valid():
        try:
            services.set_rule(
                actor=actor,
                rule_id=rule_id,
                cluster_id=cluster_id,
                expected_version=version_in(request),
                **form.cleaned_data,
            )
        except Invalid as error:
            form_errors.show(form, error)
        else:
            messages.success(request, _("The rule is set."))
            return redirect(reverse("health:rules") + (f"?cluster={cluster.slug}" if cluster else ""))
    context = (cluster_context(cluster) if cluster else {}) | {
        "cluster": cluster,
        "rule": held,
        "title": rule_title(held.id, held.title),
        "why": rule_why(held),
        "unit": UNITS.get(held.unit, held.unit),
        "form": form,
        "version": setting.version if setting else 0,
    }
    return render(request, "health/rule.html", context)


def policy(request: HttpRequest, slug: str) -> HttpResponse:
    """Whether nodes of a cluster are quarantined without asking."""
    actor = actor_of(request)
    cluster = cluster_for(actor, slug, Right.ADMIN)
    held = queries.policy_of(cluster.pk)
    initial = {
        "automatic_quarantine": held.automatic_quarantine,
        "most_share_percent": as_typed(held.most_share * 100),
    }
    form = forms.PolicyForm(request.POST or None, initial=initial)
    if request.method == "POST" and form.is_valid():
        services.set_policy(
            actor=actor,
            cluster_id=cluster.pk,
            expected_version=version_in(request),
            automatic_quarantine=form.cleaned_data["automatic_quarantine"],
            most_share=form.cleaned_data["most_share_percent"] / 100,
        )
        messages.success(request, _("The settings are saved."))
        return redirect(reverse("health:overview") + f"?cluster={cluster.slug}")
    context = cluster_context(cluster) | {"cluster": cluster, "form": form, "version": held.version}
    return render(request, "health/policy.html", context)


def _cluster(request: HttpRequest) -> Cluster | None:
    slug = request.GET.get("cluster", "")
    return cluster_for(actor_of(request), slug) if slug else None
