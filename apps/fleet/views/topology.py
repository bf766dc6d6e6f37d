"""The topology page: where is the trouble?"""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from apps.core.filtering import refuse_unknown
from apps.core.pages import actor_of
from apps.core.rights import Right
from apps.core.whole_numbers import whole_number
from apps.fleet import queries
from apps.fleet.models import Cluster, Domain, SubDomain
from apps.fleet.page import cluster_context
from apps.fleet.queries import topology as drawing
from apps.fleet.queries.fabric import fabric_of
from apps.fleet.queries.layers import layer_of, layers
from apps.fleet.queries.link_graph import LinkGraph, link_graph_of
from apps.fleet.queries.topology import DomainPicture, NodePart
from apps.fleet.queries.troubles import troubles_of_node
from apps.fleet.words import fits_said, layout_title

_KNOWN = frozenset({"domain", "colour", "node", "card", "mode", "sub_domain", "show-rack", "show-tiles"})
_GRAPH = "graph"
_NO_DOMAIN = "none"


def topology(request: HttpRequest, slug: str) -> HttpResponse:
    """The domains of a cluster; with ?domain=, or where there is but one, down to its accelerators."""
    actor = actor_of(request)
    cluster = queries.cluster_for(actor, slug)
    refuse_unknown(None, request.GET, also=_KNOWN)
    homes = drawing.homes_of(cluster)
    context = cluster_context(cluster) | {
        "cluster": cluster,
        "homes": homes,
        "may_operate": actor.may(Right.OPERATE, cluster.scope_id),
    }
    asked = request.GET.get("domain", "")
    if asked or len(homes) == 1:
        domain = _domain(cluster, asked, homes)
        return render(request, "fleet/domain.html", context | _domain_context(request, cluster, domain))
    return render(request, "fleet/topology.html", context | {"whole": drawing.aggregate_of(cluster, homes)})


def _domain(cluster: Cluster, asked: str, homes: list[Domain | None]) -> Domain | None:
    """The domain to draw; None stands for the nodes that are in none."""
    if not asked:
        return homes[0]
    if asked == _NO_DOMAIN:
        return None
    return drawing.domain_in(cluster, whole_number(asked) or 0)


def _graph(
    request: HttpRequest, domain: Domain, picture: DomainPicture, part: NodePart | None, here: str
) -> LinkGraph:
    """The links of the domain, of the sub-domain that the address names, or of the node that it selects."""
    if part is not None:
        return link_graph_of(domain, picture, here=here, node=part.node.name)
    asked = whole_number(request.GET.get("sub_domain", ""))
    return link_graph_of(
        domain, picture, here=here, sub_domain=domain.sub_domains.filter(pk=asked).first() if asked else None
    )


def _halls_of(part: NodePart | None) -> list[SubDomain]:
    """The sub-domains that the accelerators of a node lie in."""
    cards = part.node.accelerators.all() if part else ()
    return list(dict.fromkeys(card.sub_domain for card in cards if card.sub_domain))


def _domain_context(request: HttpRequest, cluster: Cluster, domain: Domain | None) -> dict[str, Any]:
    layer = layer_of(request.GET.get("colour", ""))
    nodes = drawing.nodes_to_draw(cluster, domain)
    colours = layer.paint(nodes)
    picture = drawing.picture_of(cluster, domain, nodes, colours)
    part, cell = drawing.selected_in(picture, request.GET)
    home = domain.pk if domain else _NO_DOMAIN
    graph_mode = request.GET.get("mode") == _GRAPH and domain is not None
    here = urlencode({"domain": home, "colour": layer.key} | ({"mode": _GRAPH} if graph_mode else {}))
    graph = _graph(request, domain, picture, part, f"?{here}") if domain and graph_mode else None
    fabric = fabric_of(domain) if domain else None
    return {
        "domain": domain,
        "picture": picture,
        "layer": layer,
        "layers": layers(),
        "colours_of": colours.of,
        "home": home,
        "graph": graph,
        "here": f"?{here}",
        "selected": part,
        "selected_cell": cell,
        "selected_halls": _halls_of(part),
        "troubles": troubles_of_node(part.node) if part else [],
        "fabric": fabric,
        "fits": fits_said(fabric.fits) if fabric else [],
        "layout_title": layout_title(fabric.layout) if fabric and fabric.layout else "",
    }
