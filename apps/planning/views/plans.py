"""Pages of plans: what fits, how fast, and what does adding cards buy?"""

from __future__ import annotations

import csv
import json
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from apps.core import form_errors
from apps.core.actor import Actor
from apps.core.errors import Conflict, Invalid, Missing, NotAllowed
from apps.core.filtering import refuse_unknown
from apps.core.pages import STOP_POLLING, actor_of
from apps.core.paging import arrange
from apps.core.rights import Right
from apps.core.speech import said
from apps.core.texts import say
from apps.core.whole_numbers import whole_number
from apps.fleet.page import cluster_context
from apps.planning import queries, services
from apps.planning.comparing import MOST, memory_bars, parameter_rows, result_rows
from apps.planning.documents import in_order
from apps.planning.filters import PlanFilter
from apps.planning.form_values import at_fields, first_values, values_of
from apps.planning.forms import PlanForm
from apps.planning.models import Plan, PlanVersion
from apps.planning.page import ledger_csv, version_context
from apps.planning.queries.validation import validation as validated
from apps.planning.tables import FoundTable, PlanTable, standing_of
from apps.planning.trust import validation_context

LAYOUTS_OF_A_PAGE = 100
MOST_CHOICES = 200  # versions that the lists of the comparison offer


def plans(request: HttpRequest) -> HttpResponse:
    """All plans, newest first, with what came out of their newest version."""
    actor = actor_of(request)
    refuse_unknown(PlanFilter, request.GET)
    found = PlanFilter(request.GET, queryset=queries.plans_visible(actor))
    table = PlanTable(queries.plans_with_newest(found.qs))
    arrange(request, table)
    context = {
        "table": table,
        "filter": found,
        "filtered": any(request.GET.get(name) for name in PlanFilter.get_filters() if name != "cluster"),
        "may_plan": actor.may_anywhere(Right.OPERATE),
    }
    return render(request, "planning/plans.html", context)


def new(request: HttpRequest) -> HttpResponse:
    """The wizard."""
    actor = actor_of(request)
    form = PlanForm(request.POST or None, request.FILES, actor=actor, initial=_first(request, actor))
    if request.method == "POST" and form.is_valid():
        try:
            domain = form.cleaned_data["domain"]
            version = services.create_plan(
                actor=actor,
                scope_id=form.scope_id(),
                name=form.cleaned_data["name"],
                document=form.document(),
                domain_id=domain.pk if domain else None,
            )
        except Invalid as error:
            form_errors.show(form, at_fields(error))
        except Conflict as error:
            form.add_error("name", said(error.message))
        else:
            return redirect("planning:version", version.plan_id, version.number)
    return render(request, "planning/new.html", {"form": form})


def plan(request: HttpRequest, plan_id: int) -> HttpResponse:
    """One plan through all its versions."""
    actor = actor_of(request)
    row = queries.plan_for(actor, plan_id)
    versions = list(row.versions.select_related("job", "created_by"))
    context = {
        "plan": row,
        "versions": [{"version": version, "standing": standing_of(version)} for version in versions],
        "may_operate": actor.may(Right.OPERATE, row.scope_id),
    }
    return render(request, "planning/plan.html", context | _cluster(row))


def revise(request: HttpRequest, plan_id: int) -> HttpResponse:
    """The wizard, filled with the newest version (or ?from=NUMBER); what comes out is the next version."""
    actor = actor_of(request)
    row = queries.plan_for(actor, plan_id, Right.OPERATE)
    base = _base_version(request, row)
    initial = values_of(base.input, domain_id=row.domain_id) if base else first_values()
    before = base.input if base else None
    form = PlanForm(
        request.POST or None, request.FILES, actor=actor, revises=True, base=before, initial=initial
    )
    if request.method == "POST" and form.is_valid():
        try:
            version = services.revise_plan(actor=actor, plan_id=plan_id, document=form.document())
        except Invalid as error:
            form_errors.show(form, at_fields(error))
        else:
            return redirect("planning:version", plan_id, version.number)
    context = {"form": form, "plan": row, "base": base}
    return render(request, "planning/new.html", context | _cluster(row))


def version(request: HttpRequest, plan_id: int, number: int) -> HttpResponse:
    """One version: does it fit, how fast is it, and on what does that rest?"""
    actor = actor_of(request)
    row = queries.version_for(actor, plan_id, number)
    context = version_context(actor, row, request.GET) | _cluster(row.plan)
    if context["is_search"] and row.result:
        table = _found_table(request, row, context)
        context |= {"found_table": table, "same_rows": table.same_rows()}
    if request.headers.get("HX-Request"):
        status = STOP_POLLING if row.done_at or row.job is None or row.job.is_over else 200
        return render(request, "planning/_progress.html", context, status=status)
    return render(request, "planning/version.html", context)


def export(request: HttpRequest, plan_id: int, number: int, form: str) -> HttpResponse:
    """A version as a file: json with input and result, or csv with the ledger or the layouts found.

    A csv of layouts holds those that the filters of the address let through, as the page does.
    """
    row = queries.version_for(actor_of(request), plan_id, number)
    name = f"plan-{plan_id}-v{number}.{form}"
    if form == "json":
        body = json.dumps({"input": in_order(row.input), "result": row.result}, indent=2)
        response = HttpResponse(body, content_type="application/json")
    else:
        if row.result is None:
            raise Missing(say("the version is not computed yet"))
        rows = ledger_csv(row.result, request.GET)
        response = HttpResponse(content_type="text/csv; charset=utf-8")
        csv.writer(response).writerows(rows)
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


@require_POST
def use(request: HttpRequest, plan_id: int, number: int) -> HttpResponse:
    """Launches may choose this version from now on."""
    services.use_for_launch(actor=actor_of(request), plan_id=plan_id, number=number)
    messages.success(request, _("Launches can use this version now."))
    return redirect("planning:version", plan_id, number)


@require_POST
def take(request: HttpRequest, plan_id: int, number: int) -> HttpResponse:
    """A layout that a search found becomes the next version."""
    place = whole_number(request.POST.get("place", ""))
    if place is None:
        raise Invalid(say("say which layout"), code="place")
    made = services.take_found(actor=actor_of(request), plan_id=plan_id, number=number, place=place)
    return redirect("planning:version", plan_id, made.number)


@require_POST
def take_ablation(request: HttpRequest, plan_id: int, number: int) -> HttpResponse:
    """A layout to run for comparison becomes the next version."""
    place = whole_number(request.POST.get("place", ""))
    if place is None:
        raise Invalid(say("say which layout"), code="place")
    made = services.take_ablation(actor=actor_of(request), plan_id=plan_id, number=number, place=place)
    return redirect("planning:version", plan_id, made.number)


@require_POST
def again(request: HttpRequest, plan_id: int, number: int) -> HttpResponse:
    """Compute a version whose job failed."""
    services.compute_again(actor=actor_of(request), plan_id=plan_id, number=number)
    return redirect("planning:version", plan_id, number)


def compare(request: HttpRequest) -> HttpResponse:
    """Up to four versions side by side: ?v=PLAN.NUMBER, repeated."""
    actor = actor_of(request)
    chosen = queries.versions_of(actor, _pairs(request.GET.getlist("v")))
    context: dict[str, Any] = {
        "versions": [{"version": one, "standing": standing_of(one)} for one in chosen],
        "only_differences": request.GET.get("all") != "1",
        "choices": queries.versions_visible(actor)[:MOST_CHOICES],
        "places": [one.pk for one in chosen] + [None] * (MOST - len(chosen)),
        "most": MOST,
    }
    if chosen:
        context |= {
            "parameters": parameter_rows(chosen),
            "results": result_rows(chosen),
            "bars": memory_bars(chosen),
        }
    return render(request, "planning/compare.html", context)


def validation(request: HttpRequest) -> HttpResponse:
    """Predictions beside published measurements."""
    if not actor_of(request).may_anywhere(Right.READ):
        raise NotAllowed(code="role", right=Right.READ.value)
    return render(request, "planning/validation.html", validation_context(validated()))


def _pairs(raw: list[str]) -> list[tuple[int, int]]:
    wanted = list(dict.fromkeys(filter(None, raw)))
    if len(wanted) > MOST:
        raise Invalid(say("up to %(most)s versions can be compared", most=MOST), code="too_many")
    pairs = []
    for text in wanted:
        plan_id, number = (whole_number(part) for part in text.partition(".")[::2])
        if plan_id is None or number is None:
            raise Invalid(say("v=%(text)s: say plan and version, such as 12.3", text=text[:20]), code="v")
        pairs.append((plan_id, number))
    return pairs


def _first(request: HttpRequest, actor: Actor) -> dict[str, Any]:
    """The first values, for the domain that ?domain= names; else for the only one there is to plan for."""
    domain = whole_number(request.GET.get("domain", ""))
    if domain is None:
        domain = queries.usual_domain(actor, cluster=request.GET.get("cluster", ""))
    return first_values() | ({"domain": domain} if domain is not None else {})


def _base_version(request: HttpRequest, row: Plan) -> PlanVersion | None:
    number = whole_number(request.GET.get("from", ""))
    return row.versions.first() if number is None else row.versions.filter(number=number).first()


def _found_table(request: HttpRequest, row: PlanVersion, context: dict[str, Any]) -> FoundTable:
    take_url = reverse("planning:take", args=[row.plan_id, row.number]) if context["may_operate"] else ""
    table = FoundTable(context["found_rows"], take_url=take_url, priced=context["is_priced"])
    arrange(request, table, size=LAYOUTS_OF_A_PAGE)
    return table


def _cluster(row: Plan) -> dict[str, Any]:
    if row.domain is None:
        return {}
    return cluster_context(row.domain.cluster) | {"cluster": row.domain.cluster}
