"""Golden limits of memory, and that no key of the golden file is left without a test."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import yaml

from apps.planning.engine.estimate import estimate
from apps.planning.engine.memory import fits
from apps.planning.engine.reading import read_plan
from apps.planning.engine.warnings import TIGHT_SHARE
from tests.apps.planning.engine.plans import GPT3_175B

TESTS = Path(__file__).parents[3]
GOLDEN: dict[str, Any] = yaml.safe_load((TESTS / "golden" / "domain_values.yaml").read_text("utf-8"))


def test_a_tenth_of_the_memory_stays_free_unless_said_otherwise() -> None:
    least = GOLDEN["memory_reserve"]["min_share"]
    assert estimate(read_plan(GPT3_175B)).memory.reserve_share == least
    assert fits(80e9 * (1 - least), 80e9, least) and not fits(80e9 * (1 - least) + 1, 80e9, least)


def test_a_plan_warns_where_less_than_a_twentieth_is_free() -> None:
    assert GOLDEN["memory_reserve"]["warn_above"] == TIGHT_SHARE


def test_every_golden_key_is_looked_at_by_a_test() -> None:
    texts = "\n".join(path.read_text("utf-8") for path in TESTS.rglob("test_*.py"))
    missing = [key for key in GOLDEN if not re.search(rf"GOLDEN\[\"{key}\"\]", texts)]
    assert missing == []
