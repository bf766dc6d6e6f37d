"""What the topology page draws: a cluster in aggregate, and one domain down to its accelerators."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, replace
from typing import Any

from django.db.models import Count, Exists, OuterRef
from django.utils.translation import gettext as _

from apps.core.errors import Missing
from apps.core.whole_numbers import whole_number
from apps.fleet.engine.node_state import NodeState, derive
from apps.fleet.models import Accelerator, Cluster, Domain, Hold, Node
from apps.fleet.queries.clusters import domains_of
from apps.fleet.queries.holds import state_of
from apps.fleet.queries.layers import Colours, Shade
from apps.fleet.queries.nodes import with_active_holds

MAX_ACCELERATORS = 1152  # that are drawn one by one
MAX_NODES = 2500

_TROUBLE_FIRST = (
    NodeState.QUARANTINED,
    NodeState.FAULTY,
    NodeState.SUB_HEALTHY,
    NodeState.MAINTENANCE,
    NodeState.IN_CHANGE,
    NodeState.TRAINING,
    NodeState.SPARE,
    NodeState.IN_SERVICE,
)
_DERIVED = (
    "domain_id",
    "life_cycle",
    "health",
)  # of a node, what its state is derived from, beside its holds
_NEUTRAL = Shade(value="none", word="", style="tone-neutral")


@dataclass(frozen=True, slots=True, kw_only=True)
class Tile:
    """One domain in aggregate; domain None: the nodes that are in none. states: worst first, with counts."""

    domain: Domain | None
    nodes: int
    accelerators: int
    states: tuple[tuple[NodeState, int], ...]

    @property
    def worst(self) -> NodeState | None:
        return self.states[0][0] if self.states else None

    @property
    def values(self) -> str:
        """What the legend finds it by."""
        return " ".join(state.value for state, _number in self.states)


@dataclass(frozen=True, slots=True, kw_only=True)
class Aggregate:
    """A cluster as its domains. states: of all of its nodes, worst first. rows: how many of each a domain has."""

    tiles: tuple[Tile, ...]

    @property
    def nodes(self) -> int:
        return sum(tile.nodes for tile in self.tiles)

    @property
    def accelerators(self) -> int:
        return sum(tile.accelerators for tile in self.tiles)

    @property
    def states(self) -> list[tuple[NodeState, int]]:
        return [
            (state, sum(dict(tile.states).get(state, 0) for tile in self.tiles)) for state in self._present()
        ]

    @property
    def rows(self) -> list[tuple[Tile, list[int]]]:
        present = self._present()
        return [(tile, [dict(tile.states).get(state, 0) for state in present]) for tile in self.tiles]

    def _present(self) -> list[NodeState]:
        seen = {state for tile in self.tiles for state, _number in tile.states}
        return [state for state in _TROUBLE_FIRST if state in seen]


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One accelerator as drawn."""

    card: Accelerator
    shade: Shade

    @property
    def text(self) -> str:
        """What the cell prints: the mark of its shade, else its slot."""
        return self.shade.mark or str(self.card.index)


@dataclass(frozen=True, slots=True, kw_only=True)
class NodePart:
    """A node, or the part of it that lies in one sub-domain (part: from 1; 0 where it is whole).

    shades: those that it or its cards wear, once each. cells: empty where there are too many to draw.
    """

    node: Node
    state: NodeState
    shade: Shade
    shades: tuple[Shade, ...]
    cells: tuple[Cell, ...]
    cards: int
    halls: tuple[str, ...]
    part: int = 0

    @property
    def values(self) -> str:
        """What the legend finds it by."""
        return " ".join(shade.value for shade in self.shades)


@dataclass(frozen=True, slots=True, kw_only=True)
class Hall:
    """A sub-domain, or the whole domain where it has none (name "")."""

    name: str
    parts: tuple[NodePart, ...]

    @property
    def accelerators(self) -> int:
        return sum(part.cards for part in self.parts)


@dataclass(frozen=True, slots=True, kw_only=True)
class DomainPicture:
    """halls: what is drawn. nodes: each node once, for the table. legend: shades with how many wear them."""

    domain: Domain | None
    halls: tuple[Hall, ...]
    nodes: tuple[NodePart, ...]
    legend: tuple[tuple[Shade, int], ...]
    accelerators: int
    total_nodes: int


def domain_in(cluster: Cluster, domain_id: int) -> Domain:
    """A domain of the cluster. Raises Missing."""
    domain = domains_of(cluster).filter(pk=domain_id).first()
    if domain is None:
        raise Missing(_("there is no such domain in this cluster, or it is retired"))
    return domain


def homes_of(cluster: Cluster) -> list[Domain | None]:
    """The domains of a cluster, and None where it has nodes that are in none."""
    stray = Node.objects.in_use().filter(cluster=cluster, domain=None).exists()
    return [*domains_of(cluster), *([None] if stray else [])]


def aggregate_of(cluster: Cluster, homes: list[Domain | None]) -> Aggregate:
    """A cluster in aggregate, home by home; as many queries however large it is, and counting is the database's."""
    rows = Node.objects.in_use().filter(cluster=cluster).order_by()
    active = Hold.objects.filter(node__in=rows, released_at__isnull=True)
    kinds: dict[tuple[Any, ...], set[str]] = defaultdict(set)
    for *node, kind in active.values_list("node_id", *(f"node__{name}" for name in _DERIVED), "kind"):
        kinds[tuple(node)].add(kind)
    states: dict[int | None, Counter[NodeState]] = defaultdict(Counter)
    for (_pk, home, life_cycle, health), held in kinds.items():
        states[home][derive(life_cycle=life_cycle, health=health, holds=frozenset(held))] += 1
    free = rows.exclude(Exists(active.filter(node=OuterRef("pk")))).values_list(*_DERIVED)
    for home, life_cycle, health, number in free.annotate(number=Count("pk")):
        states[home][derive(life_cycle=life_cycle, health=health, holds=frozenset())] += number
    counted = Accelerator.objects.filter(node__in=rows).order_by().values_list("node__domain_id")
    cards = dict(counted.annotate(number=Count("pk")))
    keys = [home.pk if home else None for home in homes]
    tiles = (_tile(home, states[key], cards.get(key, 0)) for home, key in zip(homes, keys, strict=True))
    return Aggregate(tiles=tuple(tiles))


def _tile(domain: Domain | None, states: Counter[NodeState], cards: int) -> Tile:
    return Tile(
        domain=domain,
        nodes=states.total(),
        accelerators=cards,
        states=tuple((state, states[state]) for state in _TROUBLE_FIRST if states[state]),
    )


def nodes_to_draw(cluster: Cluster, domain: Domain | None) -> list[Node]:
    """The nodes of a domain (None: those in none) with accelerators and holds, as many as a page can hold."""
    rows = Node.objects.in_use().filter(cluster=cluster, domain=domain)
    rows = with_active_holds(rows).select_related("domain")
    return list(rows.prefetch_related("accelerators__sub_domain").order_by("index", "name")[:MAX_NODES])


def picture_of(cluster: Cluster, domain: Domain | None, nodes: list[Node], colours: Colours) -> DomainPicture:
    """The picture of one domain in one layer's colours."""
    total_cards = sum(len(node.accelerators.all()) for node in nodes)
    shows_cards = total_cards <= MAX_ACCELERATORS
    halls: dict[str, list[NodePart]] = {}
    whole: list[NodePart] = []
    legend: Counter[Shade] = Counter()
    for node in nodes:
        cards = list(node.accelerators.all())
        one = _part(node, cards, colours, part=0, with_cells=shows_cards)
        whole.append(one)
        legend.update({replace(shade, note="") for shade in one.shades})  # a reason is not a shade of its own
        by_hall: dict[str, list[Accelerator]] = {}
        for card in cards:
            by_hall.setdefault(card.sub_domain.name if card.sub_domain else "", []).append(card)
        if len(by_hall) < 2:
            halls.setdefault(next(iter(by_hall), ""), []).append(one)
            continue
        for number, (hall, some) in enumerate(by_hall.items(), start=1):
            halls.setdefault(hall, []).append(_part(node, some, colours, part=number, with_cells=shows_cards))
    return DomainPicture(
        domain=domain,
        halls=tuple(Hall(name=name, parts=tuple(parts)) for name, parts in halls.items()),
        nodes=tuple(whole),
        legend=tuple(sorted(legend.items(), key=lambda item: item[0].value)),
        accelerators=total_cards,
        total_nodes=Node.objects.in_use().filter(cluster=cluster, domain=domain).count(),
    )


def _part(node: Node, cards: list[Accelerator], colours: Colours, *, part: int, with_cells: bool) -> NodePart:
    own = colours.nodes.get(node.pk, _NEUTRAL)
    shades = [colours.cards.get(card.pk, own) for card in cards]
    cells = [Cell(card=card, shade=shade) for card, shade in zip(cards, shades, strict=True)]
    return NodePart(
        node=node,
        state=state_of(node),
        shade=own,
        shades=tuple(dict.fromkeys(shades)) or (own,),
        cells=tuple(cells) if with_cells else (),
        cards=len(cards),
        halls=tuple(dict.fromkeys(card.sub_domain.name for card in cards if card.sub_domain)),
        part=part,
    )


def selected_in(picture: DomainPicture, given: Any) -> tuple[NodePart | None, Cell | None]:
    """The node (?node=) or accelerator (?card=) that the address selects; None for what is not drawn."""
    node_id, card_id = whole_number(given.get("node", "")), whole_number(given.get("card", ""))
    for part in picture.nodes:
        found = next((cell for cell in part.cells if cell.card.pk == card_id), None)
        if found is not None:
            return part, found
        if part.node.pk == node_id:
            return part, None
    return None, None
