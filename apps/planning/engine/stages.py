"""Stages: which layers each pipeline stage holds, uneven divisions included.

Layers divide evenly where they can. Where they cannot, the last stage gives up room for the logits first and
the rest is spread over the other stages, the first stage light: that is how Megatron-LM is told to lay out
126 or 61 layers. The step is as slow as the heaviest stage.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from apps.catalogue.engine.models import ModelSpec
from apps.planning.engine.layouts import Ints, Layouts


@dataclass(frozen=True, slots=True, kw_only=True)
class StageContent:
    """Layers by kind on one stage of each configuration; MTP layers are counted in their kind too."""

    stage: Ints
    plain_layers: Ints
    moe_layers: Ints
    mtp_layers: Ints
    is_first: Ints
    is_last: Ints

    @property
    def layers(self) -> Ints:
        """Layers of both kinds."""
        return self.plain_layers + self.moe_layers


def logits_in_layers(model: ModelSpec) -> float:
    """Work of the logits, in units of a layer's work."""
    layer = model.moe_layer_matmul_params() if model.is_moe else model.dense_layer_matmul_params()
    return (1 + model.mtp_layers) * model.vocab * model.hidden / layer


def layers_on_last(model: ModelSpec, layouts: Layouts) -> Ints:
    """Layers of the last stage: the even share, less the room the logits need where the division is uneven."""
    total = model.layers + model.mtp_layers
    chunks = layouts.pp * layouts.vpp
    room = -(-total // chunks) * layouts.vpp
    spare = room * layouts.pp - total
    wanted = max(1, round(logits_in_layers(model)))
    given = np.minimum(np.minimum(spare, wanted), room - 1)
    others_have_one = np.maximum(total - (layouts.pp - 1), 1)
    return np.where(layouts.pp == 1, total, np.minimum(room - given, others_have_one))


def _shares(model: ModelSpec, layouts: Layouts) -> tuple[Ints, Ints, Ints]:
    """Layers on all stages but the last, the light share of each, and how many hold one more (stages 1 on)."""
    rest = model.layers + model.mtp_layers - layers_on_last(model, layouts)
    others = np.maximum(layouts.pp - 1, 1)
    return rest, rest // others, rest % others


def first_layer(model: ModelSpec, layouts: Layouts, stage: Ints) -> Ints:
    """Index of the first layer of a stage; for stage p it is the number of layers."""
    rest, light, heavy = _shares(model, layouts)
    inside = light * stage + np.clip(stage - 1, 0, heavy)
    return np.where(stage >= layouts.pp, model.layers + model.mtp_layers, np.minimum(inside, rest))


def content(model: ModelSpec, layouts: Layouts, stage: Ints) -> StageContent:
    """What each configuration holds on the given stage (0-based, one per configuration)."""
    start = first_layer(model, layouts, stage)
    end = first_layer(model, layouts, stage + 1)
    boundary = model.dense_layers if model.is_moe else model.layers + model.mtp_layers
    plain = np.clip(boundary - start, 0, end - start)
    mtp = np.clip(end - np.maximum(start, model.layers), 0, None)
    return StageContent(
        stage=stage,
        plain_layers=plain,
        moe_layers=end - start - plain,
        mtp_layers=mtp,
        is_first=(stage == 0).astype(np.int64),
        is_last=(stage == layouts.pp - 1).astype(np.int64),
    )


def representative_stages(model: ModelSpec, layouts: Layouts) -> list[Ints]:
    """Stages among which the heaviest in memory and in time is found, without looking at all of them.

    From one stage to the next only the count of layers in flight falls, except where the number or the kind
    of layers changes: at stage 1, after the heavy stages, after the dense layers, and at the last stage.
    """
    last = layouts.pp - 1
    _, light, heavy = _shares(model, layouts)
    picked = [np.zeros_like(last), np.minimum(1, last), np.minimum(1 + heavy, last)]
    if model.is_moe and model.dense_layers:
        beyond = model.dense_layers - light
        in_heavy = 1 + beyond // (light + 1)
        after_heavy = 1 + heavy + (beyond - heavy * (light + 1)) // np.maximum(light, 1)
        turning = np.where(beyond < 0, 0, np.where(beyond < heavy * (light + 1), in_heavy, after_heavy))
        picked += [np.minimum(turning, last), np.minimum(turning + 1, last)]
    return [*picked, last]
