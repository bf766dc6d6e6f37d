"""The drift of a domain: who differs, from what, since when, and who looks after it."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.db.models import Count
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.http import urlencode
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from apps.accounts.queries import people_with
from apps.core.errors import Conflict, Invalid
from apps.core.filtering import refuse_unknown
from apps.core.pages import actor_of
from apps.core.paging import page_of
from apps.core.rights import Right
from apps.core.speech import said
from apps.core.whole_numbers import whole_number
from apps.environments import queries, services
from apps.environments.filters import FindingOnPageFilter
from apps.environments.models import DriftCheck
from apps.environments.page import Table, finding_row, heat_map, map_rows, only_link
from apps.environments.words import label_of
from apps.fleet.models import Domain, Node
from apps.fleet.page import cluster_context

_ALSO = frozenset({"only", "job"})
EARLIER_CHECKS = 12
MOST_NODE_LINKS = 20


def drift(request: HttpRequest, pk: int) -> HttpResponse:
    """Who differs, and from what."""
    actor = actor_of(request)
    domain = queries.domain_for(actor, pk)
    refuse_unknown(FindingOnPageFilter, request.GET, also=_ALSO)
    check = queries.newest_check(domain)
    found = FindingOnPageFilter(request.GET, queryset=queries.open_findings(domain=domain))
    page = page_of(request, found.qs.order_by("verdict", "component", "node__name", "pk"), size=50)
    only_differences = request.GET.get("only") == "differences"
    may_write = actor.may(Right.OPERATE, domain.cluster.scope_id)
    table = _heat_map(check, only_differences=only_differences)
    context = cluster_context(domain.cluster) | {
        "cluster": domain.cluster,
        "domain": domain,
        "check": check,
        "table": table,
        "map_rows": map_rows(table, _node_ids(domain)) if table else (),
        "only_differences": only_differences,
        **only_link(only_differences=only_differences),
        "filtered": any(request.GET.get(name) for name in FindingOnPageFilter.get_filters()),
        "odd_ones": _labelled(check.odd_ones if check else ()),
        "shortest_boards": _labelled(check.shortest_boards if check else ()),
        "standing": queries.domain_standings([domain])[0],
        "policy": queries.policy_of(domain.cluster),
        "filter": found,
        "page": page,
        "findings": [finding_row(row) for row in page.object_list],
        "change_links": _change_links(domain),
        "node_links": _node_links(domain),
        "earlier": queries.checks_visible(actor).filter(domain=domain).defer("groups")[:EARLIER_CHECKS],
        "people": people_with(Right.READ, scope_id=domain.cluster.scope_id) if may_write else (),
        "may_write": may_write,
        "job_id": whole_number(request.GET.get("job", "")),
    }
    return render(request, "environments/drift.html", context)


@require_POST
def check_now(request: HttpRequest, pk: int) -> HttpResponse:
    """Ask for a check, and show how far it is."""
    job = services.request_check(actor=actor_of(request), domain_id=pk)
    response = redirect("environments:drift", pk)
    response["Location"] += f"?job={job.pk}"
    return response


@require_POST
def assign(request: HttpRequest, pk: int) -> HttpResponse:
    """Give a finding to somebody."""
    owner_id = whole_number(request.POST.get("owner", ""))
    try:
        finding = services.assign_finding(actor=actor_of(request), finding_id=pk, owner_id=owner_id)
    except (Invalid, Conflict) as error:
        messages.error(request, said(error.message))
        finding = queries.finding_for(actor_of(request), pk)
    else:
        messages.success(
            request, _("The finding is given to %(name)s.") % {"name": finding.owner or _("nobody")}
        )
    return redirect("environments:drift", finding.domain_id)


def _node_ids(domain: Domain) -> dict[str, int]:
    return dict(Node.objects.in_use().under(domain).values_list("name", "pk"))


def _heat_map(check: DriftCheck | None, *, only_differences: bool) -> Table | None:
    if check is None or not check.components:
        return None
    entries = queries.laid_together(check.matrix_version, check.wide_version)
    return heat_map(check, entries, only_differences=only_differences)


def _labelled(rows: Any) -> list[dict[str, Any]]:
    return [
        {
            **row,
            "label": label_of(row["component"]),
            "found_text": " | ".join(row.get("found", ())),
            "majority_text": " | ".join(row.get("majority", ())),
            "first": row["nodes"][:5],
            "more": max(0, len(row["nodes"]) - 5),
        }
        for row in rows
    ]


def _change_links(domain: Domain) -> list[dict[str, Any]]:
    """For each component that drifts: how many nodes, and the query that fills in a change for them."""
    rows = queries.open_findings(domain=domain).filter(kind="drift", verdict="fail").order_by()
    return [
        {
            "label": label_of(row["component"]),
            "count": row["count"],
            "query": urlencode({"domain": domain.pk, "component": row["component"]}),
        }
        for row in rows.values("component").annotate(count=Count("node", distinct=True)).order_by("component")
    ]


def _node_links(domain: Domain) -> list[dict[str, Any]]:
    """For each node that drifts in several components: their number, and the query that fills in one change."""
    rows = queries.open_findings(domain=domain).filter(kind="drift", verdict="fail").exclude(intended="")
    counted = rows.order_by().values("node__name").annotate(count=Count("component", distinct=True))
    return [
        {
            "node": row["node__name"],
            "count": row["count"],
            "query": urlencode({"domain": domain.pk, "node": row["node__name"]}),
        }
        for row in counted.filter(count__gt=1).order_by("-count", "node__index", "node__name")[
            :MOST_NODE_LINKS
        ]
    ]
