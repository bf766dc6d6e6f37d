"""NCCL topology hints: a shell file to source on every node, setting the NVLink domain variables by host name.

NCCL_MNNVL_ENABLE=1 makes multi-node NVLink a must, so that a job fails at its start and does not fall back to
the network unseen.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from apps.fleet.engine.description import FleetDescription, Part
from apps.fleet.engine.schedulers.export import Export, carried, domains_as_nodes

FILE_NAME = "nccl-topology.sh"


def write(fleet: FleetDescription) -> Export:
    """Hints for the domains of more than one node; a node alone needs none."""
    lines = [
        "# Source this before starting ranks. Variables that are set already are kept.",
        'case "$(hostname -s)" in',
    ]
    for domain, nodes in domains_as_nodes(fleet).items():
        lines += _case(domain, nodes) if len(nodes) > 1 else []
    lines.append("esac")
    return Export(
        file_name=FILE_NAME,
        text="".join(f"{line}\n" for line in lines),
        says=carried(fleet, Part.NODES, Part.DOMAINS),
    )


def _case(domain: str, nodes: Sequence[str]) -> list[str]:
    hosts = "|".join(shlex.quote(node.split(".", 1)[0]) for node in nodes)
    return [
        f"  {hosts})",
        f"    # domain {domain}",
        '    export NCCL_MNNVL_ENABLE="${NCCL_MNNVL_ENABLE:-1}"',
        '    export NCCL_CUMEM_ENABLE="${NCCL_CUMEM_ENABLE:-1}"',
        "    ;;",
    ]
