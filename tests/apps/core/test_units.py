"""How quantities are shown: three digits, units that fit, and never a zero with a sign."""

from __future__ import annotations

import pytest

from apps.core.templatetags.components import quantity
from apps.core.units import show_bytes, show_change, show_seconds, show_share


@pytest.mark.parametrize(
    ("share", "shown"),
    [
        (0.0213, "+2.1 %"),
        (-0.0213, "-2.1 %"),
        (0.0004, "0.0 %"),
        (-0.0004, "0.0 %"),
        (-0.0, "0.0 %"),
        (0.1, "+10.0 %"),
    ],
)
def test_a_change_has_a_sign_unless_it_rounds_to_none(share, shown):
    assert show_change(share) == shown


def test_a_change_may_have_more_digits():
    assert show_change(-0.0004, 2) == "-0.04 %"


@pytest.mark.parametrize(
    ("shown", "text"),
    [
        (show_share(-0.0001), "0.0 %"),
        (show_bytes(-0.2), "0 B"),
        (show_seconds(-1e-9), "0.00 µs"),
        (show_seconds(-0.0), "0 s"),
    ],
)
def test_what_rounds_to_zero_is_never_minus_zero(shown, text):
    assert shown == text


def test_a_quantity_that_rounds_to_zero_has_no_sign():
    assert ">0.0<" in quantity(-0.04, digits=1)


def test_what_is_not_known_is_a_question_mark():
    assert [show_share(None), show_bytes(None), show_seconds(None)] == ["?", "?", "?"]
