"""Switches as files list them, made into a forest with tiers, and every contradiction on the way."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import compress

from apps.core.texts import say
from apps.fleet.engine.description import Problem, Switch, natural_order


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One line or document: a switch with what stands beneath it. tier: 0 where the file does not say."""

    name: str
    switches: tuple[str, ...] = ()
    nodes: tuple[str, ...] = ()
    real_name: str = ""
    tier: int = 0


def forest(entries: Sequence[Entry]) -> tuple[tuple[Switch, ...], tuple[Problem, ...]]:
    """Switches with their tiers; unknown ones stay named as children so that the file is shown as it is."""
    merged: dict[str, Entry] = {}
    problems = [
        Problem(
            code="switch_twice",
            subject=name,
            message=say("switch %(name)s is defined %(count)s times", name=name, count=count),
        )
        for name, count in Counter(entry.name for entry in entries).items()
        if count > 1
    ]
    for entry in entries:
        merged.setdefault(entry.name, entry)
    problems += _unknown(merged)
    problems += _twice(merged)
    tiers, cyclic = _tiers(merged)
    problems += [
        Problem(code="cycle", subject=name, message=say("switch %(name)s is beneath itself", name=name))
        for name in cyclic
    ]
    problems += _tier_problems(merged)
    switches = tuple(
        Switch(
            name=entry.name,
            tier=entry.tier or tiers[entry.name],
            switches=entry.switches,
            nodes=entry.nodes,
            real_name=entry.real_name,
        )
        for entry in merged.values()
    )
    return switches, tuple(problems)


class Beneath(Mapping[str, frozenset[str]]):
    """Switch → all nodes beneath it, however deep; made when it is asked for, since many may have them all.

    Of switches in a cycle it is not known in whole.
    """

    def __init__(self, switches: Iterable[Switch], *, nodes: Iterable[str] = ()) -> None:
        """nodes: those that come first, so that what is beneath can be compared between two of them (`bits`)."""
        by_name = {one.name: one for one in switches}
        below = (node for one in by_name.values() for node in one.nodes)
        self._nodes = list(dict.fromkeys([*nodes, *below]))
        place = {node: at for at, node in enumerate(self._nodes)}
        self._bits: dict[str, int] = {}
        heights, _cyclic = _tiers(by_name)
        for name in sorted(by_name, key=lambda one: heights[one]):
            bits = _bits_at((place[node] for node in by_name[name].nodes), len(place))
            for child in by_name[name].switches:
                bits |= self._bits.get(child, 0)
            self._bits[name] = bits

    def bits(self, name: str) -> int:
        """The nodes beneath a switch as bits, in the order of `nodes`; 0 where there are none."""
        return self._bits.get(name, 0)

    def __getitem__(self, name: str) -> frozenset[str]:
        return frozenset(compress(self._nodes, (bit == "1" for bit in f"{self._bits[name]:b}"[::-1])))

    def __iter__(self) -> Iterator[str]:
        return iter(self._bits)

    def __len__(self) -> int:
        return len(self._bits)


def _bits_at(places: Iterable[int], size: int) -> int:
    bits = bytearray(size // 8 + 1)
    for place in places:
        bits[place // 8] |= 1 << place % 8
    return int.from_bytes(bits, "little")


def _unknown(entries: dict[str, Entry]) -> list[Problem]:
    named = natural_order(child for entry in entries.values() for child in entry.switches)
    return [
        Problem(
            code="unknown_switch",
            subject=name,
            message=say("switch %(name)s is named and nowhere defined", name=name),
        )
        for name in named
        if name not in entries
    ]


def _twice(entries: dict[str, Entry]) -> list[Problem]:
    problems = []
    for what, pick in ((say("node"), "nodes"), (say("switch"), "switches")):
        above: dict[str, list[str]] = {}
        for entry in entries.values():
            for child in getattr(entry, pick):
                above.setdefault(child, []).append(entry.name)
        problems += [
            Problem(
                code=f"{what}_twice",
                subject=child,
                message=say(
                    "%(what)s %(child)s is named %(count)s times, beneath %(parents)s",
                    what=what,
                    child=child,
                    count=len(parents),
                    parents=_listed(parents),
                ),
            )
            for child, parents in above.items()
            if len(parents) > 1
        ]
    return problems


def _listed(names: Sequence[str]) -> str:
    return " and ".join(dict.fromkeys(names))


def _tiers(entries: Mapping[str, Entry | Switch]) -> tuple[dict[str, int], tuple[str, ...]]:
    """1 for switches with no known switch beneath, else one more than the highest beneath; and those in cycles."""
    tiers: dict[str, int] = {}
    open_below = {
        name: [child for child in dict.fromkeys(entry.switches) if child in entries]
        for name, entry in entries.items()
    }
    above: dict[str, list[str]] = {}
    for name, children in open_below.items():
        for child in children:
            above.setdefault(child, []).append(name)
    waiting = {name: len(children) for name, children in open_below.items()}
    ready = [name for name, count in waiting.items() if not count]
    for name in ready:
        tiers[name] = 1 + max((tiers[child] for child in open_below[name]), default=0)
        for parent in above.get(name, ()):
            waiting[parent] -= 1
            if not waiting[parent]:
                ready.append(parent)
    cyclic = natural_order(name for name in entries if name not in tiers)
    return tiers | dict.fromkeys(cyclic, 1), cyclic


def _tier_problems(entries: dict[str, Entry]) -> list[Problem]:
    """Where the file states tiers, each must be above those beneath it, with none left out."""
    problems = []
    for entry in entries.values():
        below = [entries[child].tier for child in entry.switches if child in entries]
        if entry.tier and below and max(below) >= entry.tier:
            message = say(
                "%(name)s is of tier %(tier)s, but has one of tier %(most)s beneath it",
                name=entry.name,
                tier=entry.tier,
                most=max(below),
            )
            problems.append(Problem(code="tier_order", subject=entry.name, message=message))
        elif entry.tier and below and max(below) < entry.tier - 1:
            message = say(
                "between %(name)s of tier %(tier)s and those of tier %(most)s one is missing",
                name=entry.name,
                tier=entry.tier,
                most=max(below),
            )
            problems.append(Problem(code="missing_tier", subject=entry.name, message=message))
    return problems
