"""What our own files for schedulers say beside the words of their format: accelerators of nodes, and empty homes.

Schedulers pass it over: to Slurm it is a comment, on a HyperNode an annotation. Nodes that are alike share a line:
`nodes sn-n[01-18]: accelerators 8 model nvidia-h100-sxm5-80gb`, and where the format cannot say it the place too,
`nodes sn-n05: accelerators 4/sn-s1,4/sn-s2 domain sn`. A node with an empty slot has `slots s[0-2,4-7]`, and one whose
models differ `models 4/a,4/b`, which is last.
A node that the format does not name at all is `also` there. A domain or its sub-domains in which no node is have a
line `domain sn: sub-domains sn-s[3-4]`.
Where somebody edited the file and both speak of the same, the format's own words hold.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from urllib.parse import quote, unquote

from apps.core.hostlist import LIMIT_NAMES, HostListError, expand, fold
from apps.fleet.engine.description import (
    Domain,
    FleetDescription,
    Node,
    Part,
    Span,
    described,
    rooms_of,
    runs_of,
)
from apps.fleet.engine.schedulers import switch_notes

MAX_CARDS = 1024  # of a node
MAX_CARDS_IN_ALL = 500_000
_NODES_IN_LINE = 200
_LINE = re.compile(
    r"nodes (?P<nodes>\S+): (?P<also>also )?accelerators (?P<cards>\S+)"
    r"(?: domain (?P<domain>\S+))?(?: slots (?P<slots>\S+))?"
    r"(?: model (?P<model>\S.*)| models (?P<models>\S.*))?"
)
_HOME = re.compile(r"domain (?P<domain>\S+):(?: sub-domains (?P<rooms>\S+))?")
_RUN = re.compile(r"([0-9]{1,4})(?:/(\S+))?")
_MODELS = re.compile(r"([0-9]{1,4})/(.*)")
_SLOT = re.compile(r"s([0-9]{1,4})")
_NOT_IN_MODELS = re.compile(r"[%,\x00-\x1f\x7f\x85\u2028\u2029]")  # a comma ends one, a line break the line


@dataclass(frozen=True, slots=True, kw_only=True)
class _Hint:
    """also: the format itself does not name the node."""

    node: Node
    also: bool


def carried(fleet: FleetDescription) -> frozenset[Part]:
    """The parts of a fleet that lines carry; none where the accelerators of some node are not known."""
    if any(node.cards is None for node in fleet.nodes):
        return frozenset()
    parts = {Part.CARDS}
    parts |= {Part.MODELS} if any(node.model or node.models for node in fleet.nodes) else set()
    parts |= {Part.DOMAINS} if any(node.domain for node in fleet.nodes) else set()
    parts |= {Part.SUBDOMAINS} if any(node.spans for node in fleet.nodes) else set()
    return fleet.says & parts


def lines(nodes: Iterable[Node], *, said: Collection[Part], listed: Collection[str]) -> list[str]:
    """Lines for nodes whose accelerators are known. said, listed: the parts and the nodes that the format names."""
    alike: dict[str, list[str]] = {}
    for node in nodes:
        if node.cards is not None:
            alike.setdefault(_text(node, frozenset(said) if node.name in listed else None), []).append(
                node.name
            )
    return [
        f"nodes {fold(names[start : start + _NODES_IN_LINE])}: {text}"
        for text, names in alike.items()
        for start in range(0, len(names), _NODES_IN_LINE)
    ]


def of_empty_homes(fleet: FleetDescription) -> list[str]:
    """Lines for the domains and sub-domains in which no node is."""
    homes = {node.domain for node in fleet.nodes}
    rooms = {span.sub_domain for node in fleet.nodes for span in node.spans}
    empty = {one.name: [room for room in one.sub_domains if room not in rooms] for one in fleet.domains}
    return [
        f"domain {name}:{f' sub-domains {fold(rooms)}' if rooms else ''}"
        for name, rooms in empty.items()
        if rooms or name not in homes
    ]


def filled(seen: FleetDescription, found: Iterable[str]) -> FleetDescription:
    """The fleet in a file with what its lines add, of switches too (`switch_notes`).

    Lines that are none of ours say nothing.
    """
    told = tuple(found)
    return switch_notes.filled(_with_nodes(seen, told), told)


def named(found: Iterable[str]) -> frozenset[str]:
    """The nodes that lines tell of."""
    return frozenset(_read(found))


def _with_nodes(seen: FleetDescription, found: Iterable[str]) -> FleetDescription:
    hints, empty = _read(found), _read_homes(found)
    if not hints and not empty:
        return seen
    nodes = [
        _filled(node, hints[node.name].node, seen.says) if node.name in hints else node for node in seen.nodes
    ]
    named = {node.name for node in seen.nodes}
    nodes += [hint.node for name, hint in hints.items() if hint.also and name not in named]
    halls = {domain.name: list(domain.sub_domains) for domain in seen.domains}
    for node in nodes:
        if node.domain:
            halls.setdefault(node.domain, []).extend(span.sub_domain for span in node.spans)
    placed = {room for rooms in halls.values() for room in rooms}
    for name, rooms in empty.items():
        halls.setdefault(name, []).extend(room for room in rooms if room not in placed)
    known = {domain.name: domain for domain in seen.domains}
    whole = described(
        says=seen.says,
        domains=[
            replace(known.get(name) or Domain(name=name), sub_domains=tuple(names))
            for name, names in halls.items()
        ],
        nodes=nodes,
        switches=seen.switches,
        links=seen.links,
        problems=seen.problems,
    )
    told = {Part.DOMAINS} if halls else set()
    told |= {Part.SUBDOMAINS} if any(halls.values()) else set()
    told |= {Part.CARDS} if all(node.cards is not None for node in nodes) else set()
    told |= {Part.MODELS} if any(node.model or node.models for node in nodes) else set()
    return replace(whole, says=whole.says | told)


def _text(node: Node, said: frozenset[Part] | None) -> str:
    """said: None where the format does not name the node."""
    parts = said or frozenset()
    cards = node.cards or 0
    runs = [(room, len(list(run))) for room, run in itertools.groupby(rooms_of(node))]
    if not node.spans or (Part.SUBDOMAINS in parts and len(runs) == 1):
        where, is_placed = str(cards), False
    else:
        where, is_placed = ",".join(f"{count}/{room}" if room else f"{count}" for room, count in runs), True
    text = f"{'' if said is not None else 'also '}accelerators {where}"
    if node.domain and (is_placed or Part.DOMAINS not in parts):
        text += f" domain {node.domain}"
    if node.slots:
        text += f" slots {fold(f's{slot}' for slot in node.slots)}"
    if node.models:
        return f"{text} models {','.join(runs_of(map(_quoted, node.models)))}"
    return f"{text} model {_quoted(node.model)}" if node.model else text


def _quoted(model: str) -> str:
    return _NOT_IN_MODELS.sub(lambda found: quote(found[0], safe=""), model)


def _read(found: Iterable[str]) -> dict[str, _Hint]:
    hints: dict[str, _Hint] = {}
    left, cards_left = LIMIT_NAMES, MAX_CARDS_IN_ALL
    for line in found:
        match = _LINE.fullmatch(line)
        node = _node(match) if match else None
        if match is None or node is None:
            continue
        try:
            names = expand(match["nodes"], left)
        except HostListError:
            continue
        left -= len(names)
        cards_left -= (node.cards or 0) * len(names)
        if cards_left < 0:
            break
        hints |= {name: _Hint(node=replace(node, name=name), also=bool(match["also"])) for name in names}
    return hints


def _node(match: re.Match[str]) -> Node | None:
    """What a line says of each of its nodes; None where it cannot be understood."""
    runs = [_RUN.fullmatch(piece) for piece in match["cards"].split(",")]
    cards = sum(int(run[1]) for run in runs if run is not None)
    if None in runs or cards > MAX_CARDS:
        return None
    models, slots = _models(match["models"], cards), _slots(match["slots"], cards)
    if models is None or slots is None:
        return None
    spans, before = [], 0
    for run in filter(None, runs):
        if run[2]:
            spans.append(Span(sub_domain=run[2], cards=int(run[1]), before=before))
        before = 0 if run[2] else before + int(run[1])
    return Node(
        name="",
        domain=match["domain"] or "",
        spans=tuple(spans),
        cards=cards,
        model=unquote(match["model"] or "").strip(),
        models=models,
        slots=slots,
    )


def _models(text: str | None, cards: int) -> tuple[str, ...] | None:
    """The model of each accelerator by runs of equal ones; None where they cannot be understood."""
    runs = [_MODELS.fullmatch(piece) for piece in text.split(",", cards)] if text else []
    counts = [int(run[1]) for run in runs if run is not None]
    if len(counts) != len(runs) or (text and sum(counts) != cards):
        return None
    return tuple(unquote(run[2]).strip() for run in runs if run is not None for _card in range(int(run[1])))


def _slots(text: str | None, cards: int) -> tuple[int, ...] | None:
    """The slots of the accelerators, in order; None where they cannot be understood."""
    if not text:
        return ()
    try:
        found = [_SLOT.fullmatch(name) for name in expand(text, cards)]
    except HostListError:
        return None
    slots = tuple(int(one[1]) for one in found if one is not None)
    return slots if len(slots) == len(found) == cards and slots == tuple(sorted(set(slots))) else None


def _read_homes(found: Iterable[str]) -> dict[str, list[str]]:
    """The sub-domains of each domain that lines say of empty ones."""
    homes: dict[str, list[str]] = {}
    left = LIMIT_NAMES
    for match in filter(None, map(_HOME.fullmatch, found)):
        try:
            rooms = expand(match["rooms"] or "", max(left, 0))
        except HostListError:
            continue
        left -= 1 + len(rooms)
        if left < 0:
            break
        homes[match["domain"]] = rooms
    return homes


def _filled(node: Node, hint: Node, said: Collection[Part]) -> Node:
    domain = node.domain if Part.DOMAINS in said else hint.domain
    halls = [span.sub_domain for span in node.spans]
    spans = (
        tuple(replace(span, cards=hint.cards) for span in node.spans) if len(node.spans) == 1 else node.spans
    )
    if hint.spans and hint.domain == domain and halls in ([], [span.sub_domain for span in hint.spans]):
        spans = hint.spans
    model = "" if hint.models else hint.model or node.model
    return replace(
        node,
        domain=domain,
        spans=spans,
        cards=hint.cards,
        model=model,
        models=hint.models,
        slots=hint.slots,
    )
