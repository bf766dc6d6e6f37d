"""Data-parallel traffic: gradients and gathered weights per step, and the part that stays exposed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from apps.catalogue.engine.models import ModelSpec
from apps.planning.engine.coefficients import Coefficients
from apps.planning.engine.collectives import Fabric, Group, all_reduce_s, gather_s, group
from apps.planning.engine.layouts import Floats, Layouts, strides
from apps.planning.engine.parameters import RankParameters
from apps.planning.engine.states import WEIGHT_BYTES
from apps.planning.engine.workload import Workload


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """Compute of one micro-batch on a stage, seconds forward and backward."""

    forward: Floats
    backward: Floats


@dataclass(frozen=True, slots=True, kw_only=True)
class DataTraffic:
    """Seconds per step: all of it, and what is not hidden behind compute (with the slowdown it causes)."""

    total: Floats
    exposed: Floats


def data_groups(layouts: Layouts, net: Fabric) -> tuple[Group, Group]:
    """Groups of ranks that hold the same dense parameters, and the same experts."""
    _, stride, _ = strides(layouts)
    inner = np.where(layouts.cp > 1, layouts.tp, stride)
    dense = group(layouts.data_ranks, inner, net)
    experts = group(layouts.expert_data_ranks, layouts.etp * layouts.ep, net)
    return dense, experts


def data_traffic(
    model: ModelSpec,
    workload: Workload,
    layouts: Layouts,
    parameters: RankParameters,
    window: Window,
    net: Fabric,
    coefficients: Coefficients,
) -> DataTraffic:
    """Traffic of the stage whose parameters are given.

    ZeRO 0: one all-reduce of the gradients. ZeRO 1: reduce-scatter of gradients and all-gather of weights once
    per step. ZeRO 2: gradients are scattered after each micro-batch. ZeRO 3: weights are gathered for each
    forward and backward pass of each micro-batch as well.
    """
    dense, experts = data_groups(layouts, net)
    sent = workload.sent_gradient_bytes

    def summed(per_param: float) -> Floats:
        whole = all_reduce_s(per_param * parameters.dense, dense, net)
        part = all_reduce_s(per_param * parameters.experts, experts, net) if model.is_moe else 0.0
        return whole + part

    def gathered(per_param: float) -> Floats:
        whole = gather_s(per_param * parameters.dense, dense, net)
        part = gather_s(per_param * parameters.experts, experts, net) if model.is_moe else 0.0
        return whole + part

    zero = layouts.zero
    m = layouts.micro_batches.astype(np.float64)
    scatter, fetch = gathered(sent), gathered(WEIGHT_BYTES)
    backward = np.where(zero == 0, summed(sent), scatter)
    forward = np.where(zero == 0, 0.0, fetch)
    repeats_backward = np.where(zero >= 2, m, 1.0)
    repeats_forward = np.where(zero == 3, m, 1.0)
    backward = backward + np.where(zero == 3, fetch, 0.0)
    total = repeats_backward * backward + repeats_forward * forward
    reach = _reach(layouts)
    exposed = repeats_backward * _exposed(backward, window.backward * reach, workload, coefficients)
    exposed = exposed + repeats_forward * _exposed(forward, window.forward * reach, workload, coefficients)
    return DataTraffic(total=total, exposed=exposed)


def _reach(layouts: Layouts) -> Floats:
    """How many micro-batches of compute lie between the first finished gradient and the end of the step.

    Without interleaving only the last micro-batch; with v chunks the first chunk is done about p micro-batches
    of the others earlier.
    """
    v = layouts.vpp.astype(np.float64)
    steps = np.minimum(layouts.pp, layouts.micro_batches)
    return 1.0 / v + (v - 1.0) / v * steps


def _exposed(traffic: Floats, window: Floats, workload: Workload, coefficients: Coefficients) -> Floats:
    if not workload.overlap_dp:
        return traffic
    hidden = np.minimum(traffic, coefficients.dp_hidden_share * window)
    return traffic - hidden + coefficients.window_slowdown * hidden
