"""Free and busy cards of a fleet, and where each policy puts a job: the state of an allocation what-if.

A grant is cards per node; a policy that finds no room grants nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

import numpy as np

from apps.core.errors import FieldError, Invalid
from apps.core.texts import say
from apps.fleet.engine.description import FleetDescription
from apps.fleet.engine.graph import Ints

Grant: TypeAlias = dict[int, int]  # number of the node → cards


class Policy(StrEnum):
    """per_card: pods take any card as one comes free and hold it while the rest of the job waits.
    gang: all cards of a job at once, wherever they are. topology_aware: all at once in the smallest part
    that holds them (node, sub-domain, domain), the fullest first. whole_domain: a job gets empty domains
    for itself.
    """

    PER_CARD = "per_card"
    GANG = "gang"
    TOPOLOGY_AWARE = "topology_aware"
    WHOLE_DOMAIN = "whole_domain"


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolNode:
    """busy: cards that are taken for the whole time. sub_domain: "" for none, or where the node is split."""

    name: str
    domain: str
    cards: int
    busy: int = 0
    sub_domain: str = ""


def pool_of(fleet: FleetDescription, *, busy: Mapping[str, int]) -> tuple[PoolNode, ...]:
    """The nodes of a fleet that have accelerators, in its order.

    busy: node → cards in use; a node that takes no jobs at all is busy with all of its cards.
    """
    return tuple(
        PoolNode(
            name=node.name,
            domain=node.domain,
            cards=node.cards,
            busy=busy.get(node.name, 0),
            sub_domain=node.spans[0].sub_domain if len(node.spans) == 1 else "",
        )
        for node in fleet.nodes
        if node.cards
    )


def pool_errors(nodes: Sequence[PoolNode]) -> list[FieldError]:
    """What is wrong with the nodes of a what-if, each with its place."""
    errors = []
    seen: set[str] = set()
    for place, node in enumerate(nodes):
        if node.name in seen:
            errors.append(
                _wrong(place, "name", say("%(name)s is there twice", name=node.name), "duplicate_node")
            )
        seen.add(node.name)
        if node.cards < 1:
            errors.append(_wrong(place, "cards", say("must be 1 or more"), "too_small"))
        elif not 0 <= node.busy <= node.cards:
            errors.append(
                _wrong(place, "busy", say("must be 0 to %(cards)s", cards=node.cards), "out_of_range")
            )
    if not nodes:
        errors.append(FieldError(pointer="/nodes", message=say("there is no node"), code="empty"))
    return errors


def _wrong(place: int, field: str, message: str, code: str) -> FieldError:
    return FieldError(pointer=f"/nodes/{place}/{field}", message=message, code=code)


class Pool:
    """The cards. free: per node. A domain that a whole-domain job holds is reserved: its rest is not free."""

    def __init__(self, nodes: Sequence[PoolNode], *, seed: int) -> None:
        if errors := pool_errors(nodes):
            raise Invalid(say("the nodes cannot be used"), code="pool", errors=errors)
        self.nodes = tuple(nodes)
        self.dice = np.random.default_rng(seed)
        self.cards = np.array([node.cards for node in nodes], dtype=np.int64)
        self.free = self.cards - np.array([node.busy for node in nodes], dtype=np.int64)
        homes = [node.domain or f"\0{node.name}" for node in nodes]  # a node in no domain is one by itself
        self.domains, self.domain_of = _numbered(homes)
        halls = [f"{home}\0{node.sub_domain or node.name}" for home, node in zip(homes, nodes, strict=True)]
        self.halls, self.hall_of = _numbered(halls)
        self.domain_cards = self._sum_by_domain(self.cards)
        self.domain_free = self._sum_by_domain(self.free)
        self.reserved = np.zeros(len(self.domains), dtype=bool)
        # Where two nodes are equally good, an ordinary scheduler picks either; the seed decides once.
        self.tie_break = self.dice.permutation(len(nodes))

    def domain_name(self, number: int) -> str:
        return self.domains[number].lstrip("\0")

    def take(self, grant: Grant, *, reserve: bool = False) -> None:
        for node, cards in grant.items():
            assert self.free[node] >= cards
            self.free[node] -= cards
            self.domain_free[self.domain_of[node]] -= cards
        if reserve:
            self.reserved[[self.domain_of[node] for node in grant]] = True

    def give_back(self, grant: Grant, *, reserved: bool = False) -> None:
        for node, cards in grant.items():
            self.free[node] += cards
            self.domain_free[self.domain_of[node]] += cards
        if reserved:
            self.reserved[[self.domain_of[node] for node in grant]] = False

    def scattered(self, cards: int) -> Grant:
        """A card from each of the emptiest nodes in turn, as a scheduler does that spreads load."""
        if cards > int(self.free.sum()):
            return {}
        left = self.free.copy()
        while cards:
            order = self._emptiest(left)[:cards]
            order = order[left[order] > 0]
            left[order] -= 1
            cards -= len(order)
        taken = self.free - left
        return {int(node): int(taken[node]) for node in np.flatnonzero(taken)}

    def anywhere(self, cards: int) -> Grant:
        """The emptiest nodes, each as far as it goes."""
        if cards > int(self.free.sum()):
            return {}
        return self._from(self._emptiest(self.free), cards)

    def together(self, cards: int) -> Grant:
        """The smallest part that holds the job; of several, the one with the least room left over.

        A job larger than every domain gets the emptiest domains.
        """
        usable = self.domain_free
        fits = np.flatnonzero(self.free >= cards)
        if len(fits):
            best = fits[np.lexsort((fits, self.free[fits], usable[self.domain_of[fits]]))[0]]
            return {int(best): cards}
        halls = np.bincount(self.hall_of, weights=self.free, minlength=len(self.halls)).astype(np.int64)
        for room, home_of in ((halls, self.hall_of), (usable, self.domain_of)):
            fitting = np.flatnonzero(room >= cards)
            if len(fitting):
                home = fitting[np.lexsort((fitting, room[fitting]))[0]]
                members = np.flatnonzero(home_of == home)
                return self._from(members[np.argsort(-self.free[members], kind="stable")], cards)
        if cards > int(self.domain_cards.max()):
            order = np.lexsort((self.domain_of, -usable[self.domain_of]))
            return self._from(order, cards)
        return {}

    def empty_domains(self, cards: int) -> Grant:
        """The smallest empty domain that holds the job, or the largest empty ones together."""
        empty = np.flatnonzero(~self.reserved & (self.domain_free == self.domain_cards))
        order = empty[np.lexsort((empty, -self.domain_cards[empty]))]
        sizes = self.domain_cards[order]
        if not len(order) or cards > int(sizes.sum()):
            return {}
        alone = order[sizes >= cards]
        chosen = alone[-1:] if len(alone) else order[: int(np.searchsorted(sizes.cumsum(), cards)) + 1]
        members = np.concatenate([np.flatnonzero(self.domain_of == home) for home in chosen])
        return self._from(members, cards)

    def _emptiest(self, free: Ints) -> Ints:
        """Nodes by free cards, most first; equal ones by lot."""
        return np.argsort(self.tie_break - free * len(free))

    def _from(self, order: Ints, cards: int) -> Grant:
        """Cards from nodes in that order; nothing where they do not suffice."""
        reached = np.minimum(self.free[order].cumsum(), cards)
        if not len(reached) or int(reached[-1]) < cards:
            return {}
        taken = np.diff(reached, prepend=0)
        return {int(order[at]): int(taken[at]) for at in np.flatnonzero(taken)}

    def _sum_by_domain(self, values: Ints) -> Ints:
        sums = np.bincount(self.domain_of, weights=values, minlength=len(self.domains))
        return sums.astype(np.int64)


def _numbered(names: Sequence[str]) -> tuple[list[str], Ints]:
    numbers: dict[str, int] = {}
    of = [numbers.setdefault(name, len(numbers)) for name in names]
    return list(numbers), np.array(of, dtype=np.int64)
