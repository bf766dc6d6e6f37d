"""What the parts of a plan's document are called by people, and how their values are shown."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext as _now
from django.utils.translation import gettext_lazy as _

from apps.catalogue.words import accelerator_name
from apps.core.speech import listed
from apps.core.units import show_bytes, show_share, with_minus
from apps.planning.engine.search import Objective
from apps.planning.engine.workload import AttentionKernel, Framework

Words = Mapping[str, str | Promise]

MODEL: dict[str, str | Promise] = {
    "name": _("name"),
    "layers": _("layers"),
    "hidden": _("hidden width"),
    "ffn_hidden": _("width of the MLP"),
    "heads": _("attention heads"),
    "kv_heads": _("key and value heads"),
    "head_dim": _("width of a head"),
    "vocab": _("vocabulary"),
    "gated_mlp": _("gated MLP"),
    "tied_embeddings": _("input and output embeddings are one"),
    "biases": _("biases"),
    "learned_positions": _("learned positions"),
    "experts": _("experts"),
    "topk": _("experts per token"),
    "expert_ffn_hidden": _("width of an expert"),
    "shared_expert_ffn_hidden": _("width of shared experts"),
    "dense_layers": _("first layers without experts"),
    "mtp_layers": _("multi-token prediction layers"),
    "attention_window": _("attention window, tokens"),
    "windowed_layers": _("layers with a window"),
    "mla": "MLA",
    "q_lora_rank": _("rank of queries"),
    "kv_lora_rank": _("rank of keys and values"),
    "qk_nope_head_dim": _("width of a head without positions"),
    "qk_rope_head_dim": _("width of a head with positions"),
    "v_head_dim": _("width of a head's values"),
}
SYSTEM: dict[str, str | Promise] = {
    "accelerator": _("accelerator"),
    "accelerators": _("accelerators"),
    "domain_size": _("in one domain"),
    "sub_domain_size": _("in one sub-domain"),
    "convergence_ratio": _("convergence ratio"),
    "scale_up_gb_s": _("scale-up, GB/s one way"),
    "scale_out_gb_s": _("scale-out, GB/s one way"),
    "measured": _("measured"),
    "scale_up_busbw_gb_s": _("bus bandwidth of scale-up, GB/s"),
    "scale_out_busbw_gb_s": _("bus bandwidth of scale-out, GB/s"),
    "compute_scale": _("factor on compute times"),
    "step_scale": _("factor on step times"),
    "source": _("source"),
    "figures": _("the team's own figures"),
    "value": _("value"),
    "confidence": _("confidence"),
}
LAYOUT: dict[str, str | Promise] = {
    "tp": _("tensor (TP)"),
    "pp": _("pipeline (PP)"),
    "vpp": _("virtual stages (VPP)"),
    "dp": _("data (DP)"),
    "cp": _("context (CP)"),
    "ep": _("expert (EP)"),
    "etp": _("tensor of experts"),
    "micro_batch": _("micro-batch"),
    "global_batch": _("global batch"),
    "seq_len": _("sequence length"),
    "recompute": _("recomputation"),
    "sequence_parallel": _("sequence parallel"),
    "zero": "ZeRO",
    "schedule": _("schedule"),
    "placement": _("order of ranks"),
    "precision": _("precision"),
    "framework": _("framework"),
    "gradient_dtype": _("type of gradients"),
    "gradient_compression": _("compression of gradients"),
    "attention": _("attention kernel"),
    "dropout": _("dropout"),
    "fused_cross_entropy": _("fused cross-entropy"),
    "expert_imbalance": _("load of the busiest expert over the mean"),
    "routed_domains": _("domains that a token is sent to at most"),
    "in_network_reduction": _("reduction in the network"),
    "graphs": _("layers captured in graphs"),
    "overlap": _("hidden behind compute"),
    "prices": _("prices"),
    "accelerator_hour": _("accelerator hour"),
    "kwh": "kWh",
    "limits": _("limits"),
    "max_tp": _("TP at most"),
    "max_pp": _("PP at most"),
    "max_vpp": _("VPP at most"),
    "max_cp": _("CP at most"),
    "max_ep": _("EP at most"),
    "max_micro_batch": _("micro-batch at most"),
    "min_accelerators": _("accelerators at least"),
    "reserve_share": _("memory kept free"),
    "objective": _("best means"),
}
ASSUMED: dict[str, str | Promise] = {
    **SYSTEM,
    **LAYOUT,
    "domain_size": _("accelerators in one domain"),
    "overlap_tp": _("tensor-parallel traffic is hidden"),
    "overlap_dp": _("gradients and weights are hidden"),
    "overlap_pp": _("pipeline messages are hidden"),
    "overlap_cp": _("rings of context parallelism are hidden"),
    "overlap_ep": _("all-to-all of experts is hidden"),
    "state_bytes_per_parameter": _("bytes of state per parameter"),
    "attention_flops": _("work of attention, counted"),
    "published_runs": _("published runs of this kind"),
    "capacity_bytes": _("memory of an accelerator"),
    "peak_flops": _("peak of the number format"),
    "flops_per_param_and_token": _("FLOPs per parameter and token"),
    "capital_per_card": _("price of an accelerator"),
    "depreciation": _("depreciation"),
    "utilisation": _("share of time in use"),
    "optimizer_bytes_per_parameter": _("bytes of the optimizer per parameter"),
    "activations": _("activations"),
    "latency": _("latency"),
    "card_w": _("power of an accelerator, W"),
    "overhead_share": _("power of the rest of a node"),
    "feed_load_share": _("load of a feed at most"),
    "cooling.air": _("usual for air, per rack"),
    "cooling.cold_plate": _("usual for cold plates, per rack"),
    "cooling.immersion": _("usual for immersion, per rack"),
    "per_node_week": _("failures of a node per week"),
    "bytes_per_parameter": _("bytes per parameter"),
    "failures": _("how failures come"),
    "seed": _("seed of the random numbers"),
}

OBJECTIVES: dict[str, str | Promise] = {
    Objective.TOKENS_PER_S.value: _("most tokens per second"),
    Objective.MEMORY_HEADROOM.value: _("most free memory"),
    Objective.COST.value: _("lowest cost of a token"),
    Objective.ENERGY.value: _("least energy of a token"),
}
RECOMPUTATIONS: dict[str, str | Promise] = {
    "none": _("none"),
    "selective": _("selective"),
    "full": _("full"),
}
SCHEDULES: dict[str, str | Promise] = {
    "1f1b": "1F1B",
    "interleaved": _("interleaved"),
    "gpipe": "GPipe",
    "zero_bubble": _("zero bubble"),
}
FRAMEWORKS: dict[str, str | Promise] = {
    Framework.MEGATRON.value: "Megatron-LM",
    Framework.DEEPSPEED.value: "DeepSpeed",
    Framework.FSDP.value: "FSDP",
}
_KERNELS: dict[str, str | Promise] = {
    AttentionKernel.FLASH.value: "FlashAttention",
    AttentionKernel.UNFUSED.value: _("not fused"),
}
_VALUES: dict[str, Words] = {
    "objective": OBJECTIVES,
    "recompute": RECOMPUTATIONS,
    "schedule": SCHEDULES,
    "framework": FRAMEWORKS,
    "attention": _KERNELS,
    "gradient_compression": {"none": _("none")},
    "attention_flops": {"full": _("every pair of tokens"), "causal": _("half of the pairs")},
}


def shown_value(name: str, value: Any) -> str | Promise:
    """A value of a document for people. name: its key, which says what the value is."""
    if isinstance(value, bool):
        return _now("yes") if value else _now("no")
    if isinstance(value, list | tuple):
        return listed(shown_value(name, one) for one in value)
    if name == "accelerator":
        return accelerator_name(str(value))
    if isinstance(value, str):
        return _VALUES.get(name, {}).get(value, value)
    if value is None:
        return "—"
    if name.endswith("_bytes"):
        return show_bytes(value)
    if name.endswith("_share"):
        return show_share(value)
    return with_minus(f"{value:,}" if isinstance(value, int) else f"{value:z,.6g}")
