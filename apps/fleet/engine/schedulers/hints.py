"""What our own files for schedulers say beside the words of their format: accelerators of nodes, and empty homes.

Schedulers pass it over: to Slurm it is a comment, on a HyperNode an annotation. Nodes that are alike share a line:
`nodes sn-n[01-18]: accelerators 8 model nvidia-h100-sxm5-80gb`, and where the format cannot say it the place too,
`nodes sn-n05: accelerators 4/sn-s1,4/sn-s2 domain sn`. Where the models of a node differ, there are `models 4/a,4/b`.
A node that the format does not name at all is `also` there. A domain or its sub-domains in which no node is have a
line `domain sn: sub-domains sn-s[3-4]`.
Where somebody edited the file and both speak of the same, the format's own words hold.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace

from apps.core.hostlist import LIMIT_NAMES, HostListError, expand, fold
from apps.fleet.engine.description import Domain, FleetDescription, Node, Part, Span, described, runs_of
from apps.fleet.engine.schedulers import switch_notes

MAX_CARDS = 1024  # of a node
MAX_CARDS_IN_ALL = 500_000
_NODES_IN_LINE = 200
_LINE = re.compile(
    r"nodes (?P<nodes>\S+): (?P<also>also )?accelerators (?P<cards>\S+)"
    r"(?: domain (?P<domain>\S+))?(?: model (?P<model>\S.*)| models (?P<models>\S.*))?"
)
_HOME = re.compile(r"domain (?P<domain>\S+):(?: sub-domains (?P<rooms>\S+))?")
_RUN = re.compile(r"([0-9]{1,4})(?:/(\S+))?")
_MODELS = re.compile(r"([0-9]{1,4})/(.*)")
_NEXT_RUN = re.compile(r",(?=[0-9]{1,4}/)")


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
    runs = [(cards if span.cards is None else span.cards, span.sub_domain) for span in node.spans]
    rest = cards - sum(count for count, _hall in runs)
    if not runs or (Part.SUBDOMAINS in parts and len(runs) == 1 and not rest):
        where, is_placed = str(cards), False
    else:
        pieces = [f"{count}/{hall}" for count, hall in runs] + ([str(rest)] if rest > 0 else [])
        where, is_placed = ",".join(pieces), True
    text = f"{'' if said is not None else 'also '}accelerators {where}"
    if node.domain and (is_placed or Part.DOMAINS not in parts):
        text += f" domain {node.domain}"
    if node.models:
        return f"{text} models {','.join(runs_of(node.models))}"
    return f"{text} model {node.model}" if node.model else text


def _read(found: Iterable[str]) -> dict[str, _Hint]:
    hints: dict[str, _Hint] = {}
    left = MAX_CARDS_IN_ALL
    for line in found:
        match = _LINE.fullmatch(line)
        node = _node(match) if match else None
        if match is None or node is None:
            continue
        try:
            names = expand(match["nodes"], LIMIT_NAMES - len(hints))
        except HostListError:
            continue
        left -= (node.cards or 0) * len(names)
        if left < 0:
            break
        hints |= {name: _Hint(node=replace(node, name=name), also=bool(match["also"])) for name in names}
    return hints


def _node(match: re.Match[str]) -> Node | None:
    """What a line says of each of its nodes; None where it cannot be understood."""
    runs = [_RUN.fullmatch(piece) for piece in match["cards"].split(",")]
    cards = sum(int(run[1]) for run in runs if run is not None)
    if None in runs or cards > MAX_CARDS:
        return None
    spans = tuple(Span(sub_domain=run[2], cards=int(run[1])) for run in runs if run is not None and run[2])
    models = _models(match["models"] or "")
    if match["models"] and len(models) != cards:
        return None
    return Node(
        name="",
        domain=match["domain"] or "",
        spans=spans,
        cards=cards,
        model=(match["model"] or "").strip(),
        models=models,
    )


def _models(text: str) -> tuple[str, ...]:
    """The model of each accelerator by runs of equal ones; none where they cannot be understood."""
    runs = [_MODELS.fullmatch(piece) for piece in _NEXT_RUN.split(text)]
    if any(run is None or int(run[1]) > MAX_CARDS for run in runs):
        return ()
    return tuple(run[2].strip() for run in runs if run is not None for _card in range(int(run[1])))


def _read_homes(found: Iterable[str]) -> dict[str, list[str]]:
    """The sub-domains of each domain that lines say of empty ones."""
    homes: dict[str, list[str]] = {}
    for match in filter(None, map(_HOME.fullmatch, found)):
        try:
            homes[match["domain"]] = expand(match["rooms"] or "", LIMIT_NAMES - sum(map(len, homes.values())))
        except HostListError:
            continue
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
    return replace(node, domain=domain, spans=spans, cards=hint.cards, model=model, models=hint.models)
