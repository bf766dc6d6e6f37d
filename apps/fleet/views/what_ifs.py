"""Pages of what-ifs: allocation policies on a job mix, and work over mixed generations."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _

from apps.core import form_errors
from apps.core.errors import Invalid, Missing
from apps.core.pages import STOP_POLLING, actor_of
from apps.core.texts import say
from apps.fleet import queries
from apps.fleet.engine.pool import Policy
from apps.fleet.forms.what_ifs import FIRST_MIX, HOUR_S, POLICY_WORDS, MixedForm, MixFormSet, WhatIfForm
from apps.fleet.page import cluster_context
from apps.fleet.queries.mixes import mixed_pool
from apps.fleet.services import what_ifs as service
from apps.jobs.queries import job as job_for
from apps.jobs.queries import jobs_visible_to

_RECENT = 10


def what_ifs(request: HttpRequest, slug: str) -> HttpResponse:
    """Give a job mix; earlier what-ifs."""
    actor = actor_of(request)
    cluster = queries.cluster_for(actor, slug)
    sent = request.method == "POST"
    form = WhatIfForm(request.POST or None)
    mix = MixFormSet(request.POST or None, prefix="mix", initial=None if sent else FIRST_MIX)
    if sent and form.is_valid() and mix.is_valid():
        values = form.cleaned_data | {"jobs": mix.values()}
        try:
            job = service.ask_for_what_if(actor=actor, cluster_id=cluster.pk, values=values)
        except Invalid as error:
            form_errors.show(form, error)
        else:
            return redirect("fleet:what_if", slug, job.pk)
    jobs = jobs_visible_to(actor).filter(kind=service.KIND, scope=cluster.scope)[:_RECENT]
    context = cluster_context(cluster) | {"cluster": cluster, "form": form, "mix": mix, "jobs": jobs}
    return render(request, "fleet/what_ifs.html", context)


def what_if(request: HttpRequest, slug: str, job_id: int) -> HttpResponse:
    """One what-if: how far it is, then its policies beside each other."""
    actor = actor_of(request)
    cluster = queries.cluster_for(actor, slug)
    job = job_for(job_id, actor=actor)
    if job.kind != service.KIND or job.scope_id != cluster.scope_id:
        raise Missing(say("there is no such what-if in this cluster"))
    results = (job.result or {}).get("results", [])
    context = cluster_context(cluster) | {
        "cluster": cluster,
        "job": job,
        "rows": [one | {"word": POLICY_WORDS[Policy(one["policy"])]} for one in results],
        "mix": job.arguments["values"],
        "charts": _charts(results) if results else [],
    }
    if request.headers.get("HX-Request"):
        return render(request, "fleet/_what_if.html", context, status=STOP_POLLING if job.is_over else 200)
    return render(request, "fleet/what_if.html", context)


def _charts(results: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Lines over time, one per policy: placeable block, fragmentation, queue."""
    shown = (
        ("largest_block", _("Largest placeable block"), _("accelerators"), 1.0),
        ("fragmentation", _("Fragmentation: free accelerators that no whole block can use"), "%", 100.0),
        ("queued_jobs", _("Jobs that wait"), _("jobs"), 1.0),
    )
    return [_chart(key, title, unit, factor, results) for key, title, unit, factor in shown]


def _chart(key: str, title: str, unit: str, factor: float, results: list[dict[str, Any]]) -> dict[str, Any]:
    lines = [
        {
            "type": "scatter",
            "mode": "lines",
            "line": {"shape": "hv"},
            "name": str(POLICY_WORDS[Policy(one["policy"])]),
            "x": [sample["at_s"] / HOUR_S for sample in one["samples"]],
            "y": [sample[key] * factor for sample in one["samples"]],
        }
        for one in results
    ]
    means = [(line["name"], sum(line["y"]) / len(line["y"])) for line in lines if line["y"]]
    best = min(means, key=lambda pair: -pair[1] if key == "largest_block" else pair[1])
    summary = _("%(policy)s is best on average over its moments: %(value).0f %(unit)s.") % {
        "policy": best[0],
        "value": best[1],
        "unit": unit,
    }
    rows = [
        (line["name"], f"{min(line['y']):.0f}", f"{mean:.1f}", f"{max(line['y']):.0f}")
        for line, (_name, mean) in zip(lines, means, strict=True)
    ]
    layout = {"xaxis": {"title": _("hours")}, "yaxis": {"title": unit, "rangemode": "tozero"}}
    return {
        "id": key.replace("_", "-"),
        "title": title,
        "summary": summary,
        "figure": {"data": lines, "layout": layout},
        "columns": [_("Policy"), _("least"), _("mean"), _("most")],
        "rows": rows,
    }


def mixed(request: HttpRequest, slug: str) -> HttpResponse:
    """Work over the generations of a cluster: equal shares against shares by compute."""
    cluster = queries.cluster_for(actor_of(request), slug)
    pool = mixed_pool(cluster)
    form = MixedForm(request.GET or None, models=[one.model for one in pool.models])
    plan = None
    if form.is_bound and form.is_valid():
        try:
            plan = pool.plan(units=form.cleaned_data["units"], measured=form.measured_flops())
        except Invalid as error:
            form_errors.show(form, error)
    context = cluster_context(cluster) | {
        "cluster": cluster,
        "form": form,
        "pool": pool,
        "plan": plan,
        "pairs": list(zip(plan.equal.shares, plan.proportional.shares, strict=True)) if plan else [],
    }
    return render(request, "fleet/mixed.html", context)
