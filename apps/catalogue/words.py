"""Words of the catalogue: what its figures are called, and how far they can be trusted."""

from __future__ import annotations

from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext, gettext_noop
from django.utils.translation import gettext_lazy as _

from apps.catalogue.engine.accelerators import shipped_accelerators
from apps.catalogue.engine.overlays import Confidence, Kind
from apps.catalogue.engine.reference import table

Word = str | Promise

gettext_noop("comes with the portal")  # the source of components, an English text of their rows

CONFIDENCES: dict[str, Word] = {
    Confidence.MEASURED: _("measured by ourselves"),
    Confidence.VENDOR_DOC: _("vendor's documentation"),
    Confidence.VENDOR_SECONDARY: _("vendor, quoted by others"),
    Confidence.THIRD_PARTY: _("third party"),
    Confidence.REPORTED: _("reported"),
    Confidence.RECALLED: _("recalled, not re-read"),
    Confidence.UNKNOWN: _("unknown"),
    "vendor_doc_sibling": _("vendor's documentation of a sibling"),
}
VERSION_TABLE_NAMES: dict[Kind, Word] = {
    Kind.TORCH: "PyTorch",
    Kind.CUDA_MAJOR: _("CUDA major"),
    Kind.TOOLKIT: _("CUDA toolkit"),
    Kind.BRANCH: _("Driver branch"),
}
FIGURES: dict[str, Word] = {
    "name": _("Name"),
    "vendor": _("Vendor"),
    "architecture": _("Architecture"),
    "memory_gb": _("Memory"),
    "memory_bandwidth_gb_s": _("Memory bandwidth"),
    "dense_tflops.fp32": _("FP32, dense"),
    "dense_tflops.bf16": _("BF16, dense"),
    "dense_tflops.fp16": _("FP16, dense"),
    "dense_tflops.fp8": _("FP8, dense"),
    "dense_tflops.int8": _("INT8, dense"),
    "scale_up.kind": _("Scale-up interconnect"),
    "scale_up.unidirectional_gb_s": _("Scale-up, one way"),
    "scale_up.max_domain": _("Largest scale-up domain"),
    "tdp_w": "TDP",
    "accelerator": _("Accelerator"),
    "accelerators": _("Accelerators"),
    "nodes": _("Nodes"),
    "accelerators_per_node": _("Accelerators per node"),
    "sub_domains": _("Sub-domains"),
    "scale_up.switches": _("Scale-up switches"),
    "scale_up.unidirectional_gb_s_per_accelerator": _("Scale-up per accelerator, one way"),
    "scale_up.bisection_share": _("Bisection, share of full"),
    "power.per_rack_kw": _("Power of a rack"),
    "power.system_kw": _("System power"),
    "area": _("Kind"),
    "scheme": _("Version scheme"),
    "branch_depth": _("Numbers that name a branch"),
    "rule": _("Rule"),
    "multiple": _("Several in one node"),
    "read_from": _("Read from"),
    "severity": _("Severity"),
    "packages": _("Packages that hold it"),
    "min_driver": _("Lowest driver"),
    "driver": _("Driver that it came with"),
    "kind": _("Kind"),
    "eol": _("End of life"),
    "is_ended": _("Has ended"),
    "default_cuda": "CUDA",
    "nccl": "NCCL",
    "cudnn": "cuDNN",
    "triton": "Triton",
    "pythons": "Python",
    "cuda_builds": _("CUDA builds"),
}


def figure_label(path: str) -> Word:
    """What a figure is called; a path that has no words as it is."""
    return FIGURES.get(path, path)


def confidence_label(confidence: str) -> Word:
    """How far a figure can be trusted, in words; one that the catalogue does not know as it is."""
    return CONFIDENCES.get(confidence, confidence)


def source_of(kind: str, source_id: str) -> tuple[str, str]:
    """Title and address of a source that a shipped entry cites; the id, and no address, of another one."""
    if kind not in (Kind.ACCELERATOR, Kind.SUPERNODE):
        return gettext(source_id), ""
    sources = table(f"{kind}s")["meta"]["sources"]
    return next(((one["title"], one["url"]) for one in sources if one["id"] == source_id), (source_id, ""))


def accelerator_name(accelerator_id: str) -> str:
    """Vendor and name of an accelerator that comes with the portal; the id of another one."""
    known = shipped_accelerators().get(accelerator_id)
    return full_name(known) if known else accelerator_id


def full_name(entry: Any) -> str:
    """Vendor and name of an entry; the name alone where it begins with the vendor's first word."""
    doubled = entry.name.split()[:1] == entry.vendor.split()[:1]
    return str(entry.name) if doubled else f"{entry.vendor} {entry.name}"
