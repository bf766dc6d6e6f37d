"""An MPI hostfile ordered by domain and sub-domain, so that neighbouring ranks are neighbours in the fabric."""

from __future__ import annotations

from collections.abc import Iterator

from apps.core.texts import say
from apps.fleet.engine.description import FleetDescription, Node, Part, is_split
from apps.fleet.engine.schedulers.export import Export, Note, carried, domains_as_nodes

FILE_NAME = "hostfile"


def write(fleet: FleetDescription) -> Export:
    """`node slots=N` lines under a comment per home; a node of unknown size has no slots.

    A split node stands once, at the end of its first sub-domain, where its ranks run on into the next.
    """
    unknown = [node.name for node in fleet.nodes if node.cards is None]
    notes = []
    if unknown:
        message = say(
            "nodes without a number of accelerators (%(count)s): %(unknown)s",
            count=len(unknown),
            unknown=", ".join(unknown[:10]),
        )
        notes.append(Note(code="unknown_slots", message=message))
    return Export(
        file_name=FILE_NAME,
        text="".join(f"{line}\n" for line in _lines(fleet)),
        says=carried(fleet, Part.NODES, Part.CARDS) if not unknown else carried(fleet, Part.NODES),
        notes=tuple(notes),
    )


def _lines(fleet: FleetDescription) -> Iterator[str]:
    nodes = {node.name: node for node in fleet.nodes}
    homes = domains_as_nodes(fleet)
    inside = {name for names in homes.values() for name in names}
    for domain, names in homes.items():
        yield from _home(f"domain {domain}", [nodes[name] for name in names])
    loose = [node for node in fleet.nodes if node.name not in inside]
    if loose:
        yield from _home("no domain", loose)


def _home(title: str, nodes: list[Node]) -> Iterator[str]:
    room = None
    for node in sorted(nodes, key=lambda one: [span.sub_domain for span in one.spans]):
        first = node.spans[0].sub_domain if node.spans else ""
        if first != room:
            room = first
            yield f"# {title}, sub-domain {room}" if room else f"# {title}"
        if is_split(node):
            yield f"# {node.name} goes on in {node.spans[-1].sub_domain}"
        yield node.name if node.cards is None else f"{node.name} slots={node.cards}"
