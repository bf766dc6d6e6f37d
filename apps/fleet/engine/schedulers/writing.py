"""Every format that a fleet can be written in, by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from apps.core.errors import Invalid
from apps.core.texts import say
from apps.fleet.engine.description import FleetDescription
from apps.fleet.engine.schedulers import (
    hostfile,
    hypernode,
    kubectl_labels,
    kueue_topology,
    nccl_hints,
    slurm_topology_conf,
    slurm_topology_yaml,
)
from apps.fleet.engine.schedulers.export import Export

Write = Callable[[FleetDescription], Export]


def _tree(fleet: FleetDescription) -> Export:
    return slurm_topology_conf.write(fleet, plugin=slurm_topology_conf.Plugin.TREE)


def _blocks(fleet: FleetDescription) -> Export:
    return slurm_topology_conf.write(fleet, plugin=slurm_topology_conf.Plugin.BLOCK)


FORMATS: Mapping[str, Write] = {
    "slurm_tree": _tree,
    "slurm_block": _blocks,
    "slurm_yaml": slurm_topology_yaml.write,
    "hypernode": hypernode.write,
    "kueue": kueue_topology.write,
    "kubectl_labels": kubectl_labels.write,
    "nccl_hints": nccl_hints.write,
    "hostfile": hostfile.write,
}


def write_fleet(fleet: FleetDescription, *, form: str) -> Export:
    """The fleet in one format. Raises Invalid (unknown_format, or what the format refuses)."""
    if form not in FORMATS:
        raise Invalid(
            say("unknown format %(form)s; known: %(formats)s", form=f"{form!r}", formats=", ".join(FORMATS)),
            code="unknown_format",
        )
    return FORMATS[form](fleet)
