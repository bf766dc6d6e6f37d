"""Kueue's Topology: the names of the node labels, outermost first. The nodes carry the labels themselves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from apps.core.texts import say
from apps.fleet.engine.description import FleetDescription, Part, Problem, described
from apps.fleet.engine.schedulers import labels
from apps.fleet.engine.schedulers.export import Export, as_yaml
from apps.fleet.engine.schedulers.hierarchy import Role

KIND = "kueue_topology"
FILE_NAME = "kueue-topology.yaml"
NAME = "supernodes"
API_VERSION = "kueue.x-k8s.io/v1beta2"


def write(fleet: FleetDescription) -> Export:
    """The Topology; `kubectl_labels.write` gives the labels that it counts on."""
    made = labels.node_labels(fleet)
    metadata: dict[str, Any] = {"name": NAME}
    if lines := labels.lines_of_fleet(fleet, made):
        metadata["annotations"] = {labels.ANNOTATION: "\n".join(lines)}
    document = {
        "apiVersion": API_VERSION,
        "kind": "Topology",
        "metadata": metadata,
        "spec": {"levels": [{"nodeLabel": label} for label in (*made.levels, labels.HOSTNAME)]},
    }
    return Export(
        file_name=FILE_NAME,
        text=as_yaml([document]),
        says=frozenset(),
        notes=made.notes,
    )


def read(
    facts: Mapping[str, Any], *, of_node: Mapping[str, Mapping[str, str]] | None = None
) -> FleetDescription:
    """The fleet in the first Topology of the file. of_node: the labels of each node.

    Without labels it says nothing. A level that no node carries is a missing tier.
    """
    if of_node is None:
        return described(says=[])
    names = _names(facts)
    missing = [label for label in names if not any(one.get(label) for one in of_node.values())]
    levels = _levels([label for label in names if label not in missing])
    note = next(iter(facts.get("portal_notes", ())), None)
    fleet = labels.fleet_of_labels(of_node, levels, (note or "").splitlines())
    problems = [
        Problem(
            code="missing_tier",
            subject=label,
            message=say("no node carries the label %(label)s", label=label),
        )
        for label in missing
    ]
    return described(
        says=fleet.says | {Part.NODES},
        domains=fleet.domains,
        nodes=fleet.nodes,
        switches=fleet.switches,
        problems=[*problems, *fleet.problems],
    )


def left_out(facts: Mapping[str, Any], of_node: Mapping[str, Mapping[str, str]]) -> tuple[str, ...]:
    """Labels of levels that nodes carry and the Topology does not name."""
    carried = [level.label for level in labels.levels_in(list(of_node.values()))]
    return tuple(label for label in carried if label not in _names(facts))


def _names(facts: Mapping[str, Any]) -> list[str]:
    """Labels of the first Topology, outermost first, without that of the host."""
    topologies: Mapping[str, Sequence[str]] = facts["topologies"]
    return [label for label in next(iter(topologies.values()), ()) if label != labels.HOSTNAME]


def _levels(names: Sequence[str]) -> list[labels.LabelLevel]:
    """What each label means; one that nobody knows counts as switches at its height above the node."""
    return [
        labels.known_level(name) or labels.LabelLevel(label=name, role=Role.SWITCH, tier=height)
        for height, name in enumerate(reversed(names), start=1)
    ]
