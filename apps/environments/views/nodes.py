"""What one node runs, on which evidence, and since when."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from apps.catalogue.engine.components import component, components
from apps.core import clock
from apps.core.errors import Missing
from apps.core.filtering import refuse_unknown
from apps.core.pages import actor_of
from apps.core.paging import page_of
from apps.core.speech import listed
from apps.environments import queries
from apps.environments.engine.drift import Reported
from apps.environments.engine.statements import differ
from apps.environments.models import NodeFact
from apps.environments.page import finding_row, read_as
from apps.environments.services import CLOCK_AHEAD_S
from apps.environments.words import AREAS, STANDINGS, label_of
from apps.fleet.models import Node
from apps.fleet.page import cluster_context
from apps.fleet.queries import node_for


def node(request: HttpRequest, pk: int) -> HttpResponse:
    """A node's components now, and the history of one (?component=) or of all of them by change."""
    actor = actor_of(request)
    refuse_unknown(None, request.GET, also=frozenset({"component"}))
    row = node_for(actor, pk)
    chosen = request.GET.get("component", "")
    history = queries.facts_visible(actor).filter(node=row)
    if chosen:
        history = history.filter(component=chosen)
    page = page_of(request, history, size=50)
    policy = queries.policy_of(row.cluster)
    now = clock.now()
    reports = queries.newest_reports(row)
    context = cluster_context(row.cluster) | {
        "cluster": row.cluster,
        "node": row,
        "reports": [
            {
                "row": report,
                "is_stale": (now - report.reported_at).total_seconds() > policy.stale_after_s,
                "skew_s": report.clock_skew_s if (report.clock_skew_s or 0) > CLOCK_AHEAD_S else None,
            }
            for report in reports
        ],
        "components": _now(row.pk),
        "findings": [finding_row(one) for one in queries.open_findings(node_ids=[row.pk])],
        "chosen": chosen,
        "all_url": "?" if chosen else "",
        "chosen_label": label_of(chosen) if chosen else "",
        "page": page,
        "history": [_fact(fact) for fact in page.object_list],
    }
    return render(request, "environments/node.html", context)


def holders(request: HttpRequest, component_id: str) -> HttpResponse:
    """The nodes that run a version of a component (?value=), and since when they say so."""
    actor = actor_of(request)
    if component_id not in components():
        raise Missing()
    refuse_unknown(None, request.GET, also=frozenset({"cluster", "value"}))
    value = request.GET.get("value", "")
    found = queries.nodes_running(actor, component_id, value, cluster=request.GET.get("cluster", ""))
    page = page_of(request, found, size=50)
    facts: dict[int, list[dict[str, Any]]] = defaultdict(list)
    said = NodeFact.objects.filter(component=component_id, value=value, until__isnull=True)
    for fact in said.filter(node__in=page.object_list).order_by("since", "kind"):
        facts[fact.node_id].append(_fact(fact))
    nodes = Node.objects.select_related("cluster", "domain").in_bulk(page.object_list)
    context = {
        "component_id": component_id,
        "label": label_of(component_id),
        "value": value,
        "read_as": read_as(value, component(component_id).scheme),
        "number": len(found),
        "page": page,
        "rows": [{"node": nodes[pk], "facts": facts[pk]} for pk in page.object_list],
    }
    return render(request, "environments/holders.html", context)


def _now(node_id: int) -> list[dict[str, Any]]:
    """What counts of each component, in the order of the catalogue."""
    reported = queries.reported_versions([node_id]).get(node_id, {})
    place = {name: index for index, name in enumerate(components())}
    return [
        {
            "id": name,
            "label": label_of(name),
            "area": AREAS.get(component(name).area, component(name).area),
            "value": " | ".join(held.values),
            "read_as": listed((read_as(text, component(name).scheme) for text in held.values), "; "),
            "declared": " | ".join(held.declared) if _declared_differs(name, held) else "",
            "contradicting": held.contradicting,
            "seen_at": held.seen_at,
        }
        for name, held in sorted(reported.items(), key=lambda item: (place.get(item[0], len(place)), item[0]))
    ]


def _declared_differs(name: str, held: Reported) -> bool:
    return bool(held.loaded and held.declared) and differ(component(name), held.loaded, held.declared)


def _fact(fact: NodeFact) -> dict[str, Any]:
    return {
        "row": fact,
        "label": label_of(fact.component),
        "standing": STANDINGS.get(fact.standing, fact.standing),
    }
