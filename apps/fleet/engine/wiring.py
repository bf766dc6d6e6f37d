"""Between names and vertices: the switches and links of a layout by name, and the graph of a real fleet."""

from __future__ import annotations

from collections.abc import Iterator

from apps.core.errors import FieldError, Invalid
from apps.core.texts import say
from apps.fleet.engine.description import FleetDescription, Link, Part, Switch, described
from apps.fleet.engine.graph import Edges, Graph, Medium, edges, free_graph
from apps.fleet.engine.layouts import Layout, describe, graph_of


def wired(layout: Layout, *, domain: str, model: str = "", first_node: int = 1) -> FleetDescription:
    """A domain by name with its switches and links; a link's kind is its medium.

    Switches are named <domain>-t<tier>-<number>. They are no tree, since every accelerator hangs on several
    of them: what is beneath what is in the links alone.
    """
    fleet = describe(layout, domain=domain, model=model, first_node=first_node)
    return joined_as(layout, fleet, domain=domain)


def joined_as(layout: Layout, fleet: FleetDescription, *, domain: str) -> FleetDescription:
    """The nodes of a fleet, in its order, with the switches and links by which a layout joins so many."""
    graph = graph_of(layout)
    names = _names(layout, fleet, graph, domain)
    links = [
        Link(
            a=names[int(head)],
            b=names[int(tail)],
            kind=layer.medium.value,
            count=layer.links,
            bandwidth_bytes_per_s=layer.link_bytes_per_s,
        )
        for layer in graph.layers
        for tail, head in zip(layer.tail, layer.head, strict=True)
    ]
    switches = [
        Switch(name=names[vertex], tier=int(graph.level[vertex]))
        for vertex in range(graph.endpoints, graph.vertices)
    ]
    return described(
        says=fleet.says | {Part.SWITCHES, Part.LINKS},
        domains=fleet.domains,
        nodes=fleet.nodes,
        switches=switches,
        links=links,
    )


def graph_of_fleet(fleet: FleetDescription) -> Graph:
    """The fabric that the links of a fleet make between its accelerators.

    Links to nodes are another network and left out. Raises Invalid where a link has no
    bandwidth, and where no link joins anything.
    """
    tiers = {switch.name: switch.tier for switch in fleet.switches}
    links = [one for one in fleet.links if _belongs(one.a, tiers) and _belongs(one.b, tiers)]
    errors = [
        FieldError(
            pointer=f"/links/{one.a} to {one.b}",
            message=say("its bandwidth is not known"),
            code="no_bandwidth",
        )
        for one in links
        if not one.bandwidth_bytes_per_s
    ]
    named = dict.fromkeys(end for one in links for end in (one.a, one.b))
    endpoints = [end for end in named if end not in tiers]
    if not endpoints:
        errors.append(FieldError(pointer="/links", message=say("no link ends at accelerators"), code="empty"))
    if errors:
        raise Invalid(say("the links do not make a fabric"), code="fabric", errors=errors)
    used = sorted((end for end in named if end in tiers), key=lambda name: (tiers[name], name))
    number = {name: place for place, name in enumerate([*endpoints, *used])}
    return free_graph(
        endpoints=len(endpoints),
        level=[0] * len(endpoints) + [tiers[name] for name in used],
        layers=list(_layers(links, number)),
    )


def _names(layout: Layout, fleet: FleetDescription, graph: Graph, domain: str) -> list[str]:
    """The name of every vertex."""
    names = [f"{node.name}/{index}" for node in fleet.nodes for index in range(layout.accelerators_per_node)]
    counts: dict[int, int] = {}
    for level in graph.level[graph.endpoints :].tolist():
        counts[level] = counts.get(level, 0) + 1
        names.append(f"{domain}-t{level}-{counts[level]}")
    return names


def _belongs(end: str, tiers: dict[str, int]) -> bool:
    return end in tiers or "/" in end


def _layers(links: list[Link], number: dict[str, int]) -> Iterator[Edges]:
    """Links of the same count, bandwidth and medium share a layer."""
    groups: dict[tuple[int, int, str], list[tuple[int, int]]] = {}
    for one in links:
        key = (one.count, one.bandwidth_bytes_per_s or 0, one.kind)
        groups.setdefault(key, []).append((number[one.a], number[one.b]))
    media = {medium.value: medium for medium in Medium}
    for (count, bandwidth, kind), pairs in groups.items():
        medium = media.get(kind, Medium.COPPER)
        yield edges(pairs, links=count, link_bytes_per_s=bandwidth, medium=medium)
