"""Inference: what a pool keeps resident, how many requests fit, and the limits of both phases."""

from __future__ import annotations

from django import forms
from django.utils.translation import gettext_lazy as _l

from apps.catalogue.engine.models import ModelSpec
from apps.planning.engine import inference as engine
from apps.planning.engine.inference import PhaseTime, Serving
from apps.planning.engine.system import System
from apps.planning.engine.workload import Precision
from apps.planning.studies import fields as f
from apps.planning.studies.base import Result, Study, Values
from apps.planning.studies.hardware import (
    HARDWARE_START,
    HardwareFields,
    card_assumptions,
    domain_rows,
    model_from,
    peak_of,
    system_from,
)
from apps.planning.studies.inference_shown import show

WEIGHT_BYTES = {"bf16": 2.0, "fp8": 1.0, "fp4": 0.5}
KV_BYTES = {"bf16": 2.0, "fp8": 1.0}
MOST_CONTEXT = 10_000_000


class InferenceForm(HardwareFields):
    """A model, how it is served, the traffic, and a pool for very large models."""

    start = HARDWARE_START | {
        "model": "deepseek-v3", "weights": "fp8", "kv": "bf16", "precision": "bf16", "reserve_percent": 10,
        "prefill_tp": 8, "decode_tp": 32, "decode_pp": 1, "expert_parallel": True, "prompt": 4096, "output": 1024,
        "batch": 128, "requests_per_s": 20, "pool_params_trillion": 10, "pool_weights": "bf16",
    }  # fmt: skip
    groups = (
        (_l("Model"), ("model", "weights", "kv", "precision", "reserve_percent")),
        (_l("Hardware"), ("accelerator", "catalogue", "domain_size", "scale_up_gb_s", "scale_out_gb_s")),
        (_l("Layouts"), ("prefill_tp", "decode_tp", "decode_pp", "expert_parallel")),
        (_l("Traffic"), ("prompt", "output", "batch", "requests_per_s")),
        (_l("Pool for a very large model"), ("pool_params_trillion", "pool_weights")),
    )

    model = f.ModelField(label=_l("Model"))
    weights = forms.ChoiceField(choices=[(one, one) for one in WEIGHT_BYTES], label=_l("Weights kept as"))
    kv = forms.ChoiceField(choices=[(one, one) for one in KV_BYTES], label=_l("Cache kept as"))
    precision = f.precision()
    reserve_percent = f.percent(_l("Memory kept free"), most=90)
    prefill_tp = f.whole(_l("Tensor size of a prefill replica"), most=1024)
    decode_tp = f.whole(_l("Tensor size of a decode replica"), most=1024)
    decode_pp = f.whole(_l("Pipeline stages of a decode replica"), most=128)
    expert_parallel = f.flag(_l("Experts lie over all cards of a replica"))
    prompt = f.whole(_l("Prompt, tokens"), most=MOST_CONTEXT)
    output = f.whole(_l("Output, tokens"), most=MOST_CONTEXT)
    batch = f.whole(_l("Requests at once on a decode replica"), most=100_000)
    requests_per_s = f.number(_l("Requests per second"), least=1e-6, most=1e6)
    pool_params_trillion = f.number(_l("Parameters, trillions"), least=1e-3, most=1e4)
    pool_weights = forms.ChoiceField(
        choices=[(one, one) for one in WEIGHT_BYTES], label=_l("Its weights kept as")
    )


def compute(values: Values) -> Result:
    """Memory, limits of both phases, pools of both, and the pool of a very large model, as JSON values."""
    model = model_from(values["model"])
    peak_of(values)
    system, assumed = system_from(values, accelerators=values["domain_size"])
    decode_layout = _serving(values, tp=values["decode_tp"], pp=values["decode_pp"])
    prefill_layout = _serving(values, tp=values["prefill_tp"], pp=1)
    context, batch = values["prompt"] + values["output"], values["batch"]
    free = engine.free_for_cache_bytes(model, system, decode_layout)
    most = engine.largest_batch(model, system, decode_layout, context=context)
    return {
        "weights_bytes": engine.weights_bytes(
            model.total_params(with_mtp=False), WEIGHT_BYTES[values["weights"]]
        ),
        "free_bytes": free,
        "prefill_free_bytes": engine.free_for_cache_bytes(model, system, prefill_layout),
        "kv_bytes_per_token": engine.kv_bytes_per_token(model, KV_BYTES[values["kv"]]),
        "kv_bytes_per_request": engine.kv_bytes_per_request(model, context, KV_BYTES[values["kv"]]),
        "cache_copies": engine.cache_copies(model, decode_layout),
        "largest_batch": most,
        "largest_context": engine.largest_context(model, system, decode_layout, batch=batch),
        "balanced_batch": engine.balanced_batch(system, decode_layout),
        "first_token": _phase(engine.prefill(model, system, prefill_layout, prompt=values["prompt"])),
        "output_token": _phase(engine.decode(model, system, decode_layout, context=context, batch=batch)),
        "batch_fits": batch <= most,
        "pools": _pools(values, model, system, prefill_layout, decode_layout) if batch <= most else None,
        "sweep": _sweep(model, system, decode_layout, context=context, most=most),
        "large_pool": _large_pool(values, system),
        "warnings": domain_rows(values, accelerators=values["domain_size"]),
        "assumptions": list(card_assumptions(values, assumed)),
    }


def _serving(values: Values, *, tp: int, pp: int) -> Serving:
    return Serving(
        tp=tp,
        pp=pp,
        weight_bytes=WEIGHT_BYTES[values["weights"]],
        kv_bytes=KV_BYTES[values["kv"]],
        precision=Precision(values["precision"]),
        reserve_share=values["reserve_percent"] / 100,
        expert_parallel=values["expert_parallel"],
    )


def _phase(time: PhaseTime) -> Result:
    return {
        "total_s": time.total_s,
        "compute_s": time.compute_s,
        "memory_s": time.memory_s,
        "collectives_s": time.collectives_s,
        "bound_by": time.bound_by,
    }


def _pools(values: Values, model: ModelSpec, system: System, first: Serving, then: Serving) -> Result:
    found = engine.split_pools(
        model,
        system,
        prefill_layout=first,
        decode_layout=then,
        requests_per_s=values["requests_per_s"],
        prompt=values["prompt"],
        output=values["output"],
        batch=values["batch"],
    )
    names = ("prefill_replicas", "decode_replicas", "prefill_cards", "decode_cards", "kv_transfer_s")
    return {name: getattr(found, name) for name in names}


def _sweep(
    model: ModelSpec, system: System, layout: Serving, *, context: int, most: int
) -> list[list[float]]:
    """Batch, seconds per output token, and output tokens per second and card, up to what fits."""
    sizes = [2**power for power in range(17) if 2**power < most]
    rows = []
    for batch in [*sizes, most] if most else []:
        step_s = engine.decode(model, system, layout, context=context, batch=batch).total_s
        rows.append([batch, step_s, batch / step_s / layout.cards])
    return rows


def _large_pool(values: Values, system: System) -> Result:
    params, per_param = values["pool_params_trillion"] * 1e12, WEIGHT_BYTES[values["pool_weights"]]
    pool = engine.weight_pool(
        params, system, bytes_per_param=per_param, reserve_share=values["reserve_percent"] / 100
    )
    return {
        "weights_bytes": pool.weights_bytes,
        "cards_without_reserve": engine.cards_for(pool.weights_bytes, system.capacity_bytes),
        "cards": pool.cards,
        "domains": pool.domains,
        "free_bytes": pool.free_bytes,
    }


STUDY = Study(
    key="inference",
    title=_l("Inference"),
    question=_l("What fits a pool, how many requests at once, and how fast can tokens come at best?"),
    icon="send",
    form=InferenceForm,
    compute=compute,
    show=show,
)
