"""The placement check: which parallel groups leave their domain or sub-domain, and which order is better.

TP and EP must stay inside one domain; TP inside one sub-domain where one is large enough, and so for EP.
CP, DP and PP may cross; their crossings are counted, not blamed.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from apps.core.errors import FieldError, Invalid
from apps.core.texts import say
from apps.core.verdicts import Verdict, combine
from apps.fleet.engine.description import FleetDescription, rooms_of
from apps.fleet.engine.parallel import DEFAULT_ORDER, Dimension, ParallelSizes, groups, size_errors

BOUND_TO_DOMAIN = (Dimension.TP, Dimension.EP)


@dataclass(frozen=True, slots=True, kw_only=True)
class Seat:
    """One accelerator. index: its number within the node. sub_domain: "" where the domain has none."""

    node: str
    index: int
    domain: str
    sub_domain: str = ""


class Boundary(StrEnum):
    DOMAIN = "domain"
    SUBDOMAIN = "sub_domain"


@dataclass(frozen=True, slots=True, kw_only=True)
class Violation:
    """One group that leaves what it should stay in. group: 0-based number in order of first ranks.

    where: the domains or sub-domains that it lies in, in order of rank. verdict: fail where it leaves the
    domain, warn where it leaves the sub-domain.
    """

    dimension: Dimension
    group: int
    boundary: Boundary
    verdict: Verdict
    ranks: tuple[int, ...]
    where: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Crossings:
    """Groups of one dimension in all, and how many of them cross domains and sub-domains."""

    dimension: Dimension
    groups: int
    cross_domains: int
    cross_sub_domains: int


@dataclass(frozen=True, slots=True, kw_only=True)
class BetterOrder:
    """The same cards in another order, or the same cards under another order of dimensions.

    seats: by rank. order: of the dimensions. violations: (leaving a domain, leaving a sub-domain) under it.
    """

    order: str
    seats: tuple[Seat, ...]
    violations: tuple[int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacementCheck:
    order: str
    seats: tuple[Seat, ...]
    violations: tuple[Violation, ...]
    crossings: tuple[Crossings, ...]
    better: BetterOrder | None

    @property
    def verdict(self) -> Verdict:
        return combine([Verdict.PASS, *(one.verdict for one in self.violations)])


def seats_of(fleet: FleetDescription, nodes_by_rank: Sequence[str]) -> tuple[Seat, ...]:
    """Where each rank sits: the n-th rank on a node takes its n-th accelerator.

    Raises Invalid with every unknown host, every node without a domain, and every node that is asked for
    more accelerators than it has.
    """
    known = {node.name: node for node in fleet.nodes}
    wanted = Counter(nodes_by_rank)
    first = {name: rank for rank, name in reversed(list(enumerate(nodes_by_rank)))}
    errors = []
    for name, count in wanted.items():
        node = known.get(name)
        rank = first[name]
        if node is None:
            errors.append(
                _wrong(rank, say("%(name)s is not a node of this fleet", name=name), "unknown_host")
            )
        elif not node.domain:
            errors.append(_wrong(rank, say("%(name)s is in no domain", name=name), "no_domain"))
        elif node.cards is not None and count > node.cards:
            message = say(
                "accelerators of %(name)s: %(cards)s; ranks that want one: %(count)s",
                name=name,
                cards=node.cards,
                count=count,
            )
            errors.append(_wrong(rank, message, "too_many_ranks"))
    if errors:
        raise Invalid(say("the ranks cannot be placed"), code="placement", errors=errors)
    homes = {name: rooms_of(known[name], count) for name, count in wanted.items()}
    taken: Counter[str] = Counter()
    seats = []
    for name in nodes_by_rank:
        index = taken[name]
        taken[name] += 1
        home = homes[name][index]
        seats.append(Seat(node=name, index=index, domain=known[name].domain, sub_domain=home))
    return tuple(seats)


def check(seats: Sequence[Seat], sizes: ParallelSizes, *, order: str = DEFAULT_ORDER) -> PlacementCheck:
    """Judge a placement. seats: by rank.

    Raises Invalid where the sizes do not go together or do not multiply to the number of ranks.
    """
    if errors := size_errors(sizes, order=order, ranks=len(seats)):
        raise Invalid(say("the parallel sizes do not fit the ranks"), code="parallel_sizes", errors=errors)
    room = _largest_sub_domain(seats)
    violations = tuple(_violations(seats, sizes, order, room))
    return PlacementCheck(
        order=order,
        seats=tuple(seats),
        violations=violations,
        crossings=tuple(_crossings(seats, sizes, order)),
        better=_better(seats, sizes, order, _score(violations), room) if violations else None,
    )


def _wrong(rank: int, message: str, code: str) -> FieldError:
    return FieldError(pointer=f"/ranks/{rank}", message=message, code=code)


def _largest_sub_domain(seats: Sequence[Seat]) -> int:
    return max(Counter(seat.sub_domain for seat in seats if seat.sub_domain).values(), default=0)


def _places(seats: Sequence[Seat], ranks: Sequence[int], boundary: Boundary) -> tuple[str, ...]:
    named = (seats[rank].domain if boundary is Boundary.DOMAIN else seats[rank].sub_domain for rank in ranks)
    return tuple(dict.fromkeys(named))


def _violations(seats: Sequence[Seat], sizes: ParallelSizes, order: str, room: int) -> Iterator[Violation]:
    for dimension in BOUND_TO_DOMAIN:
        for number, ranks in enumerate(groups(sizes, dimension, order=order)):
            domains = _places(seats, ranks, Boundary.DOMAIN)
            halls = _places(seats, ranks, Boundary.SUBDOMAIN)
            if len(domains) > 1:
                boundary, verdict, where = Boundary.DOMAIN, Verdict.FAIL, domains
            elif len(halls) > 1 and len(ranks) <= room:
                boundary, verdict, where = Boundary.SUBDOMAIN, Verdict.WARN, halls
            else:
                continue
            yield Violation(
                dimension=dimension,
                group=number,
                boundary=boundary,
                verdict=verdict,
                ranks=ranks,
                where=where,
            )


def _crossings(seats: Sequence[Seat], sizes: ParallelSizes, order: str) -> Iterator[Crossings]:
    for dimension in Dimension:
        all_groups = groups(sizes, dimension, order=order)
        yield Crossings(
            dimension=dimension,
            groups=len(all_groups),
            cross_domains=sum(len(_places(seats, one, Boundary.DOMAIN)) > 1 for one in all_groups),
            cross_sub_domains=sum(len(_places(seats, one, Boundary.SUBDOMAIN)) > 1 for one in all_groups),
        )


def _score(violations: Iterable[Violation]) -> tuple[int, int]:
    counts = Counter(one.boundary for one in violations)
    return counts[Boundary.DOMAIN], counts[Boundary.SUBDOMAIN]


def _better(
    seats: Sequence[Seat], sizes: ParallelSizes, order: str, score: tuple[int, int], room: int
) -> BetterOrder | None:
    """The best of: cards regrouped by home, and the dimensions in another order; None if none is better."""
    best: BetterOrder | None = None
    for arranged, dimensions in itertools.product(_arrangements(seats, sizes), _orders(sizes, order)):
        found = _score(_violations(arranged, sizes, dimensions, room))
        if found < (best.violations if best else score):
            best = BetterOrder(order=dimensions, seats=tuple(arranged), violations=found)
        if found == (0, 0):
            break
    return best


def _orders(sizes: ParallelSizes, order: str) -> list[str]:
    """The given order first, then Megatron-LM's own, where it is another and allowed."""
    orders = dict.fromkeys((order, DEFAULT_ORDER))
    return [one for one in orders if not size_errors(sizes, order=one)]


def _arrangements(seats: Sequence[Seat], sizes: ParallelSizes) -> list[list[Seat]]:
    """The seats as given, by home, and by home in whole blocks of what must stay together.

    In the last, each home gives as many whole blocks as it holds and the rest goes to the end, so that a home
    of 36 does not shift the groups of eight in all homes after it.
    """
    by_home = _by_home(seats)
    experts = max(sizes.tp, sizes.inside_experts * sizes.ep)
    return [
        list(seats),
        by_home,
        *(
            _in_blocks(by_home, block, boundary)
            for block in dict.fromkeys((sizes.tp, experts))
            for boundary in (Boundary.SUBDOMAIN, Boundary.DOMAIN)
        ),
    ]


def _by_home(seats: Sequence[Seat]) -> list[Seat]:
    """Domain by domain, sub-domain by sub-domain, node by node, each in order of first appearance."""
    first: dict[str, dict[str, int]] = {"domain": {}, "sub_domain": {}, "node": {}}
    for field, places in first.items():
        for seat in seats:
            places.setdefault(getattr(seat, field), len(places))
    return sorted(
        seats,
        key=lambda seat: (
            first["domain"][seat.domain],
            first["sub_domain"][seat.sub_domain],
            first["node"][seat.node],
            seat.index,
        ),
    )


def _in_blocks(by_home: Sequence[Seat], block: int, boundary: Boundary) -> list[Seat]:
    whole: list[Seat] = []
    rest: list[Seat] = []
    for _, members in itertools.groupby(
        by_home, key=lambda seat: (seat.domain, seat.sub_domain if boundary is Boundary.SUBDOMAIN else "")
    ):
        home = list(members)
        kept = len(home) // block * block
        whole += home[:kept]
        rest += home[kept:]
    return whole + rest
