"""Kubernetes nodes: what their labels say of domains, sub-domains and switches, and the accelerators they count."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from apps.core.texts import say
from apps.fleet.engine.description import FleetDescription, Node, Part, Problem, described
from apps.fleet.engine.schedulers.hints import MAX_CARDS
from apps.fleet.engine.schedulers.labels import fleet_of_labels, known_level, levels_in

KIND = "k8s_nodes"


def read(facts: Mapping[str, Any]) -> FleetDescription:
    """The fleet in the facts of a node list; of a node without the operator's labels neither count nor model."""
    of_node = labels_of_nodes(facts)
    notes = (one.get("portal_note") or "" for one in facts["node_list"])
    lines = [line for note in notes for line in note.splitlines()]
    fleet = fleet_of_labels(of_node, levels_in(list(of_node.values())), lines)
    found = {one["name"]: one for one in facts["node_list"] if one["name"] in of_node}
    counts = {name: one["gpu_capacity"] or one["gpu_count_label"] for name, one in found.items()}
    models = {name: one["gpu_product_base"] or "" for name, one in found.items()}
    too_many = [
        Problem(
            code="too_many_accelerators",
            subject=name,
            message=say(
                "node %(name)s counts %(cards)s accelerators; at most %(most)s",
                name=name,
                cards=count,
                most=MAX_CARDS,
            ),
        )
        for name, count in counts.items()
        if count is not None and count > MAX_CARDS
    ]
    counts |= {one.subject: None for one in too_many}
    nodes = [_with_cards(one, counts[one.name] or one.cards, models[one.name]) for one in fleet.nodes]
    return described(
        says=(fleet.says - {Part.MODELS})
        | ({Part.CARDS} if any(counts.values()) else frozenset())
        | ({Part.MODELS} if any(one.model or one.models for one in nodes) else frozenset()),
        domains=fleet.domains,
        nodes=nodes,
        switches=fleet.switches,
        problems=[*fleet.problems, *too_many],
    )


def _with_cards(node: Node, cards: int | None, model: str) -> Node:
    spans = tuple(replace(span, cards=cards) if span.cards is None else span for span in node.spans)
    if cards != node.cards:  # what a line tells of others
        node = replace(node, models=(), slots=())
    return replace(node, cards=cards, model="" if node.models else model, spans=spans)


def labels_of_nodes(facts: Mapping[str, Any]) -> dict[str, dict[str, str]]:
    """Labels of the nodes that have accelerators or a place in the topology.

    Others (control plane, CPU nodes) are no part of the fleet; where nothing tells them apart, all are.
    """
    named = {one["name"]: one for one in facts["node_list"] if one["name"]}
    ours = {name: one for name, one in named.items() if _is_of_the_fleet(one)}
    return {name: dict(one["labels"]) for name, one in (ours or named).items()}


def _is_of_the_fleet(node: Mapping[str, Any]) -> bool:
    counted = node["gpu_capacity"] or node["gpu_count_label"] or node["gpu_product"]
    return bool(counted) or any(known_level(label) for label in node["labels"])
