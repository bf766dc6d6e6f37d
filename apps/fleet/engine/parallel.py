"""Parallel groups as Megatron-LM lays ranks out: which ranks talk to each other under TP, CP, EP, DP and PP.

The first dimension of the order varies fastest (tp-cp-ep-dp-pp: neighbours share a TP group). EP takes no
ranks of its own: the world is TP × CP × DP × PP, and the experts divide the same ranks anew as
expert TP × EP × expert DP × PP. Source: the rank generator of Megatron-LM's parallel_state.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from apps.core.errors import FieldError, Invalid
from apps.core.texts import say

DEFAULT_ORDER = "tp-cp-ep-dp-pp"


class Dimension(StrEnum):
    TP = "tp"
    CP = "cp"
    EP = "ep"
    DP = "dp"
    PP = "pp"


@dataclass(frozen=True, slots=True, kw_only=True)
class ParallelSizes:
    """expert_tp: TP inside the experts; None means the same as tp, as Megatron-LM assumes."""

    tp: int = 1
    cp: int = 1
    ep: int = 1
    dp: int = 1
    pp: int = 1
    expert_tp: int | None = None

    @property
    def world(self) -> int:
        return self.tp * self.cp * self.dp * self.pp

    @property
    def inside_experts(self) -> int:
        """TP within the experts."""
        return self.tp if self.expert_tp is None else self.expert_tp

    @property
    def expert_dp(self) -> int:
        """Replicas of each expert; only meaningful where `size_errors` finds nothing."""
        return self.tp * self.cp * self.dp // (self.inside_experts * self.ep)


def size_errors(sizes: ParallelSizes, *, order: str, ranks: int | None = None) -> list[FieldError]:
    """Everything wrong with sizes and order. ranks: how many there are, None where that is not known yet."""
    named = {one.value: getattr(sizes, one.value) for one in Dimension}
    if sizes.expert_tp is not None:
        named["expert_tp"] = sizes.expert_tp
    errors = [
        FieldError(pointer=f"/{name}", message=say("must be 1 or more"), code="too_small")
        for name, size in named.items()
        if size < 1
    ]
    if sorted(order.split("-")) != sorted(one.value for one in Dimension):
        message = say("%(order)s must name tp, cp, ep, dp and pp once each, joined by -", order=f"{order!r}")
        errors.append(FieldError(pointer="/order", message=message, code="bad_order"))
    if errors:
        return errors
    return list(_product_errors(sizes, order, ranks))


def _product_errors(sizes: ParallelSizes, order: str, ranks: int | None) -> Iterator[FieldError]:
    if ranks is not None and ranks != sizes.world:
        yield FieldError(
            pointer="/ranks",
            message=say(
                "TP×CP×DP×PP is %(tp)s×%(cp)s×%(dp)s×%(pp)s = %(world)s, but there are %(ranks)s ranks",
                tp=sizes.tp,
                cp=sizes.cp,
                dp=sizes.dp,
                pp=sizes.pp,
                world=sizes.world,
                ranks=ranks,
            ),
            code="world_mismatch",
        )
    block, experts = sizes.tp * sizes.cp * sizes.dp, sizes.inside_experts * sizes.ep
    if block % experts:
        yield FieldError(
            pointer="/ep",
            message=say(
                "expert TP×EP = %(experts)s must divide TP×CP×DP = %(block)s", experts=experts, block=block
            ),
            code="expert_mismatch",
        )
    elif sizes.pp > 1 and not order.endswith("pp") and sizes.expert_dp != sizes.dp:
        message = say("with experts, pp must be last unless expert DP equals DP")
        yield FieldError(pointer="/order", message=message, code="bad_order")


def groups(
    sizes: ParallelSizes, dimension: Dimension, *, order: str = DEFAULT_ORDER
) -> tuple[tuple[int, ...], ...]:
    """The ranks of each group of one dimension, groups in order of their first rank.

    Raises Invalid where `size_errors` finds something.
    """
    if errors := size_errors(sizes, order=order):
        raise Invalid(say("these parallel sizes do not go together"), code="parallel_sizes", errors=errors)
    if dimension is Dimension.EP:
        counts = {"tp": sizes.inside_experts, "cp": 1, "ep": sizes.ep, "dp": sizes.expert_dp, "pp": sizes.pp}
    else:
        counts = {"tp": sizes.tp, "cp": sizes.cp, "ep": 1, "dp": sizes.dp, "pp": sizes.pp}
    return _groups_along(counts, dimension.value, order.split("-"))


def _groups_along(
    counts: dict[str, int], dimension: str, order: Sequence[str]
) -> tuple[tuple[int, ...], ...]:
    slowest_first = [counts[name] for name in reversed(order)]
    ranks = np.arange(math.prod(slowest_first)).reshape(slowest_first)
    axis = len(order) - 1 - list(order).index(dimension)
    table = np.moveaxis(ranks, axis, -1).reshape(-1, counts[dimension])
    return tuple(sorted(tuple(int(rank) for rank in row) for row in table))
