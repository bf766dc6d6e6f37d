"""Layouts: many parallel configurations at once, as one array per parameter, and how layers fall on stages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from enum import IntEnum
from typing import Any, Self

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]


class Recompute(IntEnum):
    """What is computed again in the backward pass instead of being kept."""

    NONE = 0
    SELECTIVE = 1  # the attention core
    FULL = 2  # every layer


class Schedule(IntEnum):
    """Order of forward and backward passes in a pipeline."""

    GPIPE = 0
    ONE_F_ONE_B = 1
    INTERLEAVED = 2
    ZERO_BUBBLE = 3


class Placement(IntEnum):
    """Order in which ranks are numbered, fastest first."""

    TP_CP_DP_PP = 0  # Megatron-LM's default: pipeline stages furthest apart
    TP_CP_PP_DP = 1  # replicas furthest apart


# words for the values of the enumerations above, in their order
WORDS = {
    "recompute": ("none", "selective", "full"),
    "schedule": ("gpipe", "1f1b", "interleaved", "zero_bubble"),
    "placement": ("tp-cp-dp-pp", "tp-cp-pp-dp"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Layouts:
    """Parallel configurations, one per index; every array has the same length.

    `accelerators` is per configuration tp x cp x dp x pp. `recompute`, `schedule` and `placement` hold the
    values of their enumerations, `zero` is 0 to 3.
    """

    tp: Ints
    pp: Ints
    vpp: Ints
    dp: Ints
    cp: Ints
    ep: Ints
    etp: Ints
    micro_batch: Ints
    global_batch: Ints
    recompute: Ints
    sequence_parallel: Bools
    zero: Ints
    schedule: Ints
    placement: Ints

    @classmethod
    def single(cls, **values: int | bool) -> Self:
        """One configuration as arrays of length one."""
        return cls.of({name: np.atleast_1d(np.asarray(value)) for name, value in values.items()})

    @classmethod
    def of(cls, columns: Mapping[str, npt.NDArray[Any]]) -> Self:
        """Configurations from one column per field, all of one length."""
        typed: dict[str, Any] = {
            f.name: columns[f.name].astype(np.bool_ if f.name == "sequence_parallel" else np.int64)
            for f in fields(cls)
        }
        return cls(**typed)

    @classmethod
    def none(cls) -> Self:
        """No configuration at all."""
        return cls.of({f.name: np.zeros(0, dtype=np.int64) for f in fields(cls)})

    @classmethod
    def joined(cls, parts: Sequence[Self]) -> Self:
        """Several sets of configurations, one after the other."""
        return cls.of({f.name: np.concatenate([getattr(p, f.name) for p in parts]) for f in fields(cls)})

    def take(self, index: npt.NDArray[np.int64] | npt.NDArray[np.bool_]) -> Self:
        """The configurations at these positions."""
        return replace(self, **{f.name: getattr(self, f.name)[index] for f in fields(self)})

    def row(self, position: int) -> dict[str, int | bool]:
        """One configuration as plain values."""
        return {f.name: getattr(self, f.name)[position].item() for f in fields(self)}

    def named(self, position: int) -> dict[str, int | bool | str]:
        """One configuration as a plan states it, with words for codes."""
        row = self.row(position)
        return row | {name: words[row[name]] for name, words in WORDS.items()}

    def __len__(self) -> int:
        return len(self.tp)

    @property
    def accelerators(self) -> Ints:
        """Cards of each configuration."""
        return self.tp * self.cp * self.dp * self.pp

    @property
    def micro_batches(self) -> Ints:
        """Micro-batches that one replica works through in a step."""
        return self.global_batch // (self.micro_batch * self.dp)

    @property
    def data_ranks(self) -> Ints:
        """Ranks that hold the same dense parameters: data- and context-parallel together."""
        return self.dp * self.cp

    @property
    def expert_data_ranks(self) -> Ints:
        """Ranks that hold the same experts: N / (etp x ep x pp)."""
        return np.maximum(1, self.accelerators // (self.etp * self.ep * self.pp))

    @property
    def token_shards(self) -> Ints:
        """How often a sequence is cut outside of matrices: by tp where sequence parallelism is on."""
        return np.where(self.sequence_parallel, self.tp, 1)


def strides(layouts: Layouts) -> tuple[Ints, Ints, Ints]:
    """Distance in ranks between neighbours of the context, data and pipeline groups."""
    inner = layouts.tp * layouts.cp
    pipeline_first = layouts.placement == Placement.TP_CP_PP_DP
    data = np.where(pipeline_first, inner * layouts.pp, inner)
    pipeline = np.where(pipeline_first, inner, inner * layouts.dp)
    return layouts.tp, data, pipeline
