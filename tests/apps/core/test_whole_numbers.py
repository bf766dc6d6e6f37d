"""Whole numbers in addresses and forms."""

from __future__ import annotations

import pytest
from rest_framework.request import Request
from rest_framework.test import APIRequestFactory

from apps.core.api import version_seen
from apps.core.errors import Invalid
from apps.core.whole_numbers import whole_number


@pytest.mark.parametrize(("text", "number"), [("0", 0), ("007", 7), ("9" * 18, 10**18 - 1)])
def test_digits_are_a_number(text: str, number: int) -> None:
    assert whole_number(text) == number


@pytest.mark.parametrize("text", ["", "-1", " 1", "1.0", "²", "x", "9" * 19, "9" * 5000])
def test_what_no_id_can_be_is_none(text: str) -> None:
    assert whole_number(text) is None


@pytest.mark.parametrize("etag", ['"v' + "9" * 6000 + '"', '"v9999999999999999999"', "*", '"v"', "v3"])
def test_an_etag_that_no_version_has_is_refused(etag: str) -> None:
    request = APIRequestFactory().put("/", headers={"If-Match": etag})
    with pytest.raises(Invalid) as refused:
        version_seen(Request(request))
    assert refused.value.code == "if_match"


@pytest.mark.parametrize("etag", ['"v3"', 'W/"v3"', ' "v3" '])
def test_an_etag_says_the_version_seen(etag: str) -> None:
    assert version_seen(Request(APIRequestFactory().put("/", headers={"If-Match": etag}))) == 3
