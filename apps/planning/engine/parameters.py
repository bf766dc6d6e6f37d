"""Parameters that one rank of a stage holds, by how they are sharded."""

from __future__ import annotations

from dataclasses import dataclass

from apps.catalogue.engine.models import ModelSpec
from apps.planning.engine.layouts import Floats, Layouts
from apps.planning.engine.stages import StageContent


@dataclass(frozen=True, slots=True, kw_only=True)
class RankParameters:
    """Parameters on one rank: `dense` is repeated over dp x cp, `experts` over the expert data ranks.

    `largest_layer` is the largest single layer of the stage, as ZeRO-3 gathers it.
    """

    dense: Floats
    experts: Floats
    largest_layer: Floats

    @property
    def total(self) -> Floats:
        """Both kinds."""
        return self.dense + self.experts


def rank_parameters(model: ModelSpec, layouts: Layouts, stage: StageContent) -> RankParameters:
    """Parameters of one rank. Matrices are cut by tp, experts by ep and etp; norms and routers are repeated."""
    attention = model.attention_matmul_params() / layouts.tp
    plain = attention + model.dense_mlp_matmul_params() / layouts.tp + model.layer_vector_params()
    shared = model.shared_expert_matmul_params() / layouts.tp
    moe = attention + shared + model.router_params() + model.layer_vector_params()
    mtp = stage.mtp_layers * (model.mtp_extra_params() / layouts.tp)
    first = stage.is_first * (model.embedding_params() / layouts.tp)
    last = stage.is_last * (output_matrix_params(model, layouts) + model.final_norm_params())
    experts_per_layer = model.experts * model.expert_matmul_params() / (layouts.ep * layouts.etp)
    return RankParameters(
        dense=stage.plain_layers * plain + stage.moe_layers * moe + mtp + first + last,
        experts=stage.moe_layers * experts_per_layer,
        largest_layer=(stage.moe_layers > 0) * (moe + experts_per_layer - plain) + plain,
    )


def output_matrix_params(model: ModelSpec, layouts: Layouts) -> Floats:
    """Output matrix on one rank of the last stage: its own, or a tied copy where the first stage is another."""
    copies = (layouts.pp > 1) * 1 if model.tied_embeddings else 1
    return copies * (model.vocab * model.hidden / layouts.tp)
