"""The fleet on record as the engine's plain value, for drawings, scheduler files, placement and what-ifs."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterable
from typing import Any

from apps.fleet.engine import description as plain
from apps.fleet.engine.description import FleetDescription, Part, Span, described
from apps.fleet.engine.graph import Medium
from apps.fleet.models import Accelerator, Cluster, Domain, Link, Node, NodeAlias, SubDomain, Switch

_SAYS = {Part.NODES, Part.DOMAINS, Part.SUBDOMAINS, Part.CARDS, Part.MODELS}


def description_of(
    cluster: Cluster, *, domain: Domain | None = None, fabric: bool = False
) -> FleetDescription:
    """A cluster, or one domain of it, without what is retired.

    fabric: with the switches and links of the scale-up fabric, whose switches are no tree of nodes. Without it
    the switches are those of the scale-out network only, as schedulers know them, and links are left out.
    """
    nodes = Node.objects.in_use().filter(cluster=cluster)
    if domain is not None:
        nodes = nodes.filter(domain=domain)
    rows = list(nodes.values("pk", "name", "domain__name"))
    names = {row["pk"]: row["name"] for row in rows}
    cards = Accelerator.objects.filter(node__in=nodes).order_by("node_id", "index")
    cells = list(cards.values_list("pk", "node_id", "index", "model", "sub_domain__name"))
    described_nodes = _nodes(rows, cells)
    domains = _domains(cluster, domain)
    if fabric:
        ends = {pk: f"{names[node]}/{index}" for pk, node, index, _model, _hall in cells}
        switches, links = _fabric(cluster, domain, names, ends)
        return described(
            says=_SAYS | {Part.SWITCHES, Part.LINKS},
            domains=domains,
            nodes=described_nodes,
            switches=switches,
            links=links,
        )
    switches = _tree(cluster, names, with_empty=domain is None)
    says = _SAYS | ({Part.SWITCHES} if switches else set())
    return described(says=says, domains=domains, nodes=described_nodes, switches=switches)


def aliases_of(cluster: Cluster) -> dict[str, str]:
    """Other names of nodes → their names."""
    return dict(NodeAlias.objects.filter(cluster=cluster).values_list("name", "node__name"))


def _nodes(rows: list[dict[str, Any]], cells: list[tuple[Any, ...]]) -> list[plain.Node]:
    by_node: dict[int, list[tuple[Any, ...]]] = defaultdict(list)
    for cell in cells:
        by_node[cell[1]].append(cell)
    return [
        plain.Node(
            name=row["name"],
            domain=row["domain__name"] or "",
            spans=tuple(_spans(by_node[row["pk"]])),
            cards=len(by_node[row["pk"]]),
            slots=_slots([cell[2] for cell in by_node[row["pk"]]]),
            **_models([cell[3] for cell in by_node[row["pk"]]]),
        )
        for row in rows
    ]


def _spans(cells: list[tuple[Any, ...]]) -> Iterable[Span]:
    before = 0
    for hall, run in itertools.groupby(cells, key=lambda cell: cell[4]):
        cards = len(list(run))
        if hall:
            yield Span(sub_domain=hall, cards=cards, before=before)
        before = 0 if hall else cards


def _slots(indices: list[int]) -> tuple[int, ...]:
    """The slots of a node's accelerators; none where they are the first."""
    return () if indices == list(range(len(indices))) else tuple(indices)


def _models(of_cards: list[str]) -> dict[str, Any]:
    """The model of a node's accelerators; of each one, where they differ."""
    if len(set(of_cards)) > 1:
        return {"models": tuple(of_cards)}
    return {"model": of_cards[0] if of_cards else ""}


def _domains(cluster: Cluster, domain: Domain | None) -> list[plain.Domain]:
    rows = Domain.objects.filter(cluster=cluster, retired_at__isnull=True)
    if domain is not None:
        rows = rows.filter(pk=domain.pk)
    halls: dict[int, list[str]] = defaultdict(list)
    for home, name in SubDomain.objects.filter(domain__in=rows).values_list("domain_id", "name"):
        halls[home].append(name)
    return [
        plain.Domain(name=name, sub_domains=tuple(halls[pk])) for pk, name in rows.values_list("pk", "name")
    ]


def _fabric(
    cluster: Cluster, domain: Domain | None, names: dict[int, str], ends: dict[int, str]
) -> tuple[list[plain.Switch], list[plain.Link]]:
    rows = Switch.objects.filter(cluster=cluster)
    if domain is not None:
        rows = rows.filter(domain=domain)
    switches = {pk: (name, tier) for pk, name, tier in rows.values_list("pk", "name", "tier")}
    links = []
    wanted = Link.objects.filter(upper__in=rows)
    for upper, card, node, lower, count, speed, optical in wanted.values_list(
        "upper_id",
        "accelerator_id",
        "node_id",
        "lower_id",
        "count",
        "unidirectional_bytes_per_s",
        "optical",
    ):
        end = ends.get(card) or names.get(node) or (switches[lower][0] if lower in switches else "")
        if end:
            links.append(
                plain.Link(
                    a=switches[upper][0],
                    b=end,
                    kind=(Medium.OPTICAL if optical else Medium.COPPER).value,
                    count=count,
                    bandwidth_bytes_per_s=round(speed) if speed else None,
                )
            )
    return [plain.Switch(name=name, tier=tier) for name, tier in switches.values()], links


def _tree(cluster: Cluster, names: dict[int, str], *, with_empty: bool) -> list[plain.Switch]:
    """Switches that have nodes beneath them, directly or through other switches.

    with_empty: and those of no domain that have neither nodes nor accelerators beneath them.
    """
    switches = {one.pk: one for one in Switch.objects.filter(cluster=cluster)}
    nodes: dict[int, list[str]] = defaultdict(list)
    below: dict[int, list[int]] = defaultdict(list)
    above_cards = set()
    ends = Link.objects.filter(upper__cluster=cluster)
    for upper, node, lower in ends.values_list("upper_id", "node_id", "lower_id"):
        if node in names:
            nodes[upper].append(names[node])
        elif lower is not None:
            below[upper].append(lower)
        elif node is None:
            above_cards.add(upper)
    kept = _and_those_above(set(nodes), below)
    if with_empty:
        empty = {pk for pk, one in switches.items() if one.domain_id is None}
        kept |= empty - _and_those_above(above_cards, below)
    return [
        plain.Switch(
            name=switches[pk].name,
            tier=switches[pk].tier,
            switches=tuple(switches[lower].name for lower in below[pk] if lower in kept),
            nodes=tuple(nodes[pk]),
        )
        for pk in kept
    ]


def _and_those_above(found: set[int], below: dict[int, list[int]]) -> set[int]:
    """Switches and those that have one of them beneath, however deep."""
    while more := {upper for upper, lowers in below.items() if upper not in found and found & set(lowers)}:
        found = found | more
    return found
