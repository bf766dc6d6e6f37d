"""Shell: torchrun, mpirun all_reduce_perf and a Slurm batch script for a plan."""

from __future__ import annotations

from math import ceil

from apps.planning.engine.estimate import PlanInput
from apps.planning.engine.snippets.megatron import megatron_arguments
from apps.planning.engine.snippets.options import Option, command_line, require_known

MASTER_PORT = 29500


def nodes_of(plan: PlanInput, cards_per_node: int) -> int:
    """Hosts that the plan needs."""
    return ceil(plan.system.accelerators / cards_per_node)


def torchrun(plan: PlanInput, *, cards_per_node: int) -> str:
    """torchrun on each host. The node rank differs per host, so it is a variable that each host sets."""
    nodes = nodes_of(plan, cards_per_node)
    options = (
        Option(name="--nnodes", value=str(nodes)),
        Option(name="--nproc-per-node", value=str(min(cards_per_node, plan.system.accelerators))),
        Option(name="--node-rank", value='"$NODE_RANK"'),
        Option(name="--master-addr", value='"$MASTER_ADDR"'),
        Option(name="--master-port", value=str(MASTER_PORT)),
    )
    return command_line("torchrun", "torchrun", options, f"pretrain_gpt.py \\\n{megatron_arguments(plan)}")


def all_reduce_perf(plan: PlanInput, *, cards_per_node: int) -> str:
    """mpirun of nccl-tests over all cards, one process a card."""
    perf = (
        Option(name="-b", value="8"),
        Option(name="-e", value="8G"),
        Option(name="-f", value="2"),
        Option(name="-g", value="1"),
    )
    require_known("all_reduce_perf", [option.name for option in perf])
    options = (
        Option(name="-np", value=str(plan.system.accelerators)),
        Option(name="-N", value=str(min(cards_per_node, plan.system.accelerators))),
        Option(name="--bind-to", value="none"),
        Option(name="-x", value="NCCL_DEBUG=WARN"),
    )
    arguments = " ".join(option.text for option in perf)
    return command_line("mpirun", "mpirun", options, f"all_reduce_perf {arguments}")


def slurm_batch(plan: PlanInput, *, cards_per_node: int) -> str:
    """A batch script: whole hosts, one task a host, torchrun in each with its own node rank.

    `--segment` keeps groups of hosts in one domain where the topology plugin knows blocks.
    """
    nodes = nodes_of(plan, cards_per_node)
    segment = max(1, min(nodes, plan.system.domain_size // cards_per_node))
    options = [
        Option(name="--job-name", value="train"),
        Option(name="--nodes", value=str(nodes)),
        Option(name="--ntasks-per-node", value="1"),
        Option(name="--gpus-per-node", value=str(min(cards_per_node, plan.system.accelerators))),
        Option(name="--exclusive"),
    ]
    if segment > 1 and nodes % segment == 0:
        options.append(Option(name="--segment", value=str(segment)))
    require_known("sbatch", [option.name for option in options])
    header = [f"#SBATCH {o.name}" + ("" if o.value is None else f"={o.value}") for o in options]
    launch = torchrun(plan, cards_per_node=cards_per_node)
    quoted = launch.replace("'", "'\\''")
    return "\n".join(
        [
            "#!/bin/bash",
            *header,
            'MASTER_ADDR=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)',
            "export MASTER_ADDR",
            "srun bash -c 'export NODE_RANK=$SLURM_NODEID",
            f"{quoted}'",
            "",
        ]
    )
