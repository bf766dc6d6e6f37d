"""NCCL topology hints: a shell file to source on every node, setting the NVLink domain variables by host name.

NCCL_MNNVL_ENABLE=1 makes multi-node NVLink a must, so that a job fails at its start and does not fall back to
the network unseen. NCCL_MNNVL_CLIQUE_ID cuts a domain into parts that use NVLink only among themselves; it is
set on demand, for sub-domains that hold whole nodes.
"""

from __future__ import annotations

import shlex

from apps.fleet.engine.description import FleetDescription, Part
from apps.fleet.engine.schedulers.export import Export, carried, domains_as_nodes, sub_domains_as_nodes

FILE_NAME = "nccl-topology.sh"


def write(fleet: FleetDescription, *, cut_into_sub_domains: bool = False) -> Export:
    """Hints for the domains of more than one node; a node alone needs none."""
    domains = {name: nodes for name, nodes in domains_as_nodes(fleet).items() if len(nodes) > 1}
    halls, notes = sub_domains_as_nodes(fleet) if cut_into_sub_domains else ({}, ())
    clique = {node: place for place, nodes in enumerate(halls.values()) for node in nodes}
    lines = [
        "# Source this before starting ranks. Variables that are set already are kept.",
        'case "$(hostname -s)" in',
    ]
    for domain, nodes in domains.items():
        for number in dict.fromkeys(clique.get(node) for node in nodes):
            members = [node for node in nodes if clique.get(node) == number]
            lines += _case(domain, members, number)
    lines.append("esac")
    return Export(
        file_name=FILE_NAME,
        text="".join(f"{line}\n" for line in lines),
        says=carried(fleet, Part.NODES, Part.DOMAINS),
        notes=notes,
    )


def _case(domain: str, nodes: list[str], clique: int | None) -> list[str]:
    hosts = "|".join(shlex.quote(node.split(".", 1)[0]) for node in nodes)
    lines = [
        f"  {hosts})",
        f"    # domain {domain}",
        '    export NCCL_MNNVL_ENABLE="${NCCL_MNNVL_ENABLE:-1}"',
        '    export NCCL_CUMEM_ENABLE="${NCCL_CUMEM_ENABLE:-1}"',
    ]
    if clique is not None:
        lines.append(f'    export NCCL_MNNVL_CLIQUE_ID="${{NCCL_MNNVL_CLIQUE_ID:-{clique}}}"')
    return [*lines, "    ;;"]
