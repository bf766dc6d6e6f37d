"""A reason is a text that can be read."""

from __future__ import annotations

import pytest

from apps.core.errors import Invalid
from apps.core.reasons import require_reason


@pytest.mark.parametrize(
    "text", ["", " \n", "\u200b", "\u202e\u2066 \u200d", "\u3000\ufeff", "\x01", "x" * 4001]
)
def test_a_text_that_nobody_can_read_is_no_reason(text: str) -> None:
    with pytest.raises(Invalid) as refused:
        require_reason(text, pointer="/note")
    assert [error.pointer for error in refused.value.errors] == ["/note"]


@pytest.mark.parametrize("text", ["x", " 换卡 ", "\u200bseen", "👍", "x" * 4000])
def test_a_text_that_shows_something_is_a_reason(text: str) -> None:
    assert require_reason(text) == text.strip()
