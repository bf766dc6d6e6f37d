"""How quantities are shown: three digits, units that fit, and never a zero with a sign."""

from __future__ import annotations

import pytest
from django.template import Context, Template

from apps.core.templatetags.components import quantity
from apps.core.units import as_typed, show_binary_bytes, show_bytes, show_change, show_seconds, show_share


@pytest.mark.parametrize(
    ("share", "shown"),
    [
        (0.0213, "+2.1 %"),
        (-0.0213, "\N{MINUS SIGN}2.1 %"),
        (0.0004, "0.0 %"),
        (-0.0004, "0.0 %"),
        (-0.0, "0.0 %"),
        (0.1, "+10.0 %"),
    ],
)
def test_a_change_has_a_sign_unless_it_rounds_to_none(share, shown):
    assert show_change(share) == shown


@pytest.mark.parametrize(
    ("figure", "typed"),
    [(24.0, "24"), (0.07 * 100, "7"), (0.8, "0.8"), (-2.0, "-2"), (10_000.0, "10000"), (None, "")],
)
def test_a_figure_is_put_into_a_field_as_people_type_it(figure, typed):
    assert as_typed(figure) == typed


def test_a_change_may_have_more_digits():
    assert show_change(-0.0004, 2) == "\N{MINUS SIGN}0.04 %"


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


@pytest.mark.parametrize(
    ("span_s", "text"),
    [
        (3600, "60 min"),
        (86400, "24 h"),
        (2 * 86400, "2 d"),
        (60.0, "60 s"),
        (0.003, "3 ms"),
        (5400, "90 min"),
        (60.02, "60.0 s"),
        (100_000, "27.8 h"),
        (float("inf"), "inf d"),
    ],
)
def test_a_whole_span_has_no_decimals(span_s, text):
    assert show_seconds(span_s) == text


def test_a_quantity_that_rounds_to_zero_has_no_sign():
    assert ">0.0<" in quantity(-0.04, digits=1)


@pytest.mark.parametrize(
    ("shown", "text"),
    [
        (show_share(-0.05), "\N{MINUS SIGN}5.0 %"),
        (show_bytes(-2e9), "\N{MINUS SIGN}2.00 GB"),
        (show_bytes(-12), "\N{MINUS SIGN}12 B"),
        (show_seconds(-0.25), "\N{MINUS SIGN}250 ms"),
    ],
)
def test_people_read_a_true_minus_sign(shown, text):
    assert shown == text


@pytest.mark.parametrize(("value", "digits"), [(-1234.5, 1), (-1234.5, None)])
def test_a_negative_quantity_has_a_true_minus_sign(value, digits):
    assert ">\N{MINUS SIGN}1,234.5<" in quantity(value, digits=digits)


def test_a_quantity_that_is_a_text_keeps_its_hyphen():
    assert ">-x<" in quantity("-x")


def test_a_template_writes_a_true_minus_sign_before_any_figure():
    shown = Template("{{ value|floatformat:-2|minus }}").render(Context({"value": -2.5}))
    assert shown == "\N{MINUS SIGN}2.50"


def test_what_is_not_known_is_a_question_mark():
    assert [show_share(None), show_bytes(None), show_seconds(None)] == ["?", "?", "?"]


@pytest.mark.parametrize(
    ("size_bytes", "shown"),
    [(512, "512 B"), (1 << 10, "1 KiB"), (3 << 29, "1.5 GiB"), (16 << 30, "16 GiB"), (None, "?")],
)
def test_sizes_of_messages_are_binary(size_bytes, shown):
    assert show_binary_bytes(size_bytes) == shown
