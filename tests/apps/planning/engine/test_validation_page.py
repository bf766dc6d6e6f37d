"""docs/planning-validation.md says what the engine prints."""

from __future__ import annotations

from pathlib import Path

from apps.planning.engine.estimate import estimate
from scripts import spot_checks
from tests.apps.planning.engine.test_validation import COMPARISONS

ROOT = Path(__file__).parents[4]
PAGE = (ROOT / "docs" / "planning-validation.md").read_text(encoding="utf-8")
IN_ONE_LINE = " ".join(PAGE.split())


def too_fast(part: str) -> str:
    """How much too fast the bf16 runs of gpt-oss with these words in their id are predicted, in whole percent."""
    errors = [-c.error for c in COMPARISONS if "GPTOSS" in c.id and "bf16" in c.id and part in c.id]
    assert len(errors) >= 2
    return f"{100 * min(errors):.0f} to {100 * max(errors):.0f} %"


def test_the_spot_checks_are_what_the_script_prints() -> None:
    printed = list(spot_checks.rows())
    assert len(printed) == 4
    for row in printed:
        assert row in PAGE


def test_spot_checks_that_need_more_memory_than_a_card_has_are_named_so() -> None:
    for check in spot_checks.yaml.safe_load(spot_checks.CHECKS.read_text(encoding="utf-8")):
        assert not estimate(spot_checks.plan_of(check)).memory.fits
    assert "the ledger needs more memory than a card has" in IN_ONE_LINE


def test_the_errors_of_gpt_oss_are_those_of_the_command() -> None:
    said = (
        f"{too_fast('_DGX-GB')} too fast on NVL72, {too_fast('_DGX-H100')} on hosts of 8 H100 "
        f"and {too_fast('_DGX-B200')} on hosts of 8 B200"
    )
    assert said in IN_ONE_LINE
