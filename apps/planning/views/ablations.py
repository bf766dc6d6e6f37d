"""Page of a version's ablations: what to run, with which commands, and measured beside predicted."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from apps.core.pages import actor_of
from apps.core.rights import Right
from apps.core.speech import said
from apps.fleet.page import cluster_context
from apps.planning import queries
from apps.planning.commands import commands_for
from apps.planning.queries.ablations import listed_ablations


def ablations(request: HttpRequest, plan_id: int, number: int) -> HttpResponse:
    """The layouts that tell most about this cluster, predicted and measured."""
    actor = actor_of(request)
    version = queries.version_for(actor, plan_id, number)
    per_node = queries.accelerators_per_node(version.plan.domain)
    rows = [
        {
            "listed": one,
            "question": said(one.ablation.question),
            "commands": commands_for(one.ablation.plan, per_node) if one.ablation.plan else [],
        }
        for one in listed_ablations(version)
    ]
    context: dict[str, Any] = {
        "version": version,
        "plan": version.plan,
        "rows": rows,
        "may_operate": actor.may(Right.OPERATE, version.plan.scope_id),
    }
    if domain := version.plan.domain:
        context |= cluster_context(domain.cluster) | {"cluster": domain.cluster, "domain": domain}
        context["calibration"] = queries.calibration_of(domain)
    return render(request, "planning/ablations.html", context)
