"""Print predictions beside published headlines whose layout is only partly stated, as docs/planning-validation.md does.

All inputs are in apps/planning/data/spot_checks.yaml. Usage: python scripts/spot_checks.py
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from apps.catalogue.engine.model_catalogue import model_named  # noqa: E402
from apps.catalogue.engine.models import AttentionFlops  # noqa: E402
from apps.planning.documents import model_document  # noqa: E402
from apps.planning.engine.estimate import PlanInput, estimate  # noqa: E402
from apps.planning.engine.reading import read_plan  # noqa: E402

CHECKS = ROOT / "apps" / "planning" / "data" / "spot_checks.yaml"


def plan_of(check: Mapping[str, Any]) -> PlanInput:
    """The plan of a headline: what its source gives, and what is assumed."""
    model = model_document(model_named(check["model"]).spec)
    parallel = check["given"] | check["assumed"]
    return read_plan({"model": model, "system": check["system"], "parallel": parallel})


def measured_s(check: Mapping[str, Any], plan: PlanInput) -> float:
    """Seconds of a step that the headline means: from TFLOP/s of a card, or from card hours for all tokens."""
    measured, cards = check["measured"], check["system"]["accelerators"]
    sequences, seq_len = check["given"]["global_batch"], check["given"]["seq_len"]
    if "card_hours" in measured:
        return float(measured["card_hours"] * 3600 / cards * sequences * seq_len / measured["tokens"])
    flops = plan.model.model_flops(
        sequences=sequences, seq_len=seq_len, convention=AttentionFlops(measured["attention"])
    )
    return float(flops / cards / (measured["tflops"] * 1e12))


def rows() -> Iterator[str]:
    """One line of a Markdown table for each headline: measured and predicted seconds, error, memory of a card."""
    for check in yaml.safe_load(CHECKS.read_text(encoding="utf-8")):
        plan = plan_of(check)
        found, measured = estimate(plan), measured_s(check, plan)
        error = f"{100 * (found.iteration_time_s / measured - 1):+.1f} %".replace("-", "−")
        memory = f"{found.memory.peak_bytes / 1e9:.0f} GB"
        step = f"{measured:.2f} s | {found.iteration_time_s:.2f} s"
        yield f"| {check['run']} | {step} | {error} | {memory} |"


if __name__ == "__main__":
    for row in rows():
        print(row)
