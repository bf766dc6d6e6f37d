"""Commands that start a layout with the usual tools, by name."""

from __future__ import annotations

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _l

from apps.planning.engine.estimate import PlanInput
from apps.planning.engine.snippets.deepspeed import deepspeed_json
from apps.planning.engine.snippets.shell import all_reduce_perf, slurm_batch, torchrun


def commands_for(plan: PlanInput, per_node: int) -> list[dict[str, str | Promise]]:
    """torchrun with Megatron-LM's arguments, a Slurm batch, DeepSpeed's JSON, and nccl-tests to run before.

    per_node: accelerators of a host.
    """
    return [
        {
            "key": "torchrun",
            "name": "torchrun + Megatron-LM",
            "text": torchrun(plan, cards_per_node=per_node),
        },
        {"key": "slurm", "name": "Slurm", "text": slurm_batch(plan, cards_per_node=per_node)},
        {"key": "deepspeed", "name": "DeepSpeed", "text": deepspeed_json(plan)},
        {
            "key": "all_reduce_perf",
            "name": _l("all_reduce_perf, to measure before"),
            "text": all_reduce_perf(plan, cards_per_node=per_node),
        },
    ]
