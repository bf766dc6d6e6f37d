"""Rules: which configurations cannot run, and why, for many at once.

Those of `OF_MEGATRON` are checks that Megatron-LM makes at its start: heads, query groups and experts in
core/transformer/transformer_config.py, sequence parallelism with experts in core/model_parallel_config.py, the cut
of a sequence in core/tensor_parallel/mappings.py, of a matrix in core/tensor_parallel/layers.py, and micro-batches
of interleaved chunks in core/pipeline_parallel/schedules.py. It pads the vocabulary, so there is no rule for that.
"""

from __future__ import annotations

import numpy as np

from apps.catalogue.engine.models import ModelSpec
from apps.core.texts import say
from apps.planning.engine.layouts import Bools, Layouts, Schedule
from apps.planning.engine.workload import Framework

SAME_AS_OTHER_PLACEMENT = "same_as_other_placement"  # found by a search once it knows the times

# code of a reason -> (pointer of the field to change, what is wrong), in the order in which they are tested
REASONS = {
    "not_above_zero": ("", say("every parallel size and batch must be at least 1")),
    "wrong_card_count": ("dp", say("tp x cp x dp x pp must be the number of accelerators")),
    "batch_not_divisible": ("global_batch", say("global_batch must be a multiple of micro_batch x dp")),
    "heads_not_divisible": ("tp", say("tp must divide the attention heads")),
    "kv_heads_not_divisible": (
        "tp",
        say("tp must divide the key-value heads, or be a multiple of their number"),
    ),
    "width_not_divisible": (
        "tp",
        say("tp must divide the width of MLPs and of shared experts, and etp that of routed experts"),
    ),
    "too_many_stages": ("pp", say("there must be at least one layer for each stage and chunk")),
    "chunks_without_pipeline": ("vpp", say("interleaving needs more than one pipeline stage")),
    "too_few_micro_batches": (
        "vpp",
        say("interleaving needs at least as many micro-batches as pipeline stages"),
    ),
    "sequence_not_divisible": ("cp", say("2 x cp must divide the sequence length")),
    "sequence_not_divisible_by_tp": (
        "tp",
        say("with sequence parallelism, tp x cp must divide the sequence length"),
    ),
    "experts_not_divisible": ("ep", say("ep must divide the experts, and a dense model has ep 1")),
    "expert_group_too_large": ("ep", say("etp x ep must divide tp x cp x dp")),
    "experts_without_sequence_parallel": (
        "sequence_parallel",
        say("ep and tp above 1 together need sequence parallelism"),
    ),
    "zero_with_pipeline": ("zero", say("ZeRO 2 and 3 do not go with pipeline stages")),
    SAME_AS_OTHER_PLACEMENT: (
        "placement",
        say("both orders of ranks come out the same: one of them is listed"),
    ),
}

# what a search leaves out, but a person may still ask about: frameworks differ, so it is a warning there
UNUSUAL = frozenset({"zero_with_pipeline"})

# what Megatron-LM refuses to start; other frameworks may cut unevenly, so it is a warning with them
OF_MEGATRON = frozenset(
    {
        "kv_heads_not_divisible",
        "width_not_divisible",
        "too_few_micro_batches",
        "sequence_not_divisible_by_tp",
        "experts_without_sequence_parallel",
    }
)


def only_warned(framework: Framework) -> frozenset[str]:
    """Reasons that do not keep a person's plan from being estimated with a framework."""
    return UNUSUAL if framework is Framework.MEGATRON else UNUSUAL | OF_MEGATRON


def rejected_with(framework: Framework) -> frozenset[str]:
    """Reasons for which a search with a framework rejects."""
    return frozenset(REASONS) if framework is Framework.MEGATRON else frozenset(REASONS) - OF_MEGATRON


def violations(model: ModelSpec, layouts: Layouts, *, accelerators: int, seq_len: int) -> dict[str, Bools]:
    """For each reason the configurations that it forbids; a configuration may have several."""
    x = layouts
    sizes = (x.tp, x.pp, x.vpp, x.dp, x.cp, x.ep, x.etp, x.micro_batch, x.global_batch)
    positive = np.logical_and.reduce([size >= 1 for size in sizes])
    safe = layouts if positive.all() else _made_positive(layouts)
    x = safe
    expert_sizes = x.ep * x.etp
    chunks = x.pp * x.vpp
    room = model.layers + model.mtp_layers
    dense_only = (x.ep > 1) | (x.etp > 1)
    experts_bad = (model.experts % x.ep != 0) if model.is_moe else dense_only
    return {
        "not_above_zero": ~positive,
        "wrong_card_count": x.accelerators != accelerators,
        "batch_not_divisible": x.global_batch % (x.micro_batch * x.dp) != 0,
        "heads_not_divisible": np.asarray(model.heads % x.tp != 0),
        "kv_heads_not_divisible": _kv_heads_bad(model, x),
        "width_not_divisible": _width_bad(model, x),
        "too_many_stages": (chunks > room + 2) | (x.pp > room),
        "chunks_without_pipeline": (x.vpp > 1) & ((x.pp == 1) | (x.schedule == Schedule.GPIPE)),
        "too_few_micro_batches": (x.vpp > 1) & (x.micro_batches < x.pp),
        "sequence_not_divisible": (x.cp > 1) & (seq_len % (2 * x.cp) != 0),
        "sequence_not_divisible_by_tp": x.sequence_parallel & (seq_len % (x.cp * x.tp) != 0),
        "experts_not_divisible": np.asarray(experts_bad),
        "expert_group_too_large": (x.tp * x.cp * x.dp) % expert_sizes != 0,
        "experts_without_sequence_parallel": (x.ep > 1) & (x.tp > 1) & ~x.sequence_parallel,
        "zero_with_pipeline": (x.zero >= 2) & (x.pp > 1),
    }


def _kv_heads_bad(model: ModelSpec, layouts: Layouts) -> Bools:
    """Each rank holds whole key-value heads, or several ranks share one; the latent of MLA has no heads."""
    if model.mla is not None:
        return np.zeros(len(layouts), dtype=np.bool_)
    return np.asarray((model.kv_heads % layouts.tp != 0) & (layouts.tp % model.kv_heads != 0))


def _width_bad(model: ModelSpec, layouts: Layouts) -> Bools:
    """Matrices of MLPs are cut evenly."""
    dense = model.ffn_hidden if model.plain_layers else 0
    by_tp = (dense % layouts.tp != 0) | (model.shared_expert_ffn_hidden % layouts.tp != 0)
    return np.asarray(by_tp | (model.expert_ffn_hidden % layouts.etp != 0))


def _made_positive(layouts: Layouts) -> Layouts:
    values = {name: np.maximum(1, getattr(layouts, name)) for name in _SIZES}
    kept = {name: getattr(layouts, name) for name in _REST}
    return Layouts(**values, **kept)


_SIZES = ("tp", "pp", "vpp", "dp", "cp", "ep", "etp", "micro_batch", "global_batch")
_REST = ("recompute", "sequence_parallel", "zero", "schedule", "placement")
