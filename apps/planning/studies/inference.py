"""Inference: what a pool keeps resident, how many requests fit, and the limits of both phases."""

from __future__ import annotations

from collections.abc import Iterator

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _l

from apps.catalogue.engine.models import ModelSpec
from apps.core.units import TB, show_bytes, show_seconds
from apps.planning.engine import inference as engine
from apps.planning.engine.inference import PhaseTime, Serving
from apps.planning.engine.system import System
from apps.planning.engine.workload import Precision
from apps.planning.studies import fields as f
from apps.planning.studies.base import Result, Study, Values
from apps.planning.studies.blocks import (
    Assumptions,
    Block,
    Chart,
    Figure,
    Figures,
    Note,
    Stat,
    Stats,
    Table,
    axes,
    count_shown,
    line,
)
from apps.planning.studies.hardware import (
    HARDWARE_START,
    HardwareFields,
    card_assumptions,
    model_from,
    require_precision,
    system_from,
)

WEIGHT_BYTES = {"bf16": 2.0, "fp8": 1.0, "fp4": 0.5}
KV_BYTES = {"bf16": 2.0, "fp8": 1.0}
BOUND = {"compute": _l("compute"), "memory": _l("memory"), "collectives": _l("latency of collectives")}
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
        (_l("Hardware"), ("accelerator", "domain_size", "scale_up_gb_s", "scale_out_gb_s")),
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
    require_precision(values["accelerator"], values["precision"])
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
        "largest_batch": most,
        "largest_context": engine.largest_context(model, system, decode_layout, batch=batch),
        "balanced_batch": engine.balanced_batch(system, decode_layout),
        "first_token": _phase(engine.prefill(model, system, prefill_layout, prompt=values["prompt"])),
        "output_token": _phase(engine.decode(model, system, decode_layout, context=context, batch=batch)),
        "batch_fits": batch <= most,
        "pools": _pools(values, model, system, prefill_layout, decode_layout) if batch <= most else None,
        "sweep": _sweep(model, system, decode_layout, context=context, most=most),
        "large_pool": _large_pool(values, system),
        "assumptions": list(card_assumptions(values["accelerator"], assumed)),
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


def show(values: Values, result: Result) -> list[Block]:
    """Stats, what binds both phases, the batch over its price, and the pools."""
    first, token = result["first_token"], result["output_token"]
    stats = [
        Stat(label=_("First token, at least"), value=show_seconds(first["total_s"]),
             note=_("bound by %(what)s") % {"what": BOUND[first["bound_by"]]}),
        Stat(label=_("Each further token, at least"), value=show_seconds(token["total_s"]),
             note=_("bound by %(what)s") % {"what": BOUND[token["bound_by"]]}),
        Stat(label=_("Cache of a token"), value=show_bytes(result["kv_bytes_per_token"])),
        Stat(label=_("Largest batch"), value=count_shown(result["largest_batch"]),
             verdict="pass" if result["batch_fits"] else "fail"),
        Stat(label=_("Largest context"), value=count_shown(result["largest_context"]), unit=_("tokens")),
    ]  # fmt: skip
    return [
        Stats(stats=stats),
        *_notes(values, result),
        *_sweep_chart(result["sweep"]),
        _phase_table(first, token),
        *_pool_table(values, result),
        Figures(title=_("How it is computed"), figures=list(_figures(values, result))),
        Assumptions(rows=result["assumptions"]),
    ]


def _notes(values: Values, result: Result) -> Iterator[Note]:
    if result["free_bytes"] < 0:
        text = _("The weights need %(missing)s more than a decode replica may use.")
        said = {"missing": show_bytes(-result["free_bytes"])}
        yield Note(tone="fail", title=_("The weights do not fit a decode replica"), text=text % said)
    elif not result["batch_fits"]:
        said = {"batch": values["batch"], "most": result["largest_batch"]}
        yield Note(tone="fail", title=_("%(batch)s requests do not fit, %(most)s do") % said)
    if result["prefill_free_bytes"] < 0:
        text = _("The weights need %(missing)s more than a prefill replica may use.")
        said = {"missing": show_bytes(-result["prefill_free_bytes"])}
        yield Note(tone="fail", title=_("The weights do not fit a prefill replica"), text=text % said)
    if values["decode_tp"] > values["domain_size"]:
        yield Note(
            tone="warn",
            title=_("A decode replica leaves its domain"),
            text=_("Its collectives cross the network."),
        )


def _sweep_chart(sweep: list[list[float]]) -> Iterator[Chart]:
    if len(sweep) < 2:
        return
    layout = axes(_("requests at once"), _("ms per output token"), log_x=True)
    layout["yaxis2"] = {
        "title": {"text": _("tokens per second and card")},
        "overlaying": "y",
        "side": "right",
    }
    batches = [row[0] for row in sweep]
    rate = line(_("tokens per second and card"), batches, [row[2] for row in sweep], dash="dash") | {
        "yaxis": "y2"
    }
    yield Chart(
        id="sweep",
        title=_("What a larger batch buys"),
        summary=_("A larger batch gives more tokens per card, and each request waits longer for its own."),
        figure={
            "data": [line(_("per output token"), batches, [1e3 * row[1] for row in sweep]), rate],
            "layout": layout,
        },
        columns=[_("Requests"), _("Per output token"), _("Tokens per second and card")],
        rows=[
            [count_shown(batch), show_seconds(step), f"{per_card:,.1f}"] for batch, step, per_card in sweep
        ],
    )


def _phase_table(first: Result, token: Result) -> Table:
    names = {
        "compute_s": _("compute"),
        "memory_s": _("reading weights and cache"),
        "collectives_s": _("collectives"),
        "total_s": _("lower bound"),
    }
    rows = [[word, show_seconds(first[key]), show_seconds(token[key])] for key, word in names.items()]
    return Table(
        title=_("What binds both phases"),
        subtitle=_("Compute and memory run side by side, collectives come on top."),
        columns=["", _("First token"), _("Each further token")],
        rows=rows,
    )


def _pool_table(values: Values, result: Result) -> Iterator[Table]:
    if pools := result["pools"]:
        yield Table(
            title=_("Separate pools for this traffic"),
            columns=["", _("Replicas"), _("Accelerators")],
            rows=[
                [_("prefill"), pools["prefill_replicas"], count_shown(pools["prefill_cards"])],
                [_("decode"), pools["decode_replicas"], count_shown(pools["decode_cards"])],
                [_("moving the cache of a prompt"), show_seconds(pools["kv_transfer_s"]), ""],
            ],
            icon="sitemap",
        )
    pool = result["large_pool"]
    said = {"params": f"{values['pool_params_trillion']:g}"}
    yield Table(
        title=_("A pool for %(params)s trillion parameters") % said,
        columns=["", _("Value")],
        rows=[
            [_("weights"), f"{pool['weights_bytes'] / TB:,.4g} TB"],
            [_("accelerators without any reserve"), count_shown(pool["cards_without_reserve"])],
            [_("accelerators in whole domains, with reserve"), count_shown(pool["cards"])],
            [_("domains"), count_shown(pool["domains"])],
            [_("left for the cache"), show_bytes(pool["free_bytes"])],
        ],
        icon="database",
    )


def _figures(values: Values, result: Result) -> Iterator[Figure]:
    token, request = result["kv_bytes_per_token"], result["kv_bytes_per_request"]
    yield Figure(key="inference.weights", name=_("Weights"), value=show_bytes(result["weights_bytes"]))
    yield Figure(key="inference.kv_token", name=_("Cache of a token"), value=show_bytes(token))
    yield Figure(key="inference.kv_request", name=_("Cache of a request"), value=show_bytes(request))
    yield Figure(key="inference.batch", name=_("Largest batch"), value=count_shown(result["largest_batch"]))
    first, each = result["first_token"]["total_s"], result["output_token"]["total_s"]
    yield Figure(key="inference.first_token", name=_("First token"), value=show_seconds(first))
    yield Figure(key="inference.output_token", name=_("Each further token"), value=show_seconds(each))
    balanced = count_shown(result["balanced_batch"])
    yield Figure(key="inference.balanced", name=_("Compute meets memory at a batch of"), value=balanced)
    pool = count_shown(result["large_pool"]["cards_without_reserve"])
    yield Figure(key="inference.pool", name=_("Accelerators that hold the large model"), value=pool)


STUDY = Study(
    key="inference",
    title=_l("Inference"),
    question=_l("What fits a pool, how many requests at once, and how fast can tokens come at best?"),
    icon="send",
    form=InferenceForm,
    compute=compute,
    show=show,
)
