"""The link graph of a domain: boxes at their places, and the links between them, for a canvas and for a table."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from apps.core.status import sign_of
from apps.fleet.engine.view import Detail, place
from apps.fleet.engine.view_boxes import Box, Kind
from apps.fleet.engine.view_links import DrawnLink, drawn_links
from apps.fleet.models import Domain
from apps.fleet.queries.fabric import wired_fleet_of
from apps.fleet.queries.topology import NodePart

_FRAMES = (Kind.DOMAIN, Kind.SUBDOMAIN, Kind.NODE)


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkGraph:
    """elements: as Cytoscape takes them. links: the same for a table."""

    elements: list[dict[str, Any]]
    links: tuple[DrawnLink, ...]
    detail: Detail


def link_graph_of(domain: Domain, parts: Iterable[NodePart], *, here: str) -> LinkGraph:
    """The graph of a domain's switches and links; of its layout where the records hold none.

    here: address of the page without a selection; nodes lead to their selection on it. Labels leave out the name of
    the domain, which many names begin with; the table has them whole.
    """
    fleet = wired_fleet_of(domain)
    picture = place(fleet)
    links = drawn_links(fleet, picture)
    by_name = {part.node.name: part for part in parts}
    elements = [
        _element(box, number, by_name, here, f"{domain.name}-") for number, box in enumerate(picture.boxes)
    ]
    named = {box.key: f"b{number}" for number, box in enumerate(picture.boxes)}
    elements += [
        {
            "group": "edges",
            "data": {
                "source": named[link.a],
                "target": named[link.b],
                "weight": round(1 + math.log10(link.count), 1),
            },
        }
        for link in links
    ]
    return LinkGraph(elements=elements, links=links, detail=picture.detail)


def _element(
    box: Box, number: int, parts: dict[str, NodePart], here: str, shared_prefix: str
) -> dict[str, Any]:
    node = parts.get(box.key.partition("/")[0])
    data: dict[str, Any] = {
        "id": f"b{number}",
        "label": box.label.removeprefix(shared_prefix),
        "width": box.width,
        "height": box.height,
    }
    classes = ["frame"] if box.kind in _FRAMES else []
    if node is not None and box.kind in (Kind.NODE, Kind.ACCELERATOR):
        data["url"] = f"{here}&node={node.node.pk}"
        classes.append(f"tone-{sign_of(node.state).tone.value}")
    return {
        "group": "nodes",
        "data": data,
        "position": {"x": box.x + box.width / 2, "y": box.y + box.height / 2},
        "classes": " ".join(classes),
    }
