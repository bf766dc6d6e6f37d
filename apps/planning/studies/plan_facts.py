"""What a version of a plan knows that studies ask for, under the names of their fields."""

from __future__ import annotations

from typing import Any

from apps.core.units import GB
from apps.planning.documents import is_search
from apps.planning.engine.json_fields import Fields
from apps.planning.engine.reading_model import read_model
from apps.planning.engine.reading_part import read_part
from apps.planning.models import PlanVersion
from apps.planning.studies.fields import ModelField

CARDS_PER_NODE = 8


def facts_of(version: PlanVersion) -> dict[str, Any]:
    """Values by field name; a study takes those that it has a field for."""
    document, result = version.input, version.result or {}
    system = document["system"]
    asked = document if is_search(document) else document["parallel"]
    cards = int(system["accelerators"])
    facts: dict[str, Any] = {
        "model": ModelField.OF_PLAN,
        "cards": cards,
        "nodes": max(1, cards // CARDS_PER_NODE),
        "domain_cards": system.get("domain_size") or cards,
        **{name: system[name] for name in _SYSTEM if system.get(name)},
        **{name: asked[name] for name in _ASKED if asked.get(name) is not None},
    }
    spec = read_model(Fields(document["model"], ""))
    if spec is not None:
        facts["params_billion"] = round(spec.total_params() / 1e9, 3)
    part, _own = read_part(Fields(system, ""))
    if part is not None and part.tdp_w:
        facts["card_w"] = part.tdp_w
    if part is not None and part.memory_bytes:
        facts["card_memory_gb"] = part.memory_bytes / GB
    best = result["best"][0] if result.get("best") else result
    if "tokens_per_s" in best:
        facts["tokens_per_s"] = round(best["tokens_per_s"], 1)
    return facts


_SYSTEM = ("accelerator", "accelerators", "domain_size", "sub_domain_size", "convergence_ratio")
_SYSTEM += ("scale_up_gb_s", "scale_out_gb_s")
_ASKED = (
    "tp",
    "pp",
    "vpp",
    "dp",
    "cp",
    "ep",
    "micro_batch",
    "global_batch",
    "seq_len",
    "precision",
    "recompute",
)
_ASKED += ("zero",)
