"""The status language covers every verdict, and never shows what it does not know as good."""

from __future__ import annotations

from pathlib import Path

import pytest

from apps.core.status import STATES, Tone, sign_of
from apps.core.verdicts import Verdict

ICONS = Path(__file__).resolve().parents[3] / "static/icons.txt"


@pytest.mark.parametrize("verdict", list(Verdict))
def test_every_verdict_has_a_tone_of_its_own_name(verdict: Verdict) -> None:
    assert sign_of(verdict).tone.value == verdict.value


def test_no_state_at_all_is_unknown() -> None:
    assert sign_of(None).tone is Tone.UNKNOWN


def test_a_state_that_the_language_does_not_know_is_neutral_and_shown_as_words() -> None:
    sign = sign_of("half_way_there")
    assert (sign.tone, sign.word) == (Tone.NEUTRAL, "half way there")


@pytest.mark.parametrize("name", sorted(STATES))
def test_the_icon_of_a_state_is_in_the_sprite(name: str) -> None:
    assert STATES[name].icon in ICONS.read_text().split()


def test_states_that_need_a_look_are_never_in_the_tone_of_pass() -> None:
    for name in ("stale", "unknown_form", "not_evaluated", "unmatched", "drift", "submitted", "pending"):
        assert sign_of(name).tone is not Tone.PASS
