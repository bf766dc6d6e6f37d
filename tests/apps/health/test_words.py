"""Words of health: every code that an engine gives has one."""

from __future__ import annotations

from apps.health import words
from apps.health.engine.actions import ActionClass
from apps.health.engine.quarantine import HeldBack, Step
from apps.health.engine.thresholds import Direction, built_in_rules


def test_every_code_has_a_word() -> None:
    for codes, named in (
        (ActionClass, words.ACTION_CLASSES),
        (Step, words.STEPS),
        (HeldBack, words.HELD_BACK),
        (Direction, words.DIRECTIONS),
    ):
        assert {code.value for code in codes} == set(named)


def test_rules_are_called_what_their_data_says() -> None:
    for rule in built_in_rules():
        assert (str(words.rule_title(rule.id)), str(words.rule_why(rule))) == (rule.title, rule.why)


def test_reasons_are_read_aloud() -> None:
    said = [str(words.reason_text(code)) for code in ("xid:79", "sxid:12028", "rule:port-down")]

    assert said == ["Xid 79", "SXid 12028", "Network port not active"]
