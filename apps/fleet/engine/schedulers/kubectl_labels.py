"""A shell script of `kubectl label` commands that puts the topology on the nodes."""

from __future__ import annotations

import shlex

from apps.fleet.engine.description import FleetDescription
from apps.fleet.engine.schedulers import labels
from apps.fleet.engine.schedulers.export import Export

FILE_NAME = "label-nodes.sh"


def write(fleet: FleetDescription) -> Export:
    """One command per node that has labels, and one per node that has notes; running it again changes nothing."""
    made = labels.node_labels(fleet)
    lines = ["#!/bin/sh", "# Puts the topology labels on the nodes; safe to run again.", "set -eu"]
    for node, of_node in made.of_node.items():
        if of_node:
            pairs = " ".join(shlex.quote(f"{label}={value}") for label, value in of_node.items())
            lines.append(f"kubectl label node {shlex.quote(node)} {pairs} --overwrite")
    for node, told in labels.lines_of_nodes(fleet, made).items():
        note = shlex.quote("\n".join([f"{labels.ANNOTATION}={told[0]}", *told[1:]]))
        lines.append(f"kubectl annotate node {shlex.quote(node)} {note} --overwrite")
    return Export(
        file_name=FILE_NAME,
        text="".join(f"{line}\n" for line in lines),
        says=made.says,
        notes=made.notes,
    )
