"""Rules: which configurations cannot run, and why, for many at once."""

from __future__ import annotations

import numpy as np

from apps.catalogue.engine.models import ModelSpec
from apps.core.texts import say
from apps.planning.engine.layouts import Bools, Layouts, Schedule

# code of a reason -> (pointer of the field to change, what is wrong), in the order in which they are tested
REASONS = {
    "not_above_zero": ("", say("every parallel size and batch must be at least 1")),
    "wrong_card_count": ("dp", say("tp x cp x dp x pp must be the number of accelerators")),
    "batch_not_divisible": ("global_batch", say("global_batch must be a multiple of micro_batch x dp")),
    "heads_not_divisible": ("tp", say("tp must divide the attention heads")),
    "too_many_stages": ("pp", say("there must be at least one layer for each stage and chunk")),
    "chunks_without_pipeline": ("vpp", say("interleaving needs more than one pipeline stage")),
    "sequence_not_divisible": ("cp", say("2 x cp must divide the sequence length")),
    "experts_not_divisible": ("ep", say("ep must divide the experts, and a dense model has ep 1")),
    "expert_group_too_large": ("ep", say("etp x ep must divide tp x cp x dp")),
    "zero_with_pipeline": ("zero", say("ZeRO 2 and 3 do not go with pipeline stages")),
}

# what a search leaves out, but a person may still ask about: frameworks differ, so it is a warning there
UNUSUAL = frozenset({"zero_with_pipeline"})


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
        "too_many_stages": (chunks > room + 2) | (x.pp > room),
        "chunks_without_pipeline": (x.vpp > 1) & ((x.pp == 1) | (x.schedule == Schedule.GPIPE)),
        "sequence_not_divisible": (x.cp > 1) & (seq_len % (2 * x.cp) != 0),
        "experts_not_divisible": np.asarray(experts_bad),
        "expert_group_too_large": (x.tp * x.cp * x.dp) % expert_sizes != 0,
        "zero_with_pipeline": (x.zero >= 2) & (x.pp > 1),
    }


def _made_positive(layouts: Layouts) -> Layouts:
    values = {name: np.maximum(1, getattr(layouts, name)) for name in _SIZES}
    kept = {name: getattr(layouts, name) for name in _REST}
    return Layouts(**values, **kept)


_SIZES = ("tp", "pp", "vpp", "dp", "cp", "ep", "etp", "micro_batch", "global_batch")
_REST = ("recompute", "sequence_parallel", "zero", "schedule", "placement")
