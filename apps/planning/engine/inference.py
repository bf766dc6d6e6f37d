"""Inference: resident weights, KV cache, the largest batch and context, and limits of both phases.

Prefill is bound by compute, decode by memory and by the latency of small collectives. All are lower bounds of
time: schedulers and samplers add to them. MTP layers belong to training and are left out.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import ceil

import numpy as np

from apps.catalogue.engine.models import AttentionFlops, ModelSpec
from apps.core.errors import OutOfRange
from apps.core.texts import say
from apps.planning.engine.coefficients import Coefficients, shipped_coefficients
from apps.planning.engine.collectives import all_reduce_s, all_to_all_s, fabric, group
from apps.planning.engine.system import System, rates
from apps.planning.engine.workload import Precision


@dataclass(frozen=True, slots=True, kw_only=True)
class Serving:
    """How a model is served: cards of one replica as tp x pp, with experts over all of them where it has some.

    `weight_bytes` and `kv_bytes` are per element (2 for 16 bit, 1 for fp8, 0.5 for 4 bit).
    """

    tp: int
    pp: int = 1
    weight_bytes: float = 2.0
    kv_bytes: float = 2.0
    precision: Precision = Precision.BF16
    reserve_share: float = 0.10
    expert_parallel: bool = False

    def __post_init__(self) -> None:
        if self.tp < 1 or self.pp < 1 or self.weight_bytes <= 0 or self.kv_bytes <= 0:
            raise OutOfRange(say("sizes of a replica must be at least 1, and bytes above zero"))

    @property
    def cards(self) -> int:
        """Cards of one replica."""
        return self.tp * self.pp


def weights_bytes(params: float, bytes_per_param: float = 2.0) -> float:
    """Bytes of the weights of a model."""
    return params * bytes_per_param


def cards_for(size_bytes: float, card_bytes: float) -> int:
    """Fewest cards whose memory holds so many bytes, without any reserve."""
    if card_bytes <= 0:
        raise OutOfRange(say("a card has memory"))
    return ceil(size_bytes / card_bytes)


def kv_bytes_per_token(model: ModelSpec, kv_bytes: float = 2.0) -> float:
    """Cache of one token over all layers: 2 L k d, or L (rank + rope) with latent attention."""
    return model.layers * model.kv_cache_width * kv_bytes


def kv_bytes_per_request(model: ModelSpec, context: int, kv_bytes: float = 2.0) -> float:
    """Cache of a request of `context` tokens; windowed layers keep their window only."""
    width = model.kv_cache_width * kv_bytes
    whole = (model.layers - model.windowed_layers) * context
    windowed = model.windowed_layers * min(context, model.attention_window or context)
    return width * (whole + windowed)


def free_for_cache_bytes(model: ModelSpec, system: System, serving: Serving) -> float:
    """Bytes of a replica that are left for the cache; negative where the weights do not fit."""
    usable = system.capacity_bytes * (1.0 - serving.reserve_share) * serving.cards
    return usable - weights_bytes(model.total_params(with_mtp=False), serving.weight_bytes)


def largest_batch(model: ModelSpec, system: System, serving: Serving, *, context: int) -> int:
    """Requests of `context` tokens whose cache fits beside the weights of one replica."""
    per_request = kv_bytes_per_request(model, context, serving.kv_bytes) * cache_copies(model, serving)
    return max(0, int(free_for_cache_bytes(model, system, serving) / per_request))


def largest_context(model: ModelSpec, system: System, serving: Serving, *, batch: int) -> int:
    """Tokens per request that fit with `batch` requests, whole layers attending to all of them."""
    if batch < 1:
        raise OutOfRange(say("a batch has at least one request"))
    per_token = kv_bytes_per_token(model, serving.kv_bytes) * cache_copies(model, serving) * batch
    return max(0, int(free_for_cache_bytes(model, system, serving) / per_token))


def cache_copies(model: ModelSpec, serving: Serving) -> float:
    """Copies of the cache over a tensor group: heads are cut until there is one a card, then repeated.

    The latent of MLA serves all heads, so each tensor-parallel rank keeps all of it. Engines that split requests
    instead of heads (data-parallel attention) keep one copy; that is tp 1 here.
    """
    heads = 1 if model.mla else model.kv_heads
    return max(1.0, serving.tp / heads)


def served(model: ModelSpec) -> ModelSpec:
    """The part of a model that serves requests: without the layers that only train (multi-token prediction)."""
    return replace(model, mtp_layers=0)


def touched_experts(model: ModelSpec, tokens: float) -> float:
    """Experts of a layer that at least one of so many tokens meets, routed evenly."""
    return float(model.experts * (1.0 - (1.0 - model.topk / model.experts) ** tokens))


def touched_params(model: ModelSpec, tokens: float) -> float:
    """Parameters that a step over so many tokens reads: all of a dense model, the touched experts of others."""
    everything = float(model.total_params(with_mtp=False))
    if not model.is_moe:
        return everything
    idle = model.experts - touched_experts(model, tokens)
    return everything - idle * model.expert_matmul_params() * model.moe_layers


@dataclass(frozen=True, slots=True, kw_only=True)
class PhaseTime:
    """Seconds of a phase by what binds it: compute and memory run side by side, collectives come on top."""

    compute_s: float
    memory_s: float
    collectives_s: float

    @property
    def total_s(self) -> float:
        """The lower bound."""
        return max(self.compute_s, self.memory_s) + self.collectives_s

    @property
    def bound_by(self) -> str:
        """What takes longest."""
        parts = {"compute": self.compute_s, "memory": self.memory_s, "collectives": self.collectives_s}
        return max(parts, key=lambda name: parts[name])


def prefill(
    model: ModelSpec,
    system: System,
    serving: Serving,
    *,
    prompt: int,
    batch: int = 1,
) -> PhaseTime:
    """Time to the first token: forward pass over the prompt, 2 P_active s and attention at the card's rate."""
    c = shipped_coefficients()
    model = served(model)
    card = rates(system.accelerator, serving.precision, c)
    per_token = 2.0 * (model.matmul_params() - model.vocab * model.hidden)
    pairs = model.attention_pairs(prompt, AttentionFlops.CAUSAL)
    attention = 2.0 * pairs * (model.query_width + model.value_width) * batch
    compute = per_token * prompt * batch / card.matrix_flops + attention / (card.half_flops * c.flash_share)
    read = touched_params(model, float(prompt * batch)) * serving.weight_bytes
    return PhaseTime(
        compute_s=compute / serving.tp,
        memory_s=read / card.memory_bytes_per_s / serving.tp,
        collectives_s=_collectives_s(model, system, serving, tokens=prompt * batch, c=c),
    )


def decode(model: ModelSpec, system: System, serving: Serving, *, context: int, batch: int) -> PhaseTime:
    """Time per output token of a batch: touched weights and the whole cache pass memory once.

    With pipeline stages a token passes all of them in turn, so only tp cards work on it at once.
    """
    if batch < 1 or context < 1:
        raise OutOfRange(say("a batch has at least one request and a context at least one token"))
    c = shipped_coefficients()
    model = served(model)
    card = rates(system.accelerator, serving.precision, c)
    read = touched_params(model, float(batch)) * serving.weight_bytes
    cache = kv_bytes_per_request(model, context, serving.kv_bytes) * batch * cache_copies(model, serving)
    flops = 2.0 * model.matmul_params() * batch
    flops += 2.0 * batch * context * model.layers * (model.query_width + model.value_width)
    return PhaseTime(
        compute_s=flops / card.matrix_flops / serving.tp,
        memory_s=(read + cache) / card.memory_bytes_per_s / serving.tp,
        collectives_s=_collectives_s(model, system, serving, tokens=batch, c=c),
    )


def _collectives_s(
    model: ModelSpec, system: System, serving: Serving, *, tokens: int, c: Coefficients
) -> float:
    """Two all-reduces a layer over the tensor group, or dispatch and combine where experts are spread."""
    net = fabric(system, c)
    one = np.ones(1, dtype=np.int64)
    size = np.array([2.0 * model.hidden * tokens])
    members = group(one * serving.tp, one, net)
    reduce_s = float(all_reduce_s(size, members, net)[0])
    if not (model.is_moe and serving.expert_parallel):
        return 2.0 * model.layers * reduce_s
    shuffle_s = float(all_to_all_s(size * model.topk / serving.tp, members, net)[0])
    return model.layers * reduce_s + model.plain_layers * reduce_s + 2.0 * model.moe_layers * shuffle_s


def balanced_batch(system: System, serving: Serving) -> float:
    """Tokens per step at which reading the weights takes as long as computing with them.

    peak / bandwidth x bytes / 2, with the reachable rates of both.
    """
    card = rates(system.accelerator, serving.precision, shipped_coefficients())
    return card.matrix_flops / card.memory_bytes_per_s * serving.weight_bytes / 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class SplitPools:
    """Separate pools for prefill and decode: replicas of each per unit of traffic, and what their cards do.

    `kv_transfer_s` is the time to move one prompt's cache from a prefill to a decode replica.
    """

    prefill_replicas: int
    decode_replicas: int
    prefill_cards: int
    decode_cards: int
    first_token: PhaseTime
    output_token: PhaseTime
    kv_transfer_s: float


def split_pools(
    model: ModelSpec,
    system: System,
    *,
    prefill_layout: Serving,
    decode_layout: Serving,
    requests_per_s: float,
    prompt: int,
    output: int,
    batch: int,
) -> SplitPools:
    """Pools that carry a traffic of requests with given prompt and output lengths, each at its lower bound.

    Raises OutOfRange where `batch` requests do not fit the memory of a decode replica.
    """
    context = prompt + output
    room = largest_batch(model, system, decode_layout, context=context)
    if batch > room:
        raise OutOfRange(
            say(
                "requests of %(context)s tokens: %(batch)s do not fit, at most %(room)s",
                batch=batch,
                context=context,
                room=room,
            ),
            largest_batch=room,
        )
    first = prefill(model, system, prefill_layout, prompt=prompt)
    token = decode(model, system, decode_layout, context=context, batch=batch)
    prefills = max(1, ceil(requests_per_s * first.total_s - 1e-9))
    decodes = max(1, ceil(requests_per_s * output * token.total_s / batch - 1e-9))
    moved = kv_bytes_per_request(model, prompt, decode_layout.kv_bytes)
    links = min(prefill_layout.cards, decode_layout.cards)
    return SplitPools(
        prefill_replicas=prefills,
        decode_replicas=decodes,
        prefill_cards=prefills * prefill_layout.cards,
        decode_cards=decodes * decode_layout.cards,
        first_token=first,
        output_token=token,
        kv_transfer_s=moved / (system.scale_out_bytes_per_s * links),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class WeightPool:
    """Cards and domains that keep a very large model resident, and the bytes left for the cache."""

    cards: int
    domains: int
    weights_bytes: float
    free_bytes: float


def weight_pool(
    params: float, system: System, *, bytes_per_param: float = 2.0, reserve_share: float = 0.1
) -> WeightPool:
    """The smallest pool of whole domains that holds the weights beside the reserve."""
    size = weights_bytes(params, bytes_per_param)
    usable = system.capacity_bytes * (1.0 - reserve_share)
    if usable <= 0 or params <= 0:
        raise OutOfRange(say("a card must have memory left, and a model parameters"))
    domains = ceil(cards_for(size, usable) / system.domain_size)
    cards = domains * system.domain_size
    return WeightPool(cards=cards, domains=domains, weights_bytes=size, free_bytes=cards * usable - size)
