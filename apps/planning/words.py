"""Words of plans for people: parts of memory and of a step, reasons of rejection, what a search lists."""

from __future__ import annotations

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

MEMORY: dict[str, str | Promise] = {
    "weights_bytes": _("weights"),
    "gradients_bytes": _("gradients"),
    "optimizer_bytes": _("optimizer"),
    "activations_bytes": _("activations"),
    "logits_bytes": _("logits"),
    "buffers_bytes": _("buffers"),
}
TIME: dict[str, str | Promise] = {
    "compute_s": _("compute"),
    "tp_s": _("tensor parallel"),
    "cp_s": _("context parallel"),
    "ep_s": _("expert parallel"),
    "pp_s": _("pipeline messages"),
    "dp_s": _("data parallel"),
    "bubble_s": _("pipeline bubble"),
    "optimizer_s": _("optimizer"),
    "other_s": _("other"),
}
FOUND_NAMES: dict[str, str | Promise] = {
    "accelerators": _("Accelerators"),
    "tp": "TP",
    "pp": "PP",
    "vpp": "VPP",
    "dp": "DP",
    "cp": "CP",
    "ep": "EP",
    "micro_batch": _("Micro-batch"),
    "zero": "ZeRO",
    "recompute": _("Recomputation"),
    "schedule": _("Pipeline schedule"),
    "placement": _("Order of ranks"),
}
SWINGS: dict[str, str | Promise] = {
    "scale_up_bandwidth": _("scale-up bandwidth"),
    "scale_out_bandwidth": _("network bandwidth"),
    "matrix_efficiency": _("efficiency of matrix products"),
    "memory_bandwidth": _("memory bandwidth"),
    "launch_time": _("launch time of kernels"),
}
REJECTED: dict[str, str | Promise] = {
    "out_of_memory": _("the fullest accelerator has too little memory"),
    "batch_not_divisible": _("the global batch must be a multiple of micro-batch × DP"),
}
BOTTLENECKS: dict[str, str | Promise] = {
    "compute": _("compute"),
    "tensor_parallel": _("tensor parallel"),
    "context_parallel": _("context parallel"),
    "expert_parallel": _("expert parallel"),
    "pipeline_traffic": _("pipeline messages"),
    "data_parallel": _("data parallel"),
    "pipeline_bubble": _("pipeline bubble"),
    "optimizer": _("optimizer"),
}
