"""Step time: one training step from its parts; the parts add up to the whole."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from apps.catalogue.engine.models import ModelSpec
from apps.planning.engine.coefficients import Coefficients
from apps.planning.engine.collectives import Fabric, fabric
from apps.planning.engine.data_comm import Window, data_traffic
from apps.planning.engine.group_comm import LayerTraffic, layer_traffic, stage_send_s
from apps.planning.engine.layer_time import Kernels, PassTime, logits_s, moe_layer, plain_layer
from apps.planning.engine.layouts import Floats, Layouts, Recompute
from apps.planning.engine.parameters import RankParameters, rank_parameters
from apps.planning.engine.pipeline import bubble_micro_batches
from apps.planning.engine.stages import StageContent, content, representative_stages
from apps.planning.engine.system import Rates, System, rates
from apps.planning.engine.workload import Workload

HOST_CARDS = 8  # cards that one host starts together, for stragglers
OPTIMIZER_TRAFFIC = 30.0  # bytes per parameter: read gradient, master, moments; write them and the weight


@dataclass(frozen=True, slots=True, kw_only=True)
class StepTime:
    """Seconds of one step; all parts but `traffic` (communication before overlap) add up to `total`."""

    compute: Floats
    tp: Floats
    cp: Floats
    ep: Floats
    pp: Floats
    dp: Floats
    bubble: Floats
    optimizer: Floats
    other: Floats
    traffic: Floats

    @property
    def exposed_communication(self) -> Floats:
        """Communication that is not hidden behind compute."""
        return self.tp + self.cp + self.ep + self.pp + self.dp

    @property
    def total(self) -> Floats:
        """The whole step."""
        return self.compute + self.exposed_communication + self.bubble + self.optimizer + self.other


@dataclass(frozen=True, slots=True, kw_only=True)
class LayerStep:
    """One layer for one micro-batch: compute forward and backward, and exposed traffic."""

    forward: Floats
    backward: Floats
    tp: Floats
    cp: Floats
    ep: Floats

    @property
    def total(self) -> Floats:
        """All of it."""
        return self.forward + self.backward + self.tp + self.cp + self.ep


def step_time(
    model: ModelSpec, system: System, workload: Workload, layouts: Layouts, coefficients: Coefficients
) -> StepTime:
    """Time of one step of each configuration."""
    card = rates(system.accelerator, workload.precision, coefficients)
    net = fabric(system, coefficients)
    kernels = Kernels(model=model, workload=workload, layouts=layouts, rates=card, coefficients=coefficients)
    traffic = layer_traffic(kernels, net)
    scale = system.measured.compute_scale or 1.0
    plain = _layer_step(kernels, plain_layer(kernels), traffic, traffic.tp_mlp, 0.0, scale)
    if model.is_moe:
        shared = traffic.tp_mlp if model.shared_expert_ffn_hidden else 0.0
        moe = _layer_step(kernels, moe_layer(kernels), traffic, shared, traffic.ep, scale)
    else:
        moe = plain
    return _assemble(kernels, system, net, plain, moe, traffic)


def _layer_step(
    kernels: Kernels,
    passes: PassTime,
    traffic: LayerTraffic,
    tp_mlp: Floats | float,
    ep: Floats | float,
    scale: float,
) -> LayerStep:
    """Add recomputation, hide what overlaps, and let the slower of device and host set the pace."""
    c, workload, layouts = kernels.coefficients, kernels.workload, kernels.layouts
    again = np.where(layouts.recompute == Recompute.FULL, passes.forward, 0.0)
    again = again + np.where(layouts.recompute == Recompute.SELECTIVE, passes.core, 0.0)
    forward, backward = passes.forward * scale, (passes.backward + again) * scale
    compute = forward + backward
    tp = (traffic.tp_attention + tp_mlp) * (1.0 - c.tp_hidden_share if workload.overlap_tp else 1.0)
    ring_window = c.cp_hidden_share * 3.0 * passes.core if workload.overlap_cp else 0.0
    cp = np.maximum(0.0, traffic.cp - ring_window)
    ep_hidden = np.minimum(ep, c.ep_hidden_share * compute) if workload.overlap_ep else 0.0
    exposed_ep = ep - ep_hidden * (1.0 - c.window_slowdown)
    rounds = np.where(layouts.recompute == Recompute.FULL, 4.0, 3.0)
    host = rounds * passes.host_forward
    device = compute + tp + cp + exposed_ep
    stall = _smooth_excess(device, host)
    return LayerStep(
        forward=forward + stall / rounds,
        backward=backward + stall * (1.0 - 1.0 / rounds),
        tp=tp,
        cp=cp,
        ep=exposed_ep + np.zeros(len(layouts)),
    )


def _smooth_excess(device: Floats, host: Floats | float) -> Floats:
    """How much longer max(device, host) is than the device's time, rounded at the corner (fourth power)."""
    return np.sqrt(np.sqrt(device**4 + host**4)) - device


@dataclass(frozen=True, slots=True, kw_only=True)
class _StageStep:
    """One micro-batch on one stage."""

    compute: Floats
    tp: Floats
    cp: Floats
    ep: Floats

    @property
    def total(self) -> Floats:
        return self.compute + self.tp + self.cp + self.ep


def _stage_step(held: StageContent, plain: LayerStep, moe: LayerStep, ends: PassTime) -> _StageStep:
    logits = held.is_last * (ends.forward + ends.backward)
    return _StageStep(
        compute=held.plain_layers * (plain.forward + plain.backward)
        + held.moe_layers * (moe.forward + moe.backward)
        + logits,
        tp=held.plain_layers * plain.tp + held.moe_layers * moe.tp,
        cp=held.plain_layers * plain.cp + held.moe_layers * moe.cp,
        ep=held.moe_layers * moe.ep,
    )


def _slowest(kernels: Kernels, plain: LayerStep, moe: LayerStep, ends: PassTime) -> _StageStep:
    """The stage that takes longest for a micro-batch."""
    slowest: _StageStep | None = None
    for stage in representative_stages(kernels.model, kernels.layouts):
        step = _stage_step(content(kernels.model, kernels.layouts, stage), plain, moe, ends)
        if slowest is None:
            slowest = step
            continue
        later = step.total > slowest.total
        slowest = _StageStep(
            compute=np.where(later, step.compute, slowest.compute),
            tp=np.where(later, step.tp, slowest.tp),
            cp=np.where(later, step.cp, slowest.cp),
            ep=np.where(later, step.ep, slowest.ep),
        )
    assert slowest is not None
    return slowest


def _assemble(
    kernels: Kernels, system: System, net: Fabric, plain: LayerStep, moe: LayerStep, traffic: LayerTraffic
) -> StepTime:
    model, workload, layouts, c = kernels.model, kernels.workload, kernels.layouts, kernels.coefficients
    ends = logits_s(kernels)
    slow = _slowest(kernels, plain, moe, ends)
    m = layouts.micro_batches.astype(np.float64)
    moe_count = model.moe_layers + (model.mtp_layers if model.is_moe else 0)
    plain_count = model.layers + model.mtp_layers - moe_count
    whole = plain_count * plain.total + moe_count * moe.total + ends.forward + ends.backward
    bubble = bubble_micro_batches(layouts) * whole / layouts.pp
    first = content(model, layouts, np.zeros_like(layouts.pp))
    parameters = rank_parameters(model, layouts, first)
    window = Window(
        forward=first.plain_layers * plain.forward + first.moe_layers * moe.forward,
        backward=first.plain_layers * plain.backward + first.moe_layers * moe.backward,
    )
    data = data_traffic(model, workload, layouts, parameters, window, net, c)
    send = stage_send_s(kernels, net)
    messages = layouts.vpp * m + 2.0 * (layouts.pp - 1)  # both directions at once, but for fill and drain
    hides = workload.overlap_pp & (layouts.vpp > 1)
    pp = messages * send * np.where(hides, 1.0 - c.pp_hidden_share, 1.0)
    optimizer = _optimizer_s(parameters, layouts, kernels.rates)
    parts = m * slow.total + bubble + pp + data.exposed + optimizer
    hosts = np.maximum(1.0, layouts.accelerators / HOST_CARDS)
    other = c.step_fixed_s + parts * c.jitter_per_doubling * np.log2(hosts)
    layers_on_first = first.layers
    inside = (
        layers_on_first * (traffic.tp_attention + traffic.tp_mlp + traffic.cp) + first.moe_layers * traffic.ep
    )
    s = system.measured.step_scale or 1.0
    return StepTime(
        compute=s * m * slow.compute,
        tp=s * m * slow.tp,
        cp=s * m * slow.cp,
        ep=s * m * slow.ep,
        pp=s * pp,
        dp=s * data.exposed,
        bubble=s * bubble,
        optimizer=s * optimizer,
        other=s * other,
        traffic=s * (m * inside + messages * send + data.total),
    )


def _optimizer_s(parameters: RankParameters, layouts: Layouts, card: Rates) -> Floats:
    """Adam on the parameters that this rank updates: memory-bound."""
    dense = parameters.dense / np.where(layouts.zero >= 1, layouts.data_ranks, 1)
    experts = parameters.experts / np.where(layouts.zero >= 1, layouts.expert_data_ranks, 1)
    return OPTIMIZER_TRAFFIC * (dense + experts) / card.memory_bytes_per_s
