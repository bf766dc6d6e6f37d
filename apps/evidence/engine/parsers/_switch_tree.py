"""A tree of switches as topology files state it: who is beneath whom, and what does not hold together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from apps.core.hostlist import LIMIT_NAMES, HostListError, expand
from apps.core.texts import say
from apps.evidence.engine.parsers._notes import Notes
from apps.evidence.engine.reading import Unreadable
from apps.evidence.engine.source import Line

LIMIT_NAMES_IN_FILE = 1_000_000


@dataclass(slots=True, kw_only=True)
class Switch:
    """A switch, or a tier that stands for some. children: names of switches beneath. line: where it is defined."""

    name: str
    children: list[str] = field(default_factory=list)
    nodes: list[str] = field(default_factory=list)
    line: int | None = None


class HostLists:
    """Expands host lists of one file, with a bound on the names of all together."""

    def __init__(self, notes: Notes) -> None:
        self._notes = notes
        self._left = LIMIT_NAMES_IN_FILE

    def expand(self, text: str | None, *, at: Line | None = None, line: int | None = None) -> list[str]:
        """The names; none, with a warning, where the list is not valid. Raises Unreadable beyond the bound."""
        try:
            names = expand(text or "", limit=min(LIMIT_NAMES, self._left))
        except HostListError as fault:
            if fault.code == "too_many_names" and self._left < LIMIT_NAMES:
                raise Unreadable(
                    say(
                        "more than %(limit_names_in_file)s names in all",
                        limit_names_in_file=LIMIT_NAMES_IN_FILE,
                    ),
                    code="too_many_names",
                ) from fault
            self._notes.add(fault.code, fault.message, at=at, line=line)
            return []
        self._left -= len(names)
        return names


def node_comments(lines: Iterable[Line]) -> list[str]:
    """What the portal's own exports say of nodes, switches and domains in comments, where the format has no word."""
    comments = (line.text.strip() for line in lines)
    return [comment[2:] for comment in comments if comment.startswith(("# nodes ", "# switch ", "# domain "))]


def roots(switches: Sequence[Switch]) -> list[str]:
    """Switches that are beneath no other, in their order."""
    beneath = {child for switch in switches for child in switch.children}
    return [switch.name for switch in switches if switch.name not in beneath]


def levels(switches: Sequence[Switch]) -> int | None:
    """Number of switch levels, 1 for leaf switches alone; None where there are none or they form a ring."""
    children = {switch.name: switch.children for switch in switches}
    heights: dict[str, int] = {}
    for name in _children_first(children):
        beneath = [child for child in children[name] if child in children]
        if any(child not in heights for child in beneath):
            return None
        heights[name] = 1 + max((heights[child] for child in beneath), default=0)
    return max(heights.values(), default=None)


def check(switches: Sequence[Switch], notes: Notes, *, leaves_are_defined: bool = True) -> None:
    """Warn of rings, of children lost, listed twice or beneath two switches, of empty switches, of nodes twice.

    leaves_are_defined: whether the format defines leaf switches with their nodes, and not elsewhere.
    """
    defined = {switch.name for switch in switches}
    parents: dict[str, str] = {}
    for switch in switches:
        if leaves_are_defined and not switch.children and not switch.nodes:
            notes.add(
                "empty",
                say("the switch %(name)s has neither nodes nor switches", name=switch.name),
                line=switch.line,
            )
        for child, times in Counter(switch.children).items():
            if leaves_are_defined and child not in defined:
                notes.add(
                    "child_not_defined",
                    say("%(child)s beneath %(name)s is not defined", child=child, name=switch.name),
                    line=switch.line,
                )
            if times > 1:
                notes.add(
                    "child_twice",
                    say(
                        "%(child)s is listed %(times)s times beneath %(name)s",
                        child=child,
                        times=times,
                        name=switch.name,
                    ),
                    line=switch.line,
                )
            if parents.setdefault(child, switch.name) != switch.name:
                notes.add(
                    "two_parents",
                    say(
                        "%(child)s is beneath %(parents)s and %(name)s",
                        child=child,
                        parents=parents[child],
                        name=switch.name,
                    ),
                    line=switch.line,
                )
    if switches and levels(switches) is None:
        notes.add("ring", say("the switches form a ring: some switch is beneath itself"))
    check_nodes(((switch.name, switch.nodes, switch.line) for switch in switches), notes)


def check_nodes(groups: Iterable[tuple[str, Sequence[str], int | None]], notes: Notes) -> None:
    """Warn of nodes that are listed twice, in one group or in two."""
    homes: dict[str, str] = {}
    for name, nodes, line in groups:
        for node, times in Counter(nodes).items():
            if times > 1:
                notes.add(
                    "node_twice",
                    say("%(node)s is listed %(times)s times in %(name)s", node=node, times=times, name=name),
                    line=line,
                )
            if homes.setdefault(node, name) != name:
                notes.add(
                    "node_twice",
                    say(
                        "%(node)s is listed in %(homes)s and in %(name)s",
                        node=node,
                        homes=homes[node],
                        name=name,
                    ),
                    line=line,
                )


def _children_first(children: Mapping[str, Sequence[str]]) -> list[str]:
    """All names, each after its children as far as there is no ring; without recursion."""
    order: list[str] = []
    seen: set[str] = set()
    for top in children:
        stack = [(top, False)]
        while stack:
            name, done = stack.pop()
            if done:
                order.append(name)
            elif name not in seen:
                seen.add(name)
                stack.append((name, True))
                stack.extend((child, False) for child in children[name] if child in children)
    return order
