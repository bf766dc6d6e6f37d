"""Figures that the golden file fixes for the fleet."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from apps.fleet.engine.fit import MAX_CONVERGENCE, Purpose
from apps.fleet.engine.parallel import ParallelSizes

GOLDEN: dict[str, Any] = yaml.safe_load(
    (Path(__file__).parents[3] / "golden" / "domain_values.yaml").read_text(encoding="utf-8")
)


def test_the_convergence_limits_are_those_of_acceptance() -> None:
    accepted = GOLDEN["acceptance"]
    assert MAX_CONVERGENCE[Purpose.TRAINING] == accepted["max_convergence_training"]
    assert MAX_CONVERGENCE[Purpose.INFERENCE] == accepted["max_convergence_inference"]


def test_the_world_of_the_rank_sizes_is_theirs() -> None:
    given = GOLDEN["rank_sizes"]
    sizes = ParallelSizes(tp=given["tp"], ep=given["ep"], pp=given["pp"], dp=given["dp"])
    assert sizes.world == given["world"]
    assert sizes.world / given["domain_cards"] == pytest.approx(given["domains"])
