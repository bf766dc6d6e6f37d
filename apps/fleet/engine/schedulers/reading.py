"""Every format that a fleet can be read from, by the kind of its evidence."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from apps.core.errors import Invalid
from apps.core.texts import say
from apps.fleet.engine.description import FleetDescription
from apps.fleet.engine.schedulers import (
    hypernode,
    k8s_nodes,
    kueue_topology,
    nccl_topo_xml,
    nvidia_smi_topo,
    slurm_topology_conf,
    slurm_topology_yaml,
    topograph_model,
    topograph_netq,
)

Read = Callable[[Mapping[str, Any]], FleetDescription]

WHOLE: Mapping[str, Read] = {
    hypernode.KIND: hypernode.read,
    k8s_nodes.KIND: k8s_nodes.read,
    kueue_topology.KIND: kueue_topology.read,
    slurm_topology_conf.KIND: slurm_topology_conf.read,
    slurm_topology_yaml.KIND: slurm_topology_yaml.read,
    topograph_model.KIND: topograph_model.read,
    topograph_netq.KIND: topograph_netq.read,
}
ONE_NODE = {nccl_topo_xml.KIND: nccl_topo_xml.read, nvidia_smi_topo.KIND: nvidia_smi_topo.read}
KINDS = (*WHOLE, *ONE_NODE)


def read_fleet(kind: str, facts: Mapping[str, Any], *, node: str = "") -> FleetDescription:
    """The fleet in the facts of evidence.

    node: the node that evidence of one node is of. Raises Invalid (unknown_kind; node_needed where such
    evidence comes without a node).
    """
    if kind in WHOLE:
        return WHOLE[kind](facts)
    if kind not in ONE_NODE:
        raise Invalid(
            say("%(kind)s says nothing of a fleet; what does: %(kinds)s", kind=kind, kinds=", ".join(KINDS)),
            code="unknown_kind",
        )
    if not node:
        raise Invalid(
            say("%(kind)s does not name its node; say which it is of", kind=kind), code="node_needed"
        )
    return ONE_NODE[kind](facts, node=node)
