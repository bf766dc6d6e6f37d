"""Whole numbers in addresses and forms."""

from __future__ import annotations

import pytest

from apps.core.whole_numbers import whole_number


@pytest.mark.parametrize(("text", "number"), [("0", 0), ("007", 7), ("9" * 18, 10**18 - 1)])
def test_digits_are_a_number(text: str, number: int) -> None:
    assert whole_number(text) == number


@pytest.mark.parametrize("text", ["", "-1", " 1", "1.0", "²", "x", "9" * 19, "9" * 5000])
def test_what_no_id_can_be_is_none(text: str) -> None:
    assert whole_number(text) is None
