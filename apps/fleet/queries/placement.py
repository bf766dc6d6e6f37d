"""The placement check on the fleet on record: which groups leave their domain, and how that looks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from apps.fleet.engine.parallel import Dimension, ParallelSizes, groups
from apps.fleet.engine.placement import PlacementCheck, check, seats_of
from apps.fleet.models import Accelerator, Cluster, Node
from apps.fleet.queries.description import aliases_of, description_of
from apps.fleet.queries.layers import SERIES, Colours, Shade
from apps.fleet.queries.nodes import with_active_holds
from apps.fleet.queries.topology import DomainPicture, picture_of

MAX_DRAWN = 1152  # ranks


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacementPage:
    """checked: the verdict. pictures: one for each domain that holds ranks; none where they are too many."""

    checked: PlacementCheck
    sizes: ParallelSizes
    dimension: Dimension
    pictures: tuple[DomainPicture, ...]
    group_count: int


def checked_placement(
    cluster: Cluster, ranks: Sequence[str], sizes: ParallelSizes, *, order: str
) -> PlacementCheck:
    """Judge ranks, given by node name or alias. Raises Invalid with every unknown host and wrong size."""
    aliases = aliases_of(cluster)
    seats = seats_of(description_of(cluster), [aliases.get(name, name) for name in ranks])
    return check(seats, sizes, order=order)


def placement_page(
    cluster: Cluster, ranks: Sequence[str], sizes: ParallelSizes, *, order: str, dimension: Dimension
) -> PlacementPage:
    """The check with its pictures, coloured by the groups of one dimension. Raises as `checked_placement`."""
    found = checked_placement(cluster, ranks, sizes, order=order)
    members = groups(sizes, dimension, order=order)
    drawn = _pictures(cluster, found, members, dimension) if len(found.seats) <= MAX_DRAWN else ()
    return PlacementPage(
        checked=found, sizes=sizes, dimension=dimension, pictures=drawn, group_count=len(members)
    )


def ranks_on(nodes: Sequence[Node]) -> tuple[str, ...]:
    """One rank on each accelerator, node by node: where no map is given."""
    return tuple(node.name for node in nodes for _card in node.accelerators.all())


def nodes_in_order(cluster: Cluster, domain_id: int) -> list[Node]:
    """The nodes of a domain in their order, with accelerators and holds."""
    rows = with_active_holds(Node.objects.in_use().filter(cluster=cluster, domain_id=domain_id))
    rows = rows.select_related("domain").prefetch_related("accelerators__sub_domain")
    return list(rows.order_by("index", "name"))


def _pictures(
    cluster: Cluster,
    found: PlacementCheck,
    members: Sequence[Sequence[int]],
    dimension: Dimension,
) -> tuple[DomainPicture, ...]:
    group_of = {rank: number for number, ranks in enumerate(members) for rank in ranks}
    wrong = {one.group for one in found.violations if one.dimension is dimension}
    taken: dict[tuple[str, int], int] = {
        (seat.node, seat.index): group_of[rank] for rank, seat in enumerate(found.seats)
    }
    names = {seat.node for seat in found.seats}
    rows = with_active_holds(Node.objects.filter(cluster=cluster, name__in=names)).select_related("domain")
    by_domain: dict[int | None, list[Node]] = {}
    for node in rows.prefetch_related("accelerators__sub_domain").order_by("domain__name", "index", "name"):
        by_domain.setdefault(node.domain_id, []).append(node)
    return tuple(
        picture_of(cluster, nodes[0].domain, nodes, _colours(nodes, taken, wrong, dimension))
        for nodes in by_domain.values()
    )


def _colours(
    nodes: Sequence[Node],
    taken: Mapping[tuple[str, int], int],
    wrong: set[int],
    dimension: Dimension,
) -> Colours:
    shades = {
        group: Shade(
            value=f"g{group}",
            word=f"{dimension.value.upper()} {group}",
            style=f"series-{group % SERIES + 1}{' is-crossing' if group in wrong else ''}",
            mark=str(group),
        )
        for group in set(taken.values())
    }
    cards: dict[int, Shade] = {}
    for node in nodes:
        own: list[Accelerator] = list(node.accelerators.all())
        for place, card in enumerate(own):
            group = taken.get((node.name, place))
            if group is not None:
                cards[card.pk] = shades[group]
    return Colours(cards=cards)
