"""Traffic inside a layer: tensor-, context- and expert-parallel seconds per layer and micro-batch."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from apps.planning.engine.collectives import Fabric, Group, all_reduce_s, all_to_all_s, group, send_s
from apps.planning.engine.gemm import HALF
from apps.planning.engine.layer_time import Kernels
from apps.planning.engine.layouts import Floats, Ints, Recompute, strides

ALL_REDUCES_PER_BLOCK = 2.0  # one forward, one backward, for attention and for the MLP each


@dataclass(frozen=True, slots=True, kw_only=True)
class LayerTraffic:
    """Seconds of traffic of one layer before any overlap: forward and backward together."""

    tp_attention: Floats
    tp_mlp: Floats
    cp: Floats
    ep: Floats


def layer_traffic(kernels: Kernels, net: Fabric) -> LayerTraffic:
    """Traffic of one layer.

    Tensor parallelism: an all-reduce of 2 s b h bytes after attention and after the MLP, each way, once more
    where layers are computed again; with sequence parallelism the same volume as gathers and scatters.
    """
    layouts, model, workload = kernels.layouts, kernels.model, kernels.workload
    again = np.where(layouts.recompute == Recompute.FULL, 1.0, 0.0)
    members = group(layouts.tp, np.ones_like(layouts.tp), net)
    size = HALF * model.hidden * kernels.tokens
    reduce_s = all_reduce_s(size, members, net, in_network=workload.in_network_reduction)
    per_block = (ALL_REDUCES_PER_BLOCK + again) * reduce_s
    return LayerTraffic(
        tp_attention=per_block,
        tp_mlp=per_block,
        cp=_ring_s(kernels, net) * (3.0 + again),
        ep=_expert_s(kernels, net) * (2.0 + again),
    )


def _ring_s(kernels: Kernels, net: Fabric) -> Floats:
    """Forward ring of context parallelism: c - 1 steps, each passing the keys and values of one block."""
    layouts = kernels.layouts
    block = HALF * kernels.model.kv_width / layouts.tp * kernels.tokens
    step = send_s(block, _widest_step(group(layouts.cp, layouts.tp, net), net), net) - net.start_s
    return np.where(layouts.cp > 1, (layouts.cp - 1) * step, 0.0)


def _widest_step(members: Group, net: Fabric) -> Ints:
    """How far the slowest message between neighbours of a group goes, in ranks: a chain waits for its slowest link,
    so one that leaves its domain anywhere goes at the speed of the network."""
    crosses = np.where(members.sub_domains > 1, net.sub_domain_size, 0)
    return np.where(members.domains > 1, net.domain_size, crosses)


def _expert_s(kernels: Kernels, net: Fabric) -> Floats:
    """Dispatch and combine of one forward pass: two all-to-all of each token.

    A token goes once to each rank that holds some of its topk experts: e (1 - (1 - 1/e)^topk) of e ranks, and
    crosses into each domain once.
    """
    layouts, model, workload = kernels.layouts, kernels.model, kernels.workload
    members = group(layouts.ep, layouts.etp, net)
    ranks = layouts.ep.astype(np.float64)
    distinct = ranks * (1.0 - (1.0 - 1.0 / ranks) ** model.topk)
    copies = distinct * workload.imbalance * kernels.tokens / layouts.token_shards
    size = HALF * model.hidden * copies
    domains = np.maximum(members.domains, 2).astype(np.float64)
    met = (domains - 1) * (1.0 - (1.0 - 1.0 / domains) ** model.topk)
    if workload.routed_domains is not None:
        met = np.minimum(met, float(workload.routed_domains))
    sent = np.maximum(distinct, 1.0) * (domains - 1) / domains
    return 2.0 * all_to_all_s(size, members, net, domain_share=np.minimum(1.0, met / sent))


def stage_send_s(kernels: Kernels, net: Fabric) -> Floats:
    """Passing one micro-batch to the next stage: 2 s b h bytes, a share of it per rank of the tensor group."""
    layouts = kernels.layouts
    size = HALF * kernels.model.hidden * kernels.tokens / layouts.tp
    members = group(layouts.pp, strides(layouts)[2], net)
    return np.where(layouts.pp > 1, send_s(size, _widest_step(members, net), net), 0.0)
