"""Filters: times with odd offsets."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from django.core.exceptions import ValidationError

from apps.core.filtering import MomentField


def test_a_time_is_given_on_in_utc():
    assert MomentField().clean("2026-11-29T20:00:00+08:00") == datetime(2026, 11, 29, 12, tzinfo=UTC)
    assert MomentField().clean("2026-11-29T20:00:00+21:05").utcoffset().total_seconds() == 0


@pytest.mark.parametrize("text", ["0001-01-01T00:00:00+08:00", "9999-12-31T23:59:59-08:00", "tomorrow"])
def test_a_time_that_cannot_be_is_refused(text):
    with pytest.raises(ValidationError):
        MomentField().clean(text)
