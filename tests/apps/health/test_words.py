"""Words of health: every code that an engine gives has one."""

from __future__ import annotations

from apps.catalogue.engine.fault_codes import xid_codes
from apps.health import words
from apps.health.engine.actions import ActionClass, class_of
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


def test_what_is_to_be_done_does_not_say_otherwise_than_the_text_of_the_code() -> None:
    def said(code: int) -> str:
        action = xid_codes()[code].action
        return str(words.action_word(action, class_of(action).value))

    assert said(79).startswith("power cycle")  # its text: rather than a warm reboot
    assert said(45) == "look at the Xid that it follows from"
    assert said(78).startswith("bring driver or firmware")  # host and guest driver must match
    assert said(74).startswith("find the link")  # decode the registers: which link
    assert said(48) == "drain and reset the GPU"


def test_rules_are_called_what_their_data_says() -> None:
    for rule in built_in_rules():
        assert (str(words.rule_title(rule.id)), str(words.rule_why(rule))) == (rule.title, rule.why)


def test_reasons_are_read_aloud() -> None:
    said = [str(words.reason_text(code)) for code in ("xid:79", "sxid:12028", "rule:port-down")]

    assert said == ["Xid 79", "SXid 12028", "Network port not active"]
